// The PyTorch operator matmul: the kernels of an export on the current stream. mnk_matmul.py builds and
// documents it. Its namespace is the name of this library, which no other export has.
#include <ATen/ATen.h>
#include <ATen/cuda/EmptyTensor.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/utils/pybind.h>
#include <torch/library.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "mnk_matmul.h"

namespace {

constexpr int kMostDevices = 64;

// Messages use no streams: where the C++ library is linked into this extension statically, its streams
// find the locale of PyTorch's copy, in which facets have other numbers, and writing a number crashes.
std::string text(const char* part) { return part; }
std::string text(const std::string& part) { return part; }
std::string text(int64_t part) { return std::to_string(part); }
std::string text(at::ScalarType part) { return c10::toString(part); }
std::string text(at::IntArrayRef part) {
  std::string all;
  for (const int64_t size : part) all += (all.empty() ? "[" : ", ") + text(size);
  return all.empty() ? "[]" : all + "]";
}
template <class... Parts>
std::string message(const Parts&... parts) {
  std::string all = "mnk_matmul: ";
  ((all += text(parts)), ...);
  return all;
}
std::string described(mnk_status status) {
  return std::string(mnk_status_text(status)) + " (" + std::to_string(status) + ")";
}

std::string file;
std::mutex opening;
std::atomic<mnk_context*> contexts[kMostDevices];

// The driver may have no context yet in a thread whose memory came from PyTorch's cache.
void enter_context() { C10_CUDA_CHECK(cudaFree(nullptr)); }

// The kernels on the current device, loaded at the first call.
const mnk_context* context_of(int device) {
  TORCH_CHECK(device < kMostDevices, message("device ", device, " is not supported"));
  mnk_context* context = contexts[device].load(std::memory_order_acquire);
  if (context) return context;
  std::lock_guard<std::mutex> lock(opening);
  context = contexts[device].load(std::memory_order_acquire);
  if (context) return context;
  enter_context();
  const mnk_status status = mnk_matmul_open(&context, file.c_str());
  TORCH_CHECK(status == MNK_OK, message("cannot load ", file, ": ", described(status)));
  contexts[device].store(context, std::memory_order_release);
  return context;
}

// By the runtime: PyTorch's own names for it differ between releases.
bool is_captured(const c10::cuda::CUDAStream& stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  C10_CUDA_CHECK(cudaStreamIsCapturing(stream.stream(), &status));
  return status != cudaStreamCaptureStatusNone;
}

at::Tensor bytes_on(const at::Tensor& like, int64_t bytes) {
  return at::detail::empty_cuda({bytes}, at::kByte, like.device(), std::nullopt);
}

// The greatest workspace of a shape that uses the kept part.
int64_t kept_workspace_bytes() {
  int64_t most = 0;
  for (int i = 0; i < mnk_matmul_export.table_count; i++) {
    const mnk_table& table = mnk_matmul_tables[i];
    for (int r = table.first_row; r < table.first_row + table.rows; r++) {
      const mnk_row& row = mnk_matmul_rows[r];
      if (!row.kept) continue;
      for (const int64_t m : {row.from, row.to})
        most = std::max(most, static_cast<int64_t>(mnk_workspace_bytes(&mnk_matmul_export, &row, m)));
    }
  }
  return most;
}

// The workspace of shapes whose kernels leave values behind for the next call. A stream has one, which is
// filled once: its calls follow one another. A graph may run beside anything, so that each call of a
// graph has its own, whose filling is a part of the graph.
at::Tensor kept_workspace(const at::Tensor& like, const mnk_context* context, c10::cuda::CUDAStream stream) {
  static const int64_t bytes = kept_workspace_bytes();
  static std::mutex mutex;
  static auto* known = new std::map<std::pair<int, cudaStream_t>, at::Tensor>();
  const auto filled = [&] {
    at::Tensor made = bytes_on(like, bytes);
    const mnk_status status = mnk_matmul_fill_workspace(context, made.data_ptr(), static_cast<size_t>(bytes),
                                                        reinterpret_cast<mnk_stream>(stream.stream()));
    TORCH_CHECK(status == MNK_OK, message("cannot fill the workspace: ", described(status)));
    return made;
  };
  if (is_captured(stream)) return filled();
  std::lock_guard<std::mutex> lock(mutex);
  at::Tensor& own = (*known)[{stream.device_index(), stream.stream()}];
  if (!own.defined()) own = filled();
  return own;
}

int type_of(at::ScalarType type) {
  switch (type) {
    case at::kBFloat16: return MNK_MATMUL_TYPE_BF16;
    case at::kHalf: return MNK_MATMUL_TYPE_F16;
    case at::kFloat: return MNK_MATMUL_TYPE_F32;
    default: TORCH_CHECK(false, message(type, " is no type of the export"));
  }
}

// Elements from a row to the next of a matrix whose rows are contiguous; 0 where they are not.
int64_t pitch_of(int64_t rows, int64_t columns, int64_t row, int64_t column) {
  if (columns > 1 && column != 1) return 0;
  return rows > 1 ? (row >= columns ? row : 0) : columns;
}

const mnk_row* row_of(const mnk_matmul_args& args) {
  int64_t axes[16];
  const void* operands[8];
  mnk_matmul_read(&args, axes, operands);
  const mnk_table* table = mnk_find_table(&mnk_matmul_export, axes);
  return table ? mnk_find_row(&mnk_matmul_export, table, args.m) : nullptr;
}

// The row of `args` with the layout and the pitch of `b`, which it sets.
const mnk_row* stored_row_of(mnk_matmul_args& args, const at::Tensor& b) {
  const mnk_row* row = nullptr;
  // A matrix of one row or column is stored in both ways.
  args.layout = MNK_MATMUL_LAYOUT_NN;
  args.ldb = pitch_of(args.k, args.n, b.stride(0), b.stride(1));
  if (args.ldb > 0) row = row_of(args);
  if (row) return row;
  args.layout = MNK_MATMUL_LAYOUT_NT;
  args.ldb = pitch_of(args.n, args.k, b.stride(1), b.stride(0));
  return args.ldb > 0 ? row_of(args) : nullptr;
}

at::Tensor matmul_cuda(const at::Tensor& a, const at::Tensor& b, const std::optional<at::Tensor>& bias, bool relu) {
  TORCH_CHECK(a.dim() == 2 && b.dim() == 2 && a.size(1) == b.size(0),
              message(a.sizes(), " by ", b.sizes(), " is no product of matrices"));
  TORCH_CHECK(a.scalar_type() == b.scalar_type() && a.device() == b.device(),
              "mnk_matmul: A and B have different types or devices");
  mnk_matmul_args args{};
  args.m = a.size(0), args.k = a.size(1), args.n = b.size(1);
  args.type = type_of(a.scalar_type());
  args.a = a.const_data_ptr(), args.b = b.const_data_ptr();
  args.lda = pitch_of(args.m, args.k, a.stride(0), a.stride(1));
  TORCH_CHECK(args.lda > 0, "mnk_matmul: the rows of A are not contiguous");
  const bool biased = bias.has_value() && bias->defined();
  if (biased) {
    TORCH_CHECK(bias->dim() == 1 && bias->size(0) == args.n && bias->is_contiguous() &&
                    bias->scalar_type() == a.scalar_type() && bias->device() == a.device(),
                "mnk_matmul: the bias is no contiguous vector of N values of the type and device of A");
    args.bias = bias->const_data_ptr();
  }
  args.epilogue = biased ? (relu ? MNK_MATMUL_EPILOGUE_BIAS_RELU : MNK_MATMUL_EPILOGUE_BIAS)
                         : (relu ? MNK_MATMUL_EPILOGUE_RELU : MNK_MATMUL_EPILOGUE_NONE);
  const mnk_row* row = stored_row_of(args, b);
  // One row has any pitch: that of its tensor is tried where no kernel has the least.
  if (!row && args.m == 1 && a.stride(0) > args.k) {
    args.lda = a.stride(0);
    row = stored_row_of(args, b);
  }
  TORCH_CHECK(row, message(mnk_status_text(MNK_UNKNOWN_SHAPE), ": M=", args.m, " N=", args.n, " K=", args.k, " ",
                           a.scalar_type(), ", strides ", a.strides(), " and ", b.strides()));
  const c10::cuda::CUDAGuard guard(a.device());
  const c10::cuda::CUDAStream stream = c10::cuda::getCurrentCUDAStream(a.get_device());
  const mnk_context* context = context_of(stream.device_index());
  at::Tensor out = at::detail::empty_cuda({args.m, args.n}, a.scalar_type(), a.device(), std::nullopt);
  args.c = out.mutable_data_ptr();
  at::Tensor workspace;
  const size_t bytes = mnk_workspace_bytes(&mnk_matmul_export, row, args.m);
  if (bytes > 0) {
    workspace = row->kept ? kept_workspace(a, context, stream) : bytes_on(a, static_cast<int64_t>(bytes));
    args.workspace = workspace.mutable_data_ptr();
    args.workspace_bytes = static_cast<size_t>(workspace.numel());
  }
  const auto at_stream = reinterpret_cast<mnk_stream>(stream.stream());
  mnk_status status = mnk_matmul(context, &args, at_stream);
  if (status == MNK_OTHER_DEVICE) {
    enter_context();
    status = mnk_matmul(context, &args, at_stream);
  }
  TORCH_CHECK(status == MNK_OK, message(described(status)));
  return out;
}

// What the result is like, for tracing.
at::Tensor matmul_meta(const at::Tensor& a, const at::Tensor& b, const std::optional<at::Tensor>& bias, bool) {
  TORCH_CHECK(a.dim() == 2 && b.dim() == 2,
              message(a.sizes(), " by ", b.sizes(), " is no product of matrices"));
  TORCH_CHECK(a.device() == b.device() && !(bias.has_value() && bias->defined() && bias->device() != a.device()),
              "mnk_matmul: the operands are on different devices");
  return a.new_empty_symint({a.sym_size(0), b.sym_size(1)});
}

using Signature = at::Tensor(const at::Tensor&, const at::Tensor&, const std::optional<at::Tensor>&, bool);

const auto& dispatched() {
  static const auto op =
      c10::Dispatcher::singleton().findSchemaOrThrow(C10_STRINGIZE(TORCH_EXTENSION_NAME) "::matmul", "").typed<Signature>();
  return op;
}

at::Tensor matmul_autograd(const at::Tensor& a, const at::Tensor& b, const std::optional<at::Tensor>& bias, bool relu) {
  const bool wanted = a.requires_grad() || b.requires_grad() || (bias.has_value() && bias->requires_grad());
  TORCH_CHECK(!wanted || !at::GradMode::is_enabled(),
              "mnk_matmul: it has no gradient; call it under torch.no_grad(), or with detached tensors");
  const at::AutoDispatchBelowADInplaceOrView below;
  return dispatched().call(a, b, bias, relu);
}

// What Python calls for plain tensors: torch.ops costs more than the launch.
PyObject* matmul_python(PyObject*, PyObject* const* args, Py_ssize_t count) {
  HANDLE_TH_ERRORS
  TORCH_CHECK_TYPE(count == 4 && THPVariable_Check(args[0]) && THPVariable_Check(args[1]) &&
                       (args[2] == Py_None || THPVariable_Check(args[2])) && PyBool_Check(args[3]),
                   "mnk_matmul: give two tensors, a tensor or None, and a bool");
  const at::Tensor& a = THPVariable_Unpack(args[0]);
  const at::Tensor& b = THPVariable_Unpack(args[1]);
  std::optional<at::Tensor> bias;
  if (args[2] != Py_None) bias = THPVariable_Unpack(args[2]);
  at::Tensor out;
  {
    const pybind11::gil_scoped_release released;
    out = dispatched().call(a, b, bias, args[3] == Py_True);
  }
  return THPVariable_Wrap(std::move(out));
  END_HANDLE_TH_ERRORS
}

// The shapes of the export: m, the greatest m, n, k, type, epilogue, layout, lda and ldb of each row.
std::vector<std::vector<int64_t>> shapes() {
  std::vector<std::vector<int64_t>> all;
  mnk_matmul_args args;
  int64_t to = 0;
  for (int i = 0; mnk_matmul_shape(i, &args, &to); i++)
    all.push_back({args.m, to, args.n, args.k, args.type, args.epilogue, args.layout, args.lda, args.ldb, args.ldc});
  return all;
}

PyMethodDef methods[] = {
    {"matmul", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(matmul_python)), METH_FASTCALL, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

#ifndef MNK_TORCH_KEY
#define MNK_TORCH_KEY CUDA
#endif

TORCH_LIBRARY(TORCH_EXTENSION_NAME, library) {
  library.def("matmul(Tensor a, Tensor b, Tensor? bias=None, bool relu=False) -> Tensor");
}
TORCH_LIBRARY_IMPL(TORCH_EXTENSION_NAME, MNK_TORCH_KEY, library) { library.impl("matmul", &matmul_cuda); }
TORCH_LIBRARY_IMPL(TORCH_EXTENSION_NAME, Meta, library) { library.impl("matmul", &matmul_meta); }
TORCH_LIBRARY_IMPL(TORCH_EXTENSION_NAME, Autograd, library) { library.impl("matmul", &matmul_autograd); }

PYBIND11_MODULE(TORCH_EXTENSION_NAME, module) {
  PyModule_AddFunctions(module.ptr(), methods);
  module.def("set_file", [](std::string path) { file = std::move(path); });
  module.def("open", [](int device) {
    const c10::cuda::CUDAGuard guard(static_cast<c10::DeviceIndex>(device));
    context_of(device);
  });
  module.def("shapes", &shapes);
}
