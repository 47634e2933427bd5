/* Calls each shape of an export of matmul in a row, each call on what the one before it wrote:

     chain KERNELS

   PROGRAM is the path of the export's test_matmul.c, whose functions it takes. A shape has N = K. */
#define main test_main
#include PROGRAM
#undef main

enum { CALLS = 4 };

static void send(const Matrix *of) {
  demand(cuda.upload((uint64_t)(uintptr_t)of->device, of->host, of->bytes, stream), "upload");
}

/* Weights that move each column of A by one, so that all results are exact. */
static Matrix moving(const mnk_matmul_args *args) {
  const int nt = args->layout == MNK_MATMUL_LAYOUT_NT;
  const int64_t n = args->n;
  Matrix b = matrix(n, n, args->ldb, args->type_b, 0);
  for (int64_t to = 0; to < n; to++)
    for (int64_t from = 0; from < n; from++) {
      const int64_t at = nt ? to * args->ldb + from : from * args->ldb + to;
      store(b.host + at * bytes_of(args->type_b), args->type_b, from == (to + 1) % n);
    }
  send(&b);
  return b;
}

static void test_chain(const mnk_context *context, mnk_matmul_args args) {
  const int type = args.type;
  const int64_t m = args.m, n = args.n, ld = args.lda;
  Matrix a = matrix(m, n, ld, type, 1), c = matrix(m, n, ld, type, 0), b = moving(&args);
  void *two[] = {a.device, c.device};
  int wrong = 0;
  args.b = b.device;
  expect(mnk_matmul_workspace(&args, &args.workspace_bytes), MNK_OK, "the size of the workspace");
  args.workspace = args.workspace_bytes ? room(args.workspace_bytes) : NULL;
  demand(cuda.wait(stream), "the operands");
  for (int call = 0; call < CALLS; call++) {
    args.a = two[call % 2], args.c = two[1 - call % 2];
    expect(mnk_matmul(context, &args, stream), MNK_OK, "a call");
  }
  demand(cuda.download(c.host, (uint64_t)(uintptr_t)two[CALLS % 2], c.bytes, stream), "download");
  demand(cuda.wait(stream), "the calls");
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < n; j++)
      wrong += stored(c.host + (i * ld + j) * bytes_of(type), type) !=
               stored(a.host + (i * ld + (j + CALLS) % n) * bytes_of(type), type);
  printf("%s m=%lld: %d wrong\n", wrong ? "FAIL" : "ok  ", (long long)m, wrong);
  failures += wrong != 0;
  give_back(args.workspace);
  drop(&a), drop(&b), drop(&c);
}

int main(int count, char **words) {
  mnk_context *context;
  mnk_matmul_args args;
  int64_t to;
  open_cuda();
  demand(count != 2 || mnk_matmul_open(&context, words[1]), "open");
  for (int row = 0; mnk_matmul_shape(row, &args, &to); row++) test_chain(context, args);
  mnk_close(context);
  printf("%d failures\n", failures);
  return failures != 0;
}
