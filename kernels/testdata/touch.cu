// Writes each byte of `x` over itself: the launch before one that starts early.
extern "C" __global__ void touch(volatile unsigned char* x, long long bytes) {
  for (long long i = threadIdx.x; i < bytes; i += blockDim.x) x[i] = x[i];
}
