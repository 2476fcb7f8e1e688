#include "interpreter_hooks/guards/special_names.h"

#include <vector>

namespace terra::capture {

namespace {

constexpr const char* names[] = {
    // life
    "__new__", "__init__", "__del__", "__call__", "__copy__", "__deepcopy__", "__reduce__", "__reduce_ex__",
    "__getstate__",
    // attributes
    "__class__", "__dir__", "__getattribute__", "__getattr__", "__setattr__", "__delattr__", "__get__", "__set__",
    "__delete__",
    // classes
    "__instancecheck__", "__subclasscheck__", "__subclasshook__", "__class_getitem__", "__match_args__",
    // comparisons, text, truth
    "__lt__", "__le__", "__eq__", "__ne__", "__gt__", "__ge__", "__hash__", "__bool__", "__repr__", "__str__",
    "__bytes__", "__format__", "__fspath__",
    // numbers
    "__add__", "__radd__", "__iadd__", "__sub__", "__rsub__", "__isub__", "__mul__", "__rmul__", "__imul__",
    "__matmul__", "__rmatmul__", "__imatmul__", "__truediv__", "__rtruediv__", "__itruediv__", "__floordiv__",
    "__rfloordiv__", "__ifloordiv__", "__mod__", "__rmod__", "__imod__", "__divmod__", "__rdivmod__", "__pow__",
    "__rpow__", "__ipow__", "__lshift__", "__rlshift__", "__ilshift__", "__rshift__", "__rrshift__", "__irshift__",
    "__and__", "__rand__", "__iand__", "__or__", "__ror__", "__ior__", "__xor__", "__rxor__", "__ixor__", "__neg__",
    "__pos__", "__abs__", "__invert__", "__index__", "__int__", "__float__", "__complex__", "__round__", "__trunc__",
    "__floor__", "__ceil__",
    // containers and iteration
    "__len__", "__length_hint__", "__getitem__", "__setitem__", "__delitem__", "__missing__", "__contains__",
    "__iter__", "__next__", "__reversed__", "keys", "__await__", "__aiter__", "__anext__",
    // with
    "__enter__", "__exit__", "__aenter__", "__aexit__",
    // tensors and arrays
    "__torch_function__", "__array__", "__array_function__", "__array_interface__", "__array_priority__",
    "__array_struct__", "__array_ufunc__", "__array_wrap__", "__dlpack__"};

}  // namespace

std::span<PyObject* const> special_names() {
  static const std::vector<PyObject*> all = [] {
    std::vector<PyObject*> interned;
    for (const char* name : names) interned.push_back(PyUnicode_InternFromString(name));
    return interned;
  }();
  return all;
}

}  // namespace terra::capture
