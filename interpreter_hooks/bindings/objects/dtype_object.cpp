#include "interpreter_hooks/bindings/objects/dtype_object.h"

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "engine/errors/errors.h"
#include "interpreter_hooks/bindings/objects/default_device.h"
#include "interpreter_hooks/bindings/objects/types.h"
#include "interpreter_hooks/bindings/tensor/memory_format.h"

namespace terra::hooks {
namespace {

/// What Python is told of a dtype.
struct DTypeFacts {
  std::string_view name;
  size_t bytes;
  bool is_floating, is_complex, is_signed;
};

/// Dtypes of PyTorch that are names here: programs list them and look them up, and tensors of them are refused.
constexpr DTypeFacts dtypes_without_tensors[] = {
    {"float8_e4m3fn", 1, true, false, true},  {"float8_e4m3fnuz", 1, true, false, true},
    {"float8_e5m2", 1, true, false, true},    {"float8_e5m2fnuz", 1, true, false, true},
    {"float8_e8m0fnu", 1, true, false, true}, {"float4_e2m1fn_x2", 1, true, false, true},
    {"quint8", 1, false, false, false},       {"qint8", 1, false, false, true},
    {"qint32", 4, false, false, true},        {"quint4x2", 1, false, false, false},
    {"quint2x4", 1, false, false, false}};

struct DTypeObject {
  PyObject_HEAD DType value;
  const DTypeFacts* facts;  ///< of dtypes without tensors, whose value means nothing
};
PyTypeObject* dtype_type = nullptr;
PyObject* dtype_objects[kDTypeCount];

DTypeObject* dtype(Borrowed self) { return reinterpret_cast<DTypeObject*>(self); }

/// For what asks for elements.
DType value_of(Borrowed self) {
  const DTypeFacts* facts = dtype(self)->facts;
  check_kind(!facts, ErrorKind::NotImplementedError,
             "torch.{} is a name only: there are no tensors of it in Terra. Take a wider dtype that has some.",
             facts ? facts->name : "");
  return dtype(self)->value;
}

DTypeFacts facts_of(Borrowed self) {
  if (const DTypeFacts* facts = dtype(self)->facts) return *facts;
  const DType t = dtype(self)->value;
  return {terra::name_of(t), size_of(t), is_floating(t), is_complex(t), is_signed(t)};
}

Object text(std::string_view s) { return owned(PyUnicode_FromStringAndSize(s.data(), s.size())); }

Object dtype_repr(PyObject* self) { return text(std::string("torch.") + std::string(facts_of(self).name)); }
/// Pickled by name, so that loading finds the one object.
Object dtype_reduce(PyObject* self, PyObject*) { return text(facts_of(self).name); }
Object dtype_itemsize(PyObject* self, void*) { return owned(PyLong_FromSize_t(facts_of(self).bytes)); }
Object dtype_is_floating(PyObject* self, void*) { return owned(PyBool_FromLong(facts_of(self).is_floating)); }
Object dtype_is_complex(PyObject* self, void*) { return owned(PyBool_FromLong(facts_of(self).is_complex)); }
Object dtype_is_signed(PyObject* self, void*) { return owned(PyBool_FromLong(facts_of(self).is_signed)); }

Object dtype_to_real(PyObject* self, PyObject*) { return Object::share(dtype_object(real_dtype_of(value_of(self)))); }
Object dtype_to_complex(PyObject* self, PyObject*) {
  const DType dtype = value_of(self);
  check(!is_integral(dtype, true), "Unknown Complex ScalarType for {}", scalar_type_name(dtype));
  return Object::share(dtype_object(complex_dtype_of(dtype)));
}

PyMethodDef dtype_methods[] = {
    {"__reduce__", method<dtype_reduce>(), METH_NOARGS, nullptr},
    {"to_real", method<dtype_to_real>(), METH_NOARGS, "The dtype of the parts of complex numbers."},
    {"to_complex", method<dtype_to_complex>(), METH_NOARGS, "The dtype of complex numbers with such parts."},
    {}};
PyGetSetDef dtype_getters[] = {
    {"itemsize", entry<dtype_itemsize>, nullptr, "Bytes of one element.", nullptr},
    {"is_floating_point", entry<dtype_is_floating>, nullptr, "True for those of real numbers with fractions.", nullptr},
    {"is_complex", entry<dtype_is_complex>, nullptr, "True for those of complex numbers.", nullptr},
    {"is_signed", entry<dtype_is_signed>, nullptr, "True when there are negative values.", nullptr},
    {}};

/// Other names under which dtypes are known.
constexpr struct {
  const char* name;
  DType dtype;
} dtype_names[] = {
    {"float", DType::F32},       {"double", DType::F64},     {"half", DType::F16},      {"long", DType::I64},
    {"int", DType::I32},         {"short", DType::I16},      {"bool", DType::Bool},     {"float32", DType::F32},
    {"float64", DType::F64},     {"float16", DType::F16},    {"bfloat16", DType::BF16}, {"int64", DType::I64},
    {"int32", DType::I32},       {"int16", DType::I16},      {"int8", DType::I8},       {"uint8", DType::U8},
    {"uint16", DType::U16},      {"uint32", DType::U32},     {"uint64", DType::U64},    {"chalf", DType::C32},
    {"complex32", DType::C32},   {"cfloat", DType::C64},     {"cdouble", DType::C128},  {"complex64", DType::C64},
    {"complex128", DType::C128}, {"bcomplex32", DType::BC32}};

// ---- device ----

struct DeviceObject {
  PyObject_HEAD PyObject* kind;  // str
  long long index;               // -1: none
};
PyTypeObject* device_type = nullptr;
PyObject* the_cpu = nullptr;
constexpr std::string_view known_devices[] = {"cpu", "cuda", "meta", "mps",          "xpu",
                                              "xla", "hpu",  "mtia", "privateuseone"};

DeviceObject* device(Borrowed self) { return reinterpret_cast<DeviceObject*>(self); }

/// Devices are few, and live as long as the process.
Object make_device(std::string_view kind, long long index) {
  static auto& made = *new std::map<std::pair<std::string, long long>, PyObject*>;
  bool known = false;
  for (std::string_view k : known_devices) known |= k == kind;
  check(known,
        "Expected one of cpu, cuda, meta, mps, xpu, xla, hpu, mtia, privateuseone device type at start of device "
        "string: {}",
        kind);
  PyObject*& self = made[{std::string(kind), index}];
  if (!self) {
    self = owned(device_type->tp_alloc(device_type, 0)).release();
    device(self)->kind = text(kind).release();
    device(self)->index = index;
  }
  return Object::share(self);
}

Object device_from_string(std::string_view whole) {
  const size_t colon = whole.find(':');
  if (colon == std::string_view::npos) return make_device(whole, -1);
  const std::string digits(whole.substr(colon + 1));
  check(!digits.empty() && digits.find_first_not_of("0123456789") == std::string::npos && digits.size() < 10,
        "Invalid device string: '{}'", whole);
  return make_device(whole.substr(0, colon), std::stoll(digits));
}

std::string_view utf8(Borrowed text) {
  Py_ssize_t n = 0;
  const char* s = PyUnicode_AsUTF8AndSize(text, &n);
  if (!s) throw PythonError{};
  return {s, static_cast<size_t>(n)};
}

Object device_new(PyTypeObject*, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"type", "index", nullptr};
  PyObject *kind = nullptr, *index = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O", const_cast<char**>(names), &kind, &index)) throw PythonError{};
  if (Py_TYPE(kind) == device_type) return Object::share(kind);
  if (PyLong_Check(kind)) return make_device("cuda", PyLong_AsLongLong(kind));
  if (!PyUnicode_Check(kind))
    raise(PyExc_TypeError, "device(): argument 'type' (position 1) must be str, not %s", Py_TYPE(kind)->tp_name);
  if (index == Py_None) return device_from_string(utf8(kind));
  const long long number = PyLong_AsLongLong(index);
  if (number == -1 && PyErr_Occurred()) throw PythonError{};
  check(number >= 0, "Device index must not be negative");
  return make_device(utf8(kind), number);
}

void device_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  Py_CLEAR(device(self)->kind);
  type->tp_free(self);
  Py_DECREF(type);
}

Object device_repr(PyObject* self) {
  DeviceObject* d = device(self);
  return owned(d->index < 0 ? PyUnicode_FromFormat("device(type='%U')", d->kind)
                            : PyUnicode_FromFormat("device(type='%U', index=%lld)", d->kind, d->index));
}
Object device_str(PyObject* self) {
  DeviceObject* d = device(self);
  return d->index < 0 ? Object::share(d->kind) : owned(PyUnicode_FromFormat("%U:%lld", d->kind, d->index));
}
Object device_compare(PyObject* a, PyObject* b, int op) {
  if (Py_TYPE(b) != device_type || (op != Py_EQ && op != Py_NE)) return Object::share(Py_NotImplemented);
  const bool same = device(a)->index == device(b)->index && PyUnicode_Compare(device(a)->kind, device(b)->kind) == 0;
  return owned(PyBool_FromLong(same == (op == Py_EQ)));
}
Py_hash_t device_hash(PyObject* self) { return PyObject_Hash(device(self)->kind) ^ device(self)->index; }
Object device_kind(PyObject* self, void*) { return Object::share(device(self)->kind); }
Object device_index(PyObject* self, void*) {
  return device(self)->index < 0 ? Object::share(Py_None) : owned(PyLong_FromLongLong(device(self)->index));
}
Object device_reduce(PyObject* self, PyObject*) {
  return owned(Py_BuildValue("(O(N))", device_type, device_str(self).release()));
}
Object device_enter(PyObject* self, PyObject*) {
  enter_default_device(device_from(self));
  return Object::share(self);
}
Object device_exit(PyObject*, PyObject*) {
  leave_default_device();
  return Object::share(Py_None);
}

PyMethodDef device_methods[] = {{"__reduce__", method<device_reduce>(), METH_NOARGS, nullptr},
                                {"__enter__", method<device_enter>(), METH_NOARGS, nullptr},
                                {"__exit__", method<device_exit>(), METH_VARARGS, nullptr},
                                {}};
PyGetSetDef device_getters[] = {{"type", entry<device_kind>, nullptr, "\"cpu\", \"cuda\", ...", nullptr},
                                {"index", entry<device_index>, nullptr, "Which one of its kind, or None.", nullptr},
                                {}};

// ---- layout and memory_format: names, of which the engine knows the meaning ----
//
// A layout of tensors that the package makes is of a type of its own, to which the package gives a __torch_function__:
// functions that make tensors are asked for one there.

struct NamedObject {
  PyObject_HEAD const char* name;
};
PyTypeObject *layout_type = nullptr, *sparse_layout_type = nullptr, *memory_format_type = nullptr;
PyObject* the_strided = nullptr;
constexpr const char* layouts_of_package[] = {"sparse_coo", "sparse_csr", "sparse_csc",
                                              "sparse_bsr", "sparse_bsc", "jagged"};
constexpr const char* memory_formats[] = {"contiguous_format", "preserve_format", "channels_last", "channels_last_3d"};

const char* name_in(PyObject* self) { return reinterpret_cast<NamedObject*>(self)->name; }
Object named_repr(PyObject* self) { return owned(PyUnicode_FromFormat("torch.%s", name_in(self))); }
Object named_reduce(PyObject* self, PyObject*) { return text(name_in(self)); }
PyMethodDef named_methods[] = {{"__reduce__", method<named_reduce>(), METH_NOARGS, nullptr}, {}};

PyTypeObject* create_named_type(const char* name, PyTypeObject* base = nullptr) {
  PyType_Slot slots[] = {{Py_tp_repr, slot<named_repr>()}, {Py_tp_methods, named_methods}, {0, nullptr}};
  const unsigned flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | (base ? 0 : Py_TPFLAGS_BASETYPE);
  PyType_Spec spec = {name, sizeof(NamedObject), 0, flags, slots};
  return create_type(spec, base);
}

PyObject* add_named(PyObject* module, PyTypeObject* type, const char* name) {
  Object object = owned(type->tp_alloc(type, 0));
  reinterpret_cast<NamedObject*>(object.get())->name = name;
  add_object(module, name, object.get());
  return object.get();  // the module keeps it
}

}  // namespace

Borrowed dtype_object(DType dtype) { return dtype_objects[static_cast<int>(dtype)]; }

bool is_dtype(Borrowed object) { return Py_TYPE(object) == dtype_type; }

std::optional<DType> dtype_from(Borrowed object) {
  if (Py_TYPE(object) == dtype_type) return value_of(object);
  if (object == reinterpret_cast<PyObject*>(&PyFloat_Type)) return DType::F64;
  if (object == reinterpret_cast<PyObject*>(&PyLong_Type)) return DType::I64;
  if (object == reinterpret_cast<PyObject*>(&PyBool_Type)) return DType::Bool;
  if (object == reinterpret_cast<PyObject*>(&PyComplex_Type)) return DType::C128;
  return std::nullopt;
}

bool is_device(Borrowed object) { return Py_TYPE(object) == device_type; }
bool is_device_type(Borrowed object) { return object == reinterpret_cast<PyObject*>(device_type); }
bool is_memory_format(Borrowed object) { return Py_TYPE(object) == memory_format_type; }
std::string_view memory_format_name(Borrowed format) { return name_in(format); }
std::optional<MemoryFormat> memory_format_from(Borrowed value, const char* function) {
  if (!value || value == Py_None) return std::nullopt;
  if (!is_memory_format(value))
    raise(PyExc_TypeError, "%s(): argument 'memory_format' must be torch.memory_format, not %s", function,
          Py_TYPE(value)->tp_name);
  return memory_format_named(memory_format_name(value));
}
Object device_object(Device device) {
  return device.is_cpu()
             ? Object::share(the_cpu)
             : make_device(kDeviceKindNames[static_cast<int>(device.kind)], device.is_meta() ? -1 : device.index);
}
Borrowed strided_layout() { return the_strided; }
bool is_layout(Borrowed object) { return PyType_IsSubtype(Py_TYPE(object), layout_type); }

Device device_from(Borrowed object) {
  if (object == Py_None) return current_device();
  if (object == the_cpu) return {};
  Object made;
  if (PyUnicode_Check(object))
    made = device_from_string(utf8(object));
  else if (PyLong_Check(object) && !PyBool_Check(object))
    made = make_device("cuda", PyLong_AsLongLong(object));
  else if (is_device(object))
    made = Object::share(object);
  else
    raise(PyExc_TypeError, "a device must be a device, a str or an int, not %s", Py_TYPE(object)->tp_name);
  const std::string_view kind = utf8(device(made.get())->kind);
  if (kind == "meta") return kMetaDevice;
  if (kind != "cpu")
    raise(PyExc_RuntimeError, "There is no device '%U' here: Terra was built for the CPU. Use device 'cpu'.",
          device_str(made.get()).get());
  return {};
}

void create_dtype_types(PyObject* module) {
  PyType_Slot dtype_slots[] = {{Py_tp_doc, const_cast<char*>("The type of a tensor's elements.")},
                               {Py_tp_repr, slot<dtype_repr>()},
                               {Py_tp_methods, dtype_methods},
                               {Py_tp_getset, dtype_getters},
                               {0, nullptr}};
  PyType_Spec dtype_spec = {"terra.dtype", sizeof(DTypeObject), 0,
                            Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, dtype_slots};
  dtype_type = create_type(dtype_spec);
  dtype_type->tp_name = "dtype";
  for (int i = 0; i < kDTypeCount; ++i) {
    dtype_objects[i] = owned(dtype_type->tp_alloc(dtype_type, 0)).release();
    reinterpret_cast<DTypeObject*>(dtype_objects[i])->value = static_cast<DType>(i);
  }
  add_object(module, "dtype", dtype_type);
  for (const auto& row : dtype_names) add_object(module, row.name, dtype_object(row.dtype));
  for (const DTypeFacts& facts : dtypes_without_tensors) {
    Object object = owned(dtype_type->tp_alloc(dtype_type, 0));
    dtype(object.get())->facts = &facts;
    add_object(module, facts.name.data(), object.get());
  }

  PyType_Slot device_slots[] = {{Py_tp_doc, const_cast<char*>("Where a tensor's memory is.")},
                                {Py_tp_new, slot<device_new>()},
                                {Py_tp_dealloc, reinterpret_cast<void*>(device_dealloc)},
                                {Py_tp_repr, slot<device_repr>()},
                                {Py_tp_str, slot<device_str>()},
                                {Py_tp_richcompare, slot<device_compare>()},
                                {Py_tp_hash, slot<device_hash>()},
                                {Py_tp_methods, device_methods},
                                {Py_tp_getset, device_getters},
                                {0, nullptr}};
  PyType_Spec device_spec = {"terra.device", sizeof(DeviceObject), 0, Py_TPFLAGS_DEFAULT, device_slots};
  device_type = create_type(device_spec);
  the_cpu = make_device("cpu", -1).get();
  add_object(module, "device", device_type);

  layout_type = create_named_type("terra.layout");
  add_object(module, "layout", layout_type);
  the_strided = add_named(module, layout_type, "strided");
  sparse_layout_type = create_named_type("terra.layout", layout_type);
  for (const char* name : layouts_of_package) add_named(module, sparse_layout_type, name);
  memory_format_type = create_named_type("terra.memory_format");
  add_object(module, "memory_format", memory_format_type);
  for (const char* name : memory_formats) add_named(module, memory_format_type, name);
}

}  // namespace terra::hooks
