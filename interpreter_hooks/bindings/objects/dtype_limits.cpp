#include "interpreter_hooks/bindings/objects/dtype_limits.h"

#include <cfloat>
#include <string>
#include <vector>

#include "engine/errors/errors.h"
#include "engine/ops/call.h"
#include "interpreter_hooks/bindings/objects/dtype_object.h"
#include "interpreter_hooks/bindings/objects/types.h"
#include "interpreter_hooks/bindings/tensor/scalars.h"

namespace terra::hooks {
namespace {

struct LimitsObject {
  PyObject_HEAD DType dtype;
};
PyTypeObject *finfo_type = nullptr, *iinfo_type = nullptr;
PyObject* limits_objects[kDTypeCount];

DType dtype_of(PyObject* self) { return reinterpret_cast<LimitsObject*>(self)->dtype; }

Object limits_of(DType dtype, PyTypeObject* type) {
  PyObject*& kept = limits_objects[static_cast<int>(dtype)];
  if (!kept) {
    kept = owned(type->tp_alloc(type, 0)).release();
    reinterpret_cast<LimitsObject*>(kept)->dtype = dtype;
  }
  return Object::share(kept);
}

/// The argument `type`, or null where it was not given.
PyObject* type_argument(PyObject* args, PyObject* kwargs, const char* format, const char* function) {
  static const char* names[] = {"type", nullptr};
  PyObject* type = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, format, const_cast<char**>(names), &type)) throw PythonError{};
  if (type && !is_dtype(type))
    raise(PyExc_TypeError, "%s(): argument 'type' (position 1) must be torch.dtype, not %s", function,
          Py_TYPE(type)->tp_name);
  return type;
}

/// Formats that dtypes without tensors name: programs ask for their limits before they use them.
struct NamedFormat {
  const char* dtype;  ///< as repr() has it
  double max, eps, smallest_normal;
};
constexpr NamedFormat named_formats[] = {{"torch.float8_e4m3fn", 448, 0.125, 0x1p-6},
                                         {"torch.float8_e5m2", 57344, 0.25, 0x1p-14},
                                         {"torch.float8_e4m3fnuz", 240, 0.125, 0x1p-7},
                                         {"torch.float8_e5m2fnuz", 57344, 0.25, 0x1p-15}};

/// The limits of a dtype without tensors as attributes of a plain object, or null where it is none of these.
Object limits_of_name(PyObject* type) {
  const Object name = owned(PyObject_Repr(type));
  for (const NamedFormat& format : named_formats) {
    if (PyUnicode_CompareWithASCIIString(name.get(), format.dtype) != 0) continue;
    const Object module = owned(PyImport_ImportModule("types"));
    const Object make = owned(PyObject_GetAttrString(module.get(), "SimpleNamespace"));
    const Object none = owned(PyTuple_New(0));
    const Object values = owned(Py_BuildValue("{s:i,s:d,s:d,s:d,s:d,s:d,s:d,s:s}", "bits", 8, "max", format.max, "min",
                                              -format.max, "eps", format.eps, "smallest_normal", format.smallest_normal,
                                              "tiny", format.smallest_normal, "resolution", 1.0, "dtype",
                                              format.dtype + std::string_view("torch.").size()));
    return owned(PyObject_Call(make.get(), none.get(), values.get()));
  }
  return {};
}

Object finfo_new(PyTypeObject*, PyObject* args, PyObject* kwargs) {
  PyObject* type = type_argument(args, kwargs, "|O:finfo", "finfo");
  if (type)
    if (Object named = limits_of_name(type)) return named;
  const DType dtype = type ? *dtype_from(type) : default_dtype();
  check_kind(is_inexact(dtype), ErrorKind::TypeError,
             "torch.finfo() requires a floating point input type. Use torch.iinfo to handle '{}'", name_of(dtype));
  return limits_of(real_dtype_of(dtype), finfo_type);
}

Object iinfo_new(PyTypeObject*, PyObject* args, PyObject* kwargs) {
  const DType dtype = *dtype_from(type_argument(args, kwargs, "O:iinfo", "iinfo"));
  check_kind(dtype != DType::Bool, ErrorKind::TypeError, "torch.bool is not supported by torch.iinfo");
  check_kind(is_integral(dtype), ErrorKind::TypeError,
             "torch.iinfo() requires an integer input type. Use torch.finfo to handle '{}'", name_of(dtype));
  return limits_of(dtype, iinfo_type);
}

/// Of the floating dtypes, in their order from F16.
struct FloatFormat {
  double eps, max, smallest_normal, resolution;
};
constexpr FloatFormat float_formats[] = {{0x1p-10, 65504, 0x1p-14, 1e-3},
                                         {0x1p-7, 0x1.fep127, 0x1p-126, 1e-2},
                                         {FLT_EPSILON, FLT_MAX, FLT_MIN, 1e-6},
                                         {DBL_EPSILON, DBL_MAX, DBL_MIN, 1e-15}};
const FloatFormat& format_of(PyObject* self) {
  return float_formats[static_cast<int>(dtype_of(self)) - static_cast<int>(DType::F16)];
}

template <double FloatFormat::*Member>
Object float_fact(PyObject* self, void*) {
  return owned(PyFloat_FromDouble(format_of(self).*Member));
}
Object float_min(PyObject* self, void*) { return owned(PyFloat_FromDouble(-format_of(self).max)); }

Object int_max(PyObject* self, void*) { return owned(from_scalar(greatest_of(dtype_of(self)))); }
Object int_min(PyObject* self, void*) { return owned(from_scalar(least_of(dtype_of(self)))); }

Object bits(PyObject* self, void*) { return owned(PyLong_FromSize_t(8 * size_of(dtype_of(self)))); }
Object dtype_name(PyObject* self, void*) {
  const auto name = name_of(dtype_of(self));
  return owned(PyUnicode_FromStringAndSize(name.data(), name.size()));
}

PyGetSetDef finfo_getters[] = {
    {"bits", entry<bits>, nullptr, "Bits of one number.", nullptr},
    {"eps", entry<float_fact<&FloatFormat::eps>>, nullptr, "1.0 plus this is the next number.", nullptr},
    {"max", entry<float_fact<&FloatFormat::max>>, nullptr, "The largest finite number.", nullptr},
    {"min", entry<float_min>, nullptr, "The smallest finite number.", nullptr},
    {"tiny", entry<float_fact<&FloatFormat::smallest_normal>>, nullptr, "The same as smallest_normal.", nullptr},
    {"smallest_normal", entry<float_fact<&FloatFormat::smallest_normal>>, nullptr,
     "The smallest positive number with all its digits.", nullptr},
    {"resolution", entry<float_fact<&FloatFormat::resolution>>, nullptr, "That of its decimal digits.", nullptr},
    {"dtype", entry<dtype_name>, nullptr, "The name of the dtype.", nullptr},
    {}};
PyGetSetDef iinfo_getters[] = {{"bits", entry<bits>, nullptr, "Bits of one number.", nullptr},
                               {"max", entry<int_max>, nullptr, "The largest number.", nullptr},
                               {"min", entry<int_min>, nullptr, "The smallest number.", nullptr},
                               {"dtype", entry<dtype_name>, nullptr, "The name of the dtype.", nullptr},
                               {}};

/// "finfo(resolution=1e-06, ...)": the facts that `names` lists.
Object repr(PyObject* self, const char* kind, const std::vector<const char*>& names) {
  std::string text = kind;
  for (const char* name : names) {
    Object value = owned(PyObject_GetAttrString(self, name));
    const bool is_number = !PyUnicode_Check(value.get());
    char number[32];
    if (is_number) PyOS_snprintf(number, sizeof number, "%g", PyFloat_AsDouble(value.get()));
    text += std::string(text.back() == '(' ? "" : ", ") + name + "=";
    text += is_number ? number : PyUnicode_AsUTF8(value.get());
  }
  return owned(PyUnicode_FromString((text + ")").c_str()));
}
Object finfo_repr(PyObject* self) {
  return repr(self, "finfo(", {"resolution", "min", "max", "eps", "smallest_normal", "tiny", "dtype"});
}
Object iinfo_repr(PyObject* self) { return repr(self, "iinfo(", {"min", "max", "dtype"}); }

Object reduce(PyObject* self, PyObject*) {
  return owned(Py_BuildValue("(O(O))", Py_TYPE(self), dtype_object(dtype_of(self))));
}
PyMethodDef methods[] = {{"__reduce__", method<reduce>(), METH_NOARGS, nullptr}, {}};

PyTypeObject* create(PyObject* module, const char* name, const char* doc, void* make, void* show,
                     PyGetSetDef* getters) {
  PyType_Slot slots[] = {{Py_tp_doc, const_cast<char*>(doc)},
                         {Py_tp_new, make},
                         {Py_tp_repr, show},
                         {Py_tp_methods, methods},
                         {Py_tp_getset, getters},
                         {0, nullptr}};
  const std::string full = std::string("terra.") + name;
  PyType_Spec spec = {full.c_str(), sizeof(LimitsObject), 0, Py_TPFLAGS_DEFAULT, slots};
  PyTypeObject* type = create_type(spec);
  add_object(module, name, type);
  return type;
}

}  // namespace

bool is_dtype_limits_type(Borrowed object) {
  return object == reinterpret_cast<PyObject*>(finfo_type) || object == reinterpret_cast<PyObject*>(iinfo_type);
}
bool is_dtype_limits(Borrowed object) { return is_dtype_limits_type(reinterpret_cast<PyObject*>(Py_TYPE(object))); }

void create_dtype_limits_types(PyObject* module) {
  finfo_type = create(module, "finfo", "finfo(type=None): the limits of a floating dtype, or of the default one.",
                      slot<finfo_new>(), slot<finfo_repr>(), finfo_getters);
  iinfo_type = create(module, "iinfo", "iinfo(type): the limits of an integer dtype.", slot<iinfo_new>(),
                      slot<iinfo_repr>(), iinfo_getters);
}

}  // namespace terra::hooks
