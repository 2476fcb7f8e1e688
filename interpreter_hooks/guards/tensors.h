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
PyObject* object_of(Tensor tensor);

/// Which sizes of a tensor are no facts: bit d for dimension d. A dimension of 0 or 1 is a fact all the same, and no
/// other takes these values: broadcasting, reductions and layouts treat them differently.
using FreeSizes = uint64_t;
/// The strides of a tensor that isn't contiguous are no facts.
constexpr FreeSizes free_strides = FreeSizes{1} << 63;

/// What is assumed of a tensor that enters a graph. Where it begins in its memory is no part of it.
struct TensorFacts {
  std::string path;  ///< how it was reached
  DType dtype;
  Device device;
  bool requires_grad;
  bool inference;
  bool leaf;
  bool contiguous;  ///< with the very strides that a new tensor would have
  Dims sizes;
  Dims strides;
  FreeSizes free;

  TensorFacts(const TensorImpl& tensor, std::string path, FreeSizes free);
  bool hold(const TensorImpl& tensor) const {
    if (tensor.dtype != dtype || tensor.device != device || tensor.requires_grad() != requires_grad ||
        !tensor.storage || tensor.storage->is_inference() != inference)
      return false;  // without storage: a symbol
    if (requires_grad && !same_leaf(tensor)) return false;
    if (free) [[unlikely]]
      return layout_holds(tensor);
    return tensor.sizes == sizes && tensor.strides == strides;
  }
  /// What would have to be free for the guard to hold: 0 if it holds or never could.
  FreeSizes to_be_freed(const TensorImpl& tensor) const;
  /// Takes for a fact what is free by now.
  bool is_outdated(FreeSizes now) const;
  /// "float32 [*, 20]"
  std::string text() const;
  /// Why it doesn't hold: "x.shape[1] was 20, now 21".
  std::string miss(const TensorImpl& tensor) const;

 private:
  bool same_leaf(const TensorImpl& tensor) const;
  bool layout_holds(const TensorImpl& tensor) const;
  bool is_free(size_t dim) const { return dim < 63 && free >> dim & 1 && sizes[dim] >= 2; }
};

bool is_leaf(const TensorImpl& tensor);
/// A view whose history, and with it whether it is a leaf, follows writes to its base.
bool follows_a_base(const TensorImpl& tensor);
/// A view of a tensor that requires grad, whether it does so itself or was made without gradients.
bool gradients_reach_its_base(const TensorImpl& tensor);
/// True if Python functions are called when the gradient of the leaf arrives.
bool is_hooked(PyObject* tensor);
/// The tensor's .grad, or an undefined tensor.
Tensor gradient_of(const TensorImpl& tensor);

/// Engine-wide switches that a graph was built for, as one word: gradient and inference mode, default dtype and device,
/// which methods and operators Tensor has (the program may replace them), whether attributes of tensors may hide them,
/// autocast, whether __torch_function__ is asked as usual, and whether passes keep their graphs.
uint64_t engine_mode();
/// The parts of that word that `with` blocks switch on a thread, and setting them to what they are in `mode`.
inline constexpr uint64_t gradient_mode = 1, autocast_mode = uint64_t{127} << 41, inference_mode = uint64_t{1} << 49;
inline constexpr uint64_t modes_of_blocks = gradient_mode | inference_mode | autocast_mode;
/// The default device is another one than the CPU.
inline constexpr uint64_t device_mode = uint64_t{1} << 50;
void set_modes_of_blocks(uint64_t mode);
/// The last of these: each read of a method has to ask the tensor first. Once true it stays so.
bool attributes_may_hide_methods();

/// C types of the engine.
bool is_engine_type(PyTypeObject* type);
/// Objects of which there is one for each meaning: op functions, dtypes, devices, functions decorated by a gradient
/// mode.
bool is_engine_constant(PyObject* object);
/// A type whose calls give such constants, the same for the same arguments.
bool makes_engine_constants(PyObject* type);
/// Those, and sizes: what metadata of a tensor can be.
bool is_engine_value(PyObject* object);
bool is_size(PyObject* object);
/// terra.Size; null before the engine is there.
PyObject* size_type();
/// A terra.Size of that length, its items still to be set: new reference, or null.
PyObject* new_size(size_t length);
bool is_op_function(PyObject* object);
/// The function that a callable runs which offers its calls to __torch_function__ first; null for others. It never
/// changes.
PyObject* overridable_function(PyObject* object);
/// Whether a call with this argument is taken over as things stand.
bool may_take_over(PyObject* argument);
/// Whether a mode of __torch_function__ sees every call of this thread.
bool modes_see_calls();
/// A terra.Generator.
bool is_generator(PyObject* object);
/// no_grad and its kin, and functions that they decorated.
bool is_grad_mode_type(PyObject* type);
bool is_grad_mode_function(PyObject* object);
/// How often an instance of no_grad or its kin has been entered and not left.
size_t times_entered(PyObject* grad_mode);

}  // namespace terra::capture
