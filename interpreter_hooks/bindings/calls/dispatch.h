// __torch_dispatch__: how modes and subclasses of Tensor see the ops of PyTorch that a call is made of, behind
// __torch_function__. What these ops are is said in Python (terra/_aten).
#pragma once
#include "engine/tensor/tensor.h"
#include "interpreter_hooks/bindings/object.h"

namespace terra::hooks {

/// Whether instances of this type see ops now.
bool dispatches(PyTypeObject* type);

/// Hands a call on where a mode or an argument sees its ops; what `function` is and how the arguments come is as for
/// overridden(). Null object: nobody does, or the function is none of ops: go on.
Object dispatched(Borrowed function, PyObject* const* values, size_t count, PyObject* keywords);

/// The gradient with which a pass starts at a root that has one element, made by an op; undefined where nobody sees it.
Tensor dispatched_first_gradient(Borrowed root);

/// Whether a tensor is a wrapper, whose elements are its class's affair; how one is copied, and what is pickled of it.
bool is_wrapper(Borrowed tensor);
Object copied_wrapper(Borrowed tensor, Borrowed memo);
Object reduced_wrapper(Borrowed tensor);

extern PyMethodDef dispatch_methods[];  ///< Tensor.__torch_dispatch__, a class method
extern PyMethodDef dispatch_functions[];

}  // namespace terra::hooks
