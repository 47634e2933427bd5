/* Stored weights, for the C kernels of the CPU: where they lie, and what each stands for. */
#ifndef WEIGHT_H
#define WEIGHT_H

#include "../../../bench/formats/formats.h"
#include "../../matmul/cpu/element.h"

typedef struct {
  const unsigned *w;
  const char *scales, *biases; /* biases are read in affine mode only */
  long cols;                   /* weights of a row */
  int mode, bits, group, type; /* type: of affine scales and biases, as in element.h */
} Weights;

/* Scale and bias of group `g`, counted from the start of all rows. */
static inline float scale_of(const Weights *w, long g) {
  return w->mode == AFFINE ? load_float(w->scales + 2 * g, w->type)
                           : decode_scale(w->mode, (unsigned char)w->scales[g]);
}

static inline float bias_of(const Weights *w, long g) {
  return w->mode == AFFINE ? load_float(w->biases + 2 * g, w->type) : 0;
}

/* The weight at (row, col) of what is stored: right by inspection, not fast. */
static inline float weight_at(const Weights *w, long row, long col) {
  const long i = row * w->cols + col, g = i / w->group;
  return decode_code(w->mode, code_at(w->w, w->bits, i), scale_of(w, g), bias_of(w, g));
}

#endif
