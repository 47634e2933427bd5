// A tensor map of CUDA as the emulator has it: what the emulated driver's cuTensorMapEncodeTiled writes
// to the 128 bytes, and copies read. A real one's bits are nobody's business.
#ifndef EMULATOR_TENSOR_H
#define EMULATOR_TENSOR_H
#include <stdint.h>

#define EMU_TENSOR_MAP 0x70616d726f736e74ull  // its first bytes are "tnsormap"

typedef struct {
  uint64_t magic;
  uint64_t at;         // of the first element
  uint64_t columns, rows;
  uint64_t row_bytes;  // from a row to the next
  uint32_t box_columns, box_rows;
  uint32_t element_bytes;
  uint32_t swizzle;    // rows of 16 << swizzle bytes; 0 for none
  uint32_t emulated;   // two dimensions, zeros outside, nothing interleaved, no element left out
  uint32_t promotion;  // of no account here; tests look at it
  uint32_t rest[16];
} EmuTensorMap;

#endif
