// blackwell.cu, unchanged, on the model of its instructions: a block after the other.
//
// Reads the numbers of problems and of tiles, whether M-major, then m, n, k and the bytes of A, SFA,
// B, SFB for each problem, then the tiles; writes C of each problem. Ends with 3 at a mistake.
#define MODEL
#include "model.h"
#include "../blackwell.cu"

alignas(1024) unsigned char memory[232448];

// `bytes` bytes for one operand, and what was not given is NaN.
static unsigned char* operand(size_t bytes, bool given) {
  auto* at = (unsigned char*)aligned_alloc(16, (bytes + 15) / 16 * 16);
  memset(at, 0xff, bytes);
  if (given) CHECK(fread(at, 1, bytes, stdin) == bytes);
  return at;
}
static size_t scales(int rows, int k) { return (rows + 127) / 128 * (k / 64) * 512; }

int main() {
  int sizes[3];
  CHECK(fread(sizes, 4, 3, stdin) == 3);
  std::vector<Problem> problems(sizes[0]);
  std::vector<Item> items(sizes[1]);
  for (Problem& p : problems) {
    CHECK(fread(&p.m, 4, 3, stdin) == 3);
    p.a = operand((size_t)p.m * p.k / 2, true), p.sfa = operand(scales(p.m, p.k), true);
    p.b = operand((size_t)p.n * p.k / 2, true), p.sfb = operand(scales(p.n, p.k), true);
    p.c = operand((size_t)p.m * p.n * 2, false);
  }
  CHECK(fread(items.data(), sizeof(Item), items.size(), stdin) == items.size());
  for (unsigned block = 0; block < items.size(); block++) {
    memset(memory, 0xff, sizeof memory); // scales of NaN, codes of -6
    memset(tensor, 0xff, sizeof tensor);
    barriers.clear();
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < THREADS; t++)
      threads.emplace_back([&, t] {
        threadIdx.x = t, blockIdx.x = block;
        blackwell(problems.data(), items.data(), sizes[2]);
      });
    for (auto& thread : threads) thread.join();
  }
  for (Problem& p : problems) fwrite(p.c, 2, (size_t)p.m * p.n, stdout);
}
