// Guards on tensors, and the few things that the frame tier asks of the Tensor type.
#pragma once
#include "interpreter_hooks/cpython/frame.h"

#include "engine/tensor/tensor.h"

#include <string>

namespace terra::capture {

/// True for Tensor objects and instances of its subclasses.
bool is_tensor(PyObject* object);
bool is_tensor_type(PyTypeObject* type);
/// Borrowed.
TensorImpl* tensor_of(PyObject* object);
/// The one Python object of a tensor: new reference.
PyObject* object_of(const Tensor& tensor);

/// What is assumed of a tensor that enters a graph.
struct TensorFacts {
  DType dtype;
  bool requires_grad;
  bool leaf;
  bool has_gradient;
  Dims sizes;
  Dims strides;
  int64_t offset;

  explicit TensorFacts(const TensorImpl& tensor);
  bool hold(const TensorImpl& tensor) const;
  std::string text() const;
};

bool is_leaf(const TensorImpl& tensor);
/// The tensor's .grad (borrowed), or null.
TensorImpl* gradient_of(const TensorImpl& tensor);

/// Engine-wide switches that a graph was built for, as one word: gradient mode, default dtype, anomaly detection.
uint64_t engine_mode();

}  // namespace terra::capture
