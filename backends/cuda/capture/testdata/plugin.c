/* A library that is linked to cuBLAS and loaded with RTLD_LOCAL, as Python loads PyTorch. */
int cublasSgemm_v2(void *, int, int, int, int, int, const void *, const void *, int, const void *,
                   int, const void *, void *, int);

int plugin_run(int calls) {
  const float one = 1, zero = 0;
  int status = 0;
  while (calls-- > 0) {
    status |= cublasSgemm_v2(0, 0, 0, 7, 6, 5, &one, 0, 7, 0, 5, &zero, 0, 7);
  }
  return status;
}
