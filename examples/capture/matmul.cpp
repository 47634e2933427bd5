// Calls cuBLASLt and cuBLAS without PyTorch, then the same from a CUDA graph: a program to capture.
//
//     nvcc -o matmul matmul.cpp -lcublasLt -lcublas
//     mnkbench capture -- ./matmul
//
// It makes 100 + 1 calls of cublasLtMatmul (16x512x256, bf16, nt, bias and ReLU), 100 + 1 of
// cublasGemmEx (32x128x64, bf16, nn), and replays a graph of one of each 50 times. One of each is a
// warm-up.
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                 \
  do {                                                              \
    const int status = static_cast<int>(call);                      \
    if (status != 0) {                                              \
      std::fprintf(stderr, "%s failed: %d\n", #call, status);       \
      std::exit(1);                                                 \
    }                                                               \
  } while (0)

namespace {

const int kCalls = 100, kReplays = 50;
const float kOne = 1, kZero = 0;

struct Linear {
  cublasLtHandle_t handle;
  cublasLtMatmulDesc_t desc;
  cublasLtMatrixLayout_t w, x, y;
  void *memory;

  // y[16, 512] = relu(x[16, 256] w[512, 256]' + bias), each by rows.
  explicit Linear(void *device) : memory(device) {
    CHECK(cublasLtCreate(&handle));
    CHECK(cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    const cublasOperation_t trans = CUBLAS_OP_T;
    const cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_RELU_BIAS;
    CHECK(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSA, &trans, sizeof trans));
    CHECK(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue,
                                         sizeof epilogue));
    CHECK(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &memory,
                                         sizeof memory));
    CHECK(cublasLtMatrixLayoutCreate(&w, CUDA_R_16BF, 256, 512, 256));
    CHECK(cublasLtMatrixLayoutCreate(&x, CUDA_R_16BF, 256, 16, 256));
    CHECK(cublasLtMatrixLayoutCreate(&y, CUDA_R_16BF, 512, 16, 512));
  }

  void operator()(cudaStream_t stream) const {
    char *at = static_cast<char *>(memory);
    CHECK(cublasLtMatmul(handle, desc, &kOne, at, w, at + (1 << 20), x, &kZero, at + (2 << 20), y,
                         at + (2 << 20), y, nullptr, nullptr, 0, stream));
  }
};

void gemm(cublasHandle_t handle, void *memory) {
  char *at = static_cast<char *>(memory);
  CHECK(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 128, 32, 64, &kOne, at, CUDA_R_16BF, 128,
                     at + (1 << 20), CUDA_R_16BF, 64, &kZero, at + (2 << 20), CUDA_R_16BF, 128,
                     CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
}

}  // namespace

int main() {
  void *memory, *workspace;
  const size_t bytes = 32 << 20;
  CHECK(cudaMalloc(&memory, 4 << 20));
  CHECK(cudaMemset(memory, 0, 4 << 20));
  CHECK(cudaMalloc(&workspace, bytes));
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  cublasHandle_t handle;
  CHECK(cublasCreate(&handle));
  CHECK(cublasSetStream(handle, stream));
  CHECK(cublasSetWorkspace(handle, workspace, bytes));
  const Linear linear(memory);
  linear(stream);
  gemm(handle, memory);
  for (int i = 0; i < kCalls; i++) {
    linear(stream);
    gemm(handle, memory);
  }
  CHECK(cudaStreamSynchronize(stream));
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  linear(stream);
  gemm(handle, memory);
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < kReplays; i++) CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  std::puts("done");
  return 0;
}
