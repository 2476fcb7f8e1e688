// Guards on tensors, and the few things that the frame tier asks of the Tensor type.
#pragma once
#include "interpreter_hooks/cpython/frame.h"

#include "engine/tensor/tensor.h"

#include <string>

namespace terra::capture {

/// True for Tensor objects and instances of its subclasses.
bool is_tensor(PyObject* object);
bool is_tensor_type(PyTypeObject* type);
/// Tensor or Parameter itself.
bool is_plain_tensor(PyObject* object);
bool is_parameter(PyObject* object);
/// Borrowed.
TensorImpl* tensor_of(PyObject* object);
/// The one Python object of a tensor: new reference.
PyObject* object_of(const Tensor& tensor);

/// What is assumed of a tensor that enters a graph.
struct TensorFacts {
  DType dtype;
  bool requires_grad;
  bool leaf;
  Dims sizes;
  Dims strides;
  int64_t offset;

  explicit TensorFacts(const TensorImpl& tensor);
  bool hold(const TensorImpl& tensor) const;
  std::string text() const;
};

bool is_leaf(const TensorImpl& tensor);
/// True if Python functions are called when the gradient of the leaf arrives.
bool is_hooked(PyObject* tensor);
/// The tensor's .grad, or an undefined tensor.
Tensor gradient_of(const TensorImpl& tensor);

/// Engine-wide switches that a graph was built for, as one word: gradient mode, default dtype, anomaly detection.
uint64_t engine_mode();

/// C types of the engine.
bool is_engine_type(PyTypeObject* type);
/// Objects of which there is one for each meaning: op functions, dtypes, devices, functions decorated by a gradient mode.
bool is_engine_constant(PyObject* object);
/// Those, and sizes: what metadata of a tensor can be.
bool is_engine_value(PyObject* object);
bool is_size(PyObject* object);
bool is_op_function(PyObject* object);
/// no_grad and its kin, and functions that they decorated.
bool is_grad_mode_type(PyObject* type);
bool is_grad_mode_function(PyObject* object);
/// How often an instance of no_grad or its kin has been entered and not left.
size_t times_entered(PyObject* grad_mode);

}  // namespace terra::capture
