/* Weights to and from their stored form, bit for bit as bench/formats does it. */
#include "weight.h"

/* Rounded to nearest even; NaN, whatever its sign, to the code that the host writes. */
static void put(char *to, int type, float x) {
  store_float(to, type, x);
  if (x != x) *(uint16_t *)to = type == BF16 ? 0x7fc0 : 0x7e00;
}

/* `to[rows, cols]`: what stored weights stand for, in fp32 and then rounded to `type`. */
void dequantise(const unsigned *w, const char *scales, const char *biases, char *to, int rows,
                int cols, int mode, int bits, int group, int type) {
  const Weights weights = {w, scales, biases, cols, mode, bits, group, type};
  for (long row = 0; row < rows; row++)
    for (long col = 0; col < cols; col++)
      put(to + 2 * (row * cols + col), type, weight_at(&weights, row, col));
}

/* The inverse: `from` has `type` and whole groups a row. */
void quantise(const char *from, unsigned *w, char *scales, char *biases, int rows, int cols,
              int mode, int bits, int group, int type) {
  const long groups = (long)rows * cols / group;
  const int words = group * bits / 32;
  for (long g = 0; g < groups; g++) {
    float values[MAX_GROUP], scale, bias;
    for (int i = 0; i < group; i++) values[i] = load_float(from + 2 * (g * group + i), type);
    memset(w + g * words, 0, 4 * (size_t)words);
    if (mode == AFFINE) {
      quantise_affine(values, bits, group, w + g * words, &scale, &bias);
      put(scales + 2 * g, type, scale);
      put(biases + 2 * g, type, bias);
    } else scales[g] = (char)quantise_microscale(values, mode, group, w + g * words);
  }
}
