/* The functions of formats.h over arrays, for its test. */
#include "../formats.h"

enum { E2M1, E4M3, E8M0 }; /* as the test numbers them */

void encode_all(const float *x, unsigned char *codes, int count, int which) {
  for (int i = 0; i < count; i++)
    codes[i] = (unsigned char)(which == E2M1   ? encode_e2m1(x[i])
                               : which == E4M3 ? encode_e4m3(x[i])
                               : encode_e8m0(x[i]));
}

/* The values of all codes. */
void decode_all(float *x, int which) {
  for (int i = 0; i < (which == E2M1 ? 16 : 256); i++)
    x[i] = which == E2M1 ? decode_e2m1(i) : which == E4M3 ? decode_e4m3(i) : decode_e8m0(i);
}

void blocked_offsets(long long *offsets, int rows, int cols) {
  for (int i = 0; i < rows * cols; i++) offsets[i] = blocked_offset(i / cols, i % cols, cols);
}
