/* The encoders as functions of a library, for the tests. */
#include "../encoders.h"

unsigned long long test_operand_descriptor(unsigned stage, int slab) {
  return operand_descriptor(stage, slab);
}
int test_operand_offset(int row, int chunk) { return operand_offset(row, chunk); }
unsigned long long test_scale_descriptor(unsigned address) { return scale_descriptor(address); }
unsigned test_instruction_descriptor(int rows, int cols) {
  return instruction_descriptor(rows, cols);
}
unsigned test_tensor_address(unsigned base, int lane, int column) {
  return tensor_address(base, lane, column);
}
int test_stage_bytes(int maxn, int group) { return stage_bytes(maxn, group); }
int test_weight_scales_offset(int maxn, int group, int slab) { return weight_scales_offset(maxn, group, slab); }
int test_token_scales_offset(int maxn, int group, int atom, int slab) {
  return token_scales_offset(maxn, group, atom, slab);
}
int test_full_offset(int maxn, int group, int stages, int index) { return full_offset(maxn, group, stages, index); }
int test_empty_offset(int maxn, int group, int stages, int index) { return empty_offset(maxn, group, stages, index); }
int test_shared_bytes(int maxn, int group, int stages) { return shared_bytes(maxn, group, stages); }
int test_weight_scales_column(int maxn, int index, int slab) {
  return weight_scales_column(maxn, index, slab);
}
int test_token_scales_column(int maxn, int index, int slab, int atom) {
  return token_scales_column(maxn, index, slab, atom);
}
int test_token_shift(int token) { return token_shift(token); }
int test_tensor_columns(int maxn, int stages) { return tensor_columns(maxn, stages); }
int test_ring_index(int step, int stages) { return ring_index(step, stages); }
int test_full_parity(int step, int stages) { return full_parity(step, stages); }
int test_empty_parity(int step, int stages) { return empty_parity(step, stages); }
