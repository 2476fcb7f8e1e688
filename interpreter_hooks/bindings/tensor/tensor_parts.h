// The Tensor type is put together from tables; each belongs to the file named in its comment.
#pragma once
#include <vector>

#include "engine/tensor/tensor.h"
#include "interpreter_hooks/bindings/entry.h"

namespace terra::hooks {

void append_number_slots(std::vector<PyType_Slot>& slots);        // numbers.cpp
void append_compare_slots(std::vector<PyType_Slot>& slots);       // numbers.cpp
void append_indexing_slots(std::vector<PyType_Slot>& slots);      // indexing.cpp
void append_construction_slots(std::vector<PyType_Slot>& slots);  // construction.cpp
void append_parameter_slots(std::vector<PyType_Slot>& slots);     // parameter.cpp

extern PyMethodDef metadata_methods[];  // metadata.cpp: size, stride, dim, ...
extern PyGetSetDef metadata_getters[];
extern PyMethodDef value_methods[];       // values.cpp: item, tolist, __bool__, ...
extern PyMethodDef conversion_methods[];  // conversion.cpp: to, type, float, ...
extern PyMethodDef autograd_methods[];    // autograd_methods.cpp: backward, detach_, register_hook, ...
extern PyGetSetDef autograd_getters[];
extern PyMethodDef construction_methods[];  // construction.cpp: new_tensor, new_zeros, ...
extern PyMethodDef copying_methods[];       // copying.cpp: __deepcopy__, __reduce_ex__
extern PyMethodDef memory_methods[];        // memory_methods.cpp: resize_, set_, apply_, ...
extern PyMethodDef numpy_methods[];         // numpy.cpp: numpy, __array__
extern PyMethodDef dlpack_methods[];        // dlpack.cpp: __dlpack__
extern PyMethodDef printing_methods[];      // printing.cpp: __format__
extern PyGetSetDef parameter_getters[];

Object tensor_repr(PyObject* self);  // printing.cpp

/// True iff the tape's record of this tensor holds the hooks of its Python object (autograd_methods.cpp).
bool holds_hooks(const TensorImpl& impl);
/// Lets go of them, for the collector.
void drop_hooks(TensorImpl& impl);

void append_tensor_slots(std::vector<PyType_Slot>& slots);  // tensor_parts.cpp
void add_tensor_attributes(PyTypeObject* type);
void add_tensor_attributes_of_parameter(PyTypeObject* type);

}  // namespace terra::hooks
