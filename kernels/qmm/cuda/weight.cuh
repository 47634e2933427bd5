// Stored weights, for CUDA: where they lie, and what each stands for.
#ifndef MNKBENCH_QMM_WEIGHT
#define MNKBENCH_QMM_WEIGHT

#include "../../../bench/formats/formats.h"
#include "../../matmul/cuda/tile/element.cuh"

// T: the type of affine scales and biases.
template <class T>
struct Weights {
  const unsigned* w;
  const void *scales, *biases;  // biases are read in affine mode only
  long long cols;               // weights of a row
  int mode, bits, group;

  // Of group `g`, counted from the start of all rows.
  __device__ float scale(long long g) const {
    return mode == AFFINE ? widen(((const T*)scales)[g])
                          : decode_scale(mode, ((const unsigned char*)scales)[g]);
  }
  __device__ float bias(long long g) const {
    return mode == AFFINE ? widen(((const T*)biases)[g]) : 0;
  }
  // Weight `i`, counted likewise: right by inspection, not fast.
  __device__ float at(long long i) const {
    return decode_code(mode, code_at(w, bits, i), scale(i / group), bias(i / group));
  }
};

#endif
