// y[i] = a * x[i] + add, for i below n
void affine(float *y, const float *x, float a, long long n, int add) {
  for (long long i = 0; i < n; i++) y[i] = a * x[i] + add;
}
