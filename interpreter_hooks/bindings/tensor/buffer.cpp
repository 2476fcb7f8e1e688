#include <string_view>

#include "engine/errors/errors.h"
#include "interpreter_hooks/bindings/interpreter_lock.h"
#include "interpreter_hooks/bindings/tensor/construction.h"

namespace terra::hooks {
namespace {

/// Elements by the codes of Python's struct module and, of complex numbers, numpy's, in native order.
constexpr struct {
  std::string_view code;
  size_t size;
  DType dtype;
} formats[] = {{"?", 1, DType::Bool}, {"B", 1, DType::U8},    {"b", 1, DType::I8},  {"h", 2, DType::I16},
               {"i", 4, DType::I32},  {"l", 8, DType::I64},   {"l", 4, DType::I32}, {"q", 8, DType::I64},
               {"H", 2, DType::U16},  {"I", 4, DType::U32},   {"L", 8, DType::U64}, {"L", 4, DType::U32},
               {"Q", 8, DType::U64},  {"e", 2, DType::F16},   {"f", 4, DType::F32}, {"d", 8, DType::F64},
               {"Zf", 8, DType::C64}, {"Zd", 16, DType::C128}};

/// Runs when the last tensor of the memory goes, on whatever thread.
void release_view(void* context) {
  auto* view = static_cast<Py_buffer*>(context);
  if (const InterpreterLock lock; lock) PyBuffer_Release(view);
  delete view;
}

}  // namespace

Buffer::Buffer(Borrowed exporter) : view_(new Py_buffer) {
  if (PyObject_GetBuffer(exporter, view_, PyBUF_FORMAT | PyBUF_STRIDES) < 0) {
    delete std::exchange(view_, nullptr);
    throw PythonError{};
  }
}

Buffer::~Buffer() {
  if (view_) release_view(view_);
}

std::optional<DType> Buffer::dtype() const {
  std::string_view code = format();
  if (code.size() > 1 && (code[0] == '<' || code[0] == '=' || code[0] == '@')) code.remove_prefix(1);
  for (const auto& row : formats)
    if (row.code == code && row.size == static_cast<size_t>(view_->itemsize)) return row.dtype;
  return std::nullopt;
}

Tensor Buffer::share() && {
  const DType type = dtype().value();
  Dims sizes, strides;
  size_t extent = static_cast<size_t>(view_->itemsize);
  for (int i = 0; i < view_->ndim; ++i) {
    const Py_ssize_t n = view_->shape[i], step = view_->strides ? view_->strides[i] : 0;
    check_kind(
        step >= 0 || n <= 1, ErrorKind::ValueError,
        "At least one stride in the given numpy array is negative, and tensors with negative strides are not "
        "currently supported. (You can probably work around this by making a copy of your array with array.copy().)");
    check_kind(
        step % view_->itemsize == 0, ErrorKind::ValueError,
        "given numpy array strides not a multiple of the element byte size. Copy the numpy array to reallocate the "
        "memory.");
    sizes.push_back(n);
    strides.push_back(n <= 1 ? 1 : step / view_->itemsize);
    if (n == 0) extent = 0;
    if (extent) extent += static_cast<size_t>((n - 1) * strides.back() * view_->itemsize);
  }
  Py_buffer* view = std::exchange(view_, nullptr);
  Ref<Storage> storage = Storage::wrap(view->buf, extent, release_view, view);
  storage->mark_fixed();
  return Tensor::view_of(std::move(storage), type, std::move(sizes), std::move(strides), 0);
}

}  // namespace terra::hooks
