// Tensors from Python data.
#pragma once
#include <optional>

#include "engine/tensor/tensor.h"
#include "interpreter_hooks/bindings/entry.h"

namespace terra::hooks {

/// A fresh tensor of nested sequences, numbers, arrays: terra.tensor(data). The dtype is inferred in PyTorch's way
/// unless given.
Object tensor_from_data(Borrowed data, std::optional<DType> dtype = std::nullopt);
/// Tells the observer how `tensor` came from `data`; `what` names the function where nobody could repeat it.
void observe_construction(const char* what, Borrowed data, Borrowed tensor);
/// Another tensor of the same memory, without history: what detach and Parameter make.
Tensor alias_of(const TensorImpl& tensor);
/// A copy in another dtype (the same tensor where it has it), not recorded and not reported.
Tensor converted(const Tensor& tensor, DType dtype);

/// Bytes that another object exports: numpy arrays and everything else with the buffer protocol.
class Buffer {
 public:
  explicit Buffer(Borrowed exporter);
  Buffer(Buffer&& other) noexcept : view_(std::exchange(other.view_, nullptr)) {}
  ~Buffer();
  Buffer(const Buffer&) = delete;

  /// The dtype of the elements; nothing where tensors have no such type.
  std::optional<DType> dtype() const;
  bool read_only() const { return view_->readonly; }
  const char* format() const { return view_->format ? view_->format : "B"; }
  int rank() const { return view_->ndim; }
  /// A tensor of the same memory, which keeps the exporter alive. Consumes the buffer. Throws ValueError for layouts
  /// that tensors don't have.
  Tensor share() &&;

 private:
  Py_buffer* view_;
};

}  // namespace terra::hooks
