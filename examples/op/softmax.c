#include <math.h>

// Each row of Y[m, n] is the softmax of that row of X, in fp32: exp(x - max) / sum.
void softmax(const float *X, float *Y, int m, int n) {
  for (int i = 0; i < m; i++) {
    const float *x = X + (long)i * n;
    float *y = Y + (long)i * n, most = x[0], sum = 0;
    for (int j = 1; j < n; j++) most = fmaxf(most, x[j]);
    for (int j = 0; j < n; j++) sum += y[j] = expf(x[j] - most);
    for (int j = 0; j < n; j++) y[j] /= sum;
  }
}
