// Metal Performance Shaders on the CPU, as far as the Metal backend calls them: matrices in buffers,
// and their product, computed in double precision when the command buffer is committed. What the
// real API asserts ends the process.
#include "metal.h"

#include <math.h>

enum { FLOAT32 = 0x10000020, FLOAT16 = 0x10000010 };  // MPSDataType

typedef struct { Object o; u64 rows, columns, pitch; unsigned type; } MPSMatrixDescriptor;
typedef struct { Object o; MTLBuffer *buffer; u64 offset; MPSMatrixDescriptor *as; } MPSMatrix;
typedef struct {
  Object o;
  char left, right;  // transposed
  u64 rows, columns, inner;
  double alpha, beta;
} MPSMatrixMultiplication;

char MPSSupportsMTLDevice(Object *device) { return device != NULL; }

static u64 bytes_of(unsigned type) { return (type & 0xffff) / 8; }
void *driver_matrix_descriptor(void *self, const char *s, u64 rows, u64 columns, u64 pitch, unsigned type) {
  (void)self, (void)s;
  if (type != FLOAT32 && type != FLOAT16) driver_die("MPSMatrixDescriptor: data type %#x is not known here", type);
  if (!rows || !columns || pitch % bytes_of(type) || pitch < columns * bytes_of(type))
    driver_die("MPSMatrixDescriptor: rows of %d bytes for %d elements", (int)pitch, (int)columns);
  MPSMatrixDescriptor *d = driver_new(&class_MPSMatrixDescriptor);
  d->rows = rows, d->columns = columns, d->pitch = pitch, d->type = type;
  return driver_auto(d);
}
static const Method methods_MPSMatrixDescriptor[] = {{NULL, NULL}};
CLASS(MPSMatrixDescriptor, MPSMatrixDescriptor, NULL);

static void *matrix(MPSMatrix *self, const char *s, MTLBuffer *buffer, u64 offset, MPSMatrixDescriptor *as) {
  (void)s;
  u64 end = offset + (as->rows - 1) * as->pitch + as->columns * bytes_of(as->type);
  if (end > buffer->bytes) driver_die("MPSMatrix: ends at byte %d of %d", (int)end, (int)buffer->bytes);
  self->buffer = driver_retain(buffer), self->offset = offset, self->as = driver_retain(as);
  return self;
}
static void drop_matrix(MPSMatrix *m) { driver_release(m->buffer), driver_release(m->as); }
static const Method methods_MPSMatrix[] = {{"initWithBuffer:offset:descriptor:", matrix}, {NULL, NULL}};
CLASS(MPSMatrix, MPSMatrix, drop_matrix);

static double load(const char *from, unsigned type) {
  if (type == FLOAT32) return *(const float *)from;
  unsigned half = *(const uint16_t *)from, field = half >> 10 & 31, part = half & 1023;
  double x = field == 31 ? (part ? NAN : INFINITY) : ldexp(field ? part + 1024 : part, (field ? field : 1) - 25);
  return half & 0x8000 ? -x : x;
}
static void store(char *to, unsigned type, double x) {
  if (type == FLOAT32) { *(float *)to = x; return; }
  double size = fabs(x);
  unsigned code = 0x7e00;
  if (size >= 65520) code = 0x7c00;
  else if (size == size) {
    int e;
    frexp(size, &e);
    if (e < -13 || size == 0) e = -13;
    code = ((e + 14) << 10) + (int)rint(ldexp(size, 11 - e)) - 1024;
  }
  *(uint16_t *)to = code | (signbit(x) ? 0x8000 : 0);
}

typedef struct {
  MPSMatrixMultiplication by;
  struct { char *at; u64 pitch; unsigned type; } left, right, result;
} Work;
static double element(const char *at, u64 pitch, unsigned type, char transposed, u64 row, u64 column) {
  u64 r = transposed ? column : row, c = transposed ? row : column;
  return load(at + r * pitch + c * bytes_of(type), type);
}
static void run(void *work) {
  Work *w = work;
  for (u64 i = 0; i < w->by.rows; i++)
    for (u64 j = 0; j < w->by.columns; j++) {
      double sum = 0;
      for (u64 k = 0; k < w->by.inner; k++)
        sum += element(w->left.at, w->left.pitch, w->left.type, w->by.left, i, k) *
               element(w->right.at, w->right.pitch, w->right.type, w->by.right, k, j);
      char *to = w->result.at + i * w->result.pitch + j * bytes_of(w->result.type);
      sum *= w->by.alpha;
      if (w->by.beta) sum += w->by.beta * load(to, w->result.type);
      store(to, w->result.type, sum);
    }
}

static void *multiplication(MPSMatrixMultiplication *self, const char *s, Object *device, char left, char right,
                            u64 rows, u64 columns, u64 inner, double alpha, double beta) {
  (void)s, (void)device;
  self->left = left, self->right = right, self->rows = rows, self->columns = columns, self->inner = inner;
  self->alpha = alpha, self->beta = beta;
  return self;
}
static char has(MPSMatrix *m, char transposed, u64 rows, u64 columns) {
  u64 r = m->as->rows, c = m->as->columns;
  return transposed ? r >= columns && c >= rows : r >= rows && c >= columns;
}
static void encode(MPSMatrixMultiplication *self, const char *s, MTLCommandBuffer *b, MPSMatrix *left, MPSMatrix *right,
                   MPSMatrix *result) {
  (void)s;
  if (!has(left, self->left, self->rows, self->inner) || !has(right, self->right, self->inner, self->columns) ||
      !has(result, 0, self->rows, self->columns))
    driver_die("MPSMatrixMultiplication: a matrix is smaller than its product needs");
  if (left->as->type != right->as->type || left->as->type != result->as->type)
    driver_die("MPSMatrixMultiplication: matrices of several types are not known here");
  Work *w = calloc(1, sizeof *w);
  w->by = *self;
#define PLACE(NAME) \
  w->NAME.at = NAME->buffer->at + NAME->offset, w->NAME.pitch = NAME->as->pitch, w->NAME.type = NAME->as->type
  PLACE(left), PLACE(right), PLACE(result);
  MTLBuffer *const uses[] = {left->buffer, right->buffer, result->buffer};
  driver_work(b, run, w, uses, 3);
}
static const Method methods_MPSMatrixMultiplication[] = {
    {"initWithDevice:transposeLeft:transposeRight:resultRows:resultColumns:interiorColumns:alpha:beta:", multiplication},
    {"encodeToCommandBuffer:leftMatrix:rightMatrix:resultMatrix:", encode}, {NULL, NULL}};
CLASS(MPSMatrixMultiplication, MPSMatrixMultiplication, NULL);
