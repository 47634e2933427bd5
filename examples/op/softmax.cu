// Each row of Y[m, n] is the softmax of that row of X, in fp32. A block of THREADS has a row; it
// reads the row twice, the second time from the cache.
__device__ float of_block(float x, bool is_sum) {
  __shared__ float parts[THREADS];
  parts[threadIdx.x] = x;
  __syncthreads();
  for (int apart = THREADS / 2; apart > 0; apart /= 2) {
    if (threadIdx.x < apart) {
      const float a = parts[threadIdx.x], b = parts[threadIdx.x + apart];
      parts[threadIdx.x] = is_sum ? a + b : fmaxf(a, b);
    }
    __syncthreads();
  }
  const float all = parts[0];
  // All have read it before the next call writes.
  __syncthreads();
  return all;
}

extern "C" __global__ void softmax(const float *X, float *Y, int m, int n) {
  const float *x = X + (long)blockIdx.x * n;
  float *y = Y + (long)blockIdx.x * n, most = x[0], sum = 0;
  for (int j = threadIdx.x; j < n; j += THREADS) most = fmaxf(most, x[j]);
  most = of_block(most, false);
  for (int j = threadIdx.x; j < n; j += THREADS) sum += expf(x[j] - most);
  sum = of_block(sum, true);
  for (int j = threadIdx.x; j < n; j += THREADS) y[j] = expf(x[j] - most) / sum;
}
