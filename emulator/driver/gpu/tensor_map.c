// The emulated driver's tensor maps, which the lane emulator reads. What is refused is what cuda.h of
// CUDA 13.0 says at cuTensorMapEncodeTiled.
#include "../../device/tensor.h"
#include "driver.h"

#if !defined(OLD_DRIVER) && !defined(HIP)
// By CUtensorMapDataType; packed types of less than a byte are not known here.
static const unsigned element_bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
enum { TYPES = sizeof element_bytes / sizeof *element_bytes };
static int is_float(unsigned type) { return type >= 6; }

// Swizzles beyond 128B (3) have larger chunks within 128 bytes.
static unsigned span_of(unsigned swizzle) { return swizzle > 3 ? 128 : 16u << swizzle; }

int cuTensorMapEncodeTiled(void *map, unsigned type, unsigned rank, u64 at, const u64 *dims, const u64 *strides,
                           const unsigned *box, const unsigned *steps, unsigned interleave, unsigned swizzle,
                           unsigned promotion, unsigned fill) {
  ENTER;
  if (!map || (u64)map % 64 || !dims || !box || !steps || (rank > 1 && !strides)) return INVALID_VALUE;
  if (type >= TYPES || rank < 1 || rank > 5 || interleave > 2 || swizzle > 6 || promotion > 3 || fill > 1) return INVALID_VALUE;
  if ((interleave && rank < 3) || (interleave == 2 && swizzle != 1) || (fill && !is_float(type))) return INVALID_VALUE;
  const unsigned align = interleave == 2 ? 32 : 16;
  if (!at || at % align) return INVALID_VALUE;
  int dense = 1;
  for (unsigned i = 0; i < rank; i++) {
    if (dims[i] < 1 || dims[i] > 1ull << 32 || box[i] < 1 || box[i] > 256) return INVALID_VALUE;
    // The first is ignored where nothing is interleaved.
    if ((i || interleave) && (steps[i] < 1 || steps[i] > 8)) return INVALID_VALUE;
    dense &= steps[i] == 1;
  }
  for (unsigned i = 0; i + 1 < rank; i++)
    if (strides[i] % align || strides[i] >= 1ull << 40) return INVALID_VALUE;
  const unsigned bytes = element_bytes[type], row = box[0] * bytes;
  if (!interleave && (row % 16 || (swizzle && row > span_of(swizzle)))) return INVALID_VALUE;
  EmuTensorMap m = {EMU_TENSOR_MAP, at, dims[0]};
  m.element_bytes = bytes, m.swizzle = swizzle, m.promotion = promotion, m.box_columns = box[0];
  if (rank == 2) m.rows = dims[1], m.row_bytes = strides[0], m.box_rows = box[1];
  m.emulated = rank == 2 && dense && !interleave && !fill && swizzle <= 3;
  memcpy(map, &m, sizeof m);
  return 0;
}
#endif
