#include "interpreter_hooks/bindings/calls/op_function.h"

#include <structmember.h>

#include <string>

#include "engine/errors/errors.h"
#include "engine/ops/out_rules.h"
#include "engine/ops/overloads.h"
#include "engine/ops/rules.h"
#include "interpreter_hooks/bindings/autograd/autocast.h"
#include "interpreter_hooks/bindings/calls/former_order.h"
#include "interpreter_hooks/bindings/calls/invoke.h"
#include "interpreter_hooks/bindings/calls/keyword_results.h"
#include "interpreter_hooks/bindings/calls/override.h"
#include "interpreter_hooks/bindings/objects/types.h"
#include "interpreter_hooks/bindings/tensor/tensor_object.h"

namespace terra::hooks {
namespace {

struct OpFunction {
  PyObject_HEAD vectorcallfunc vectorcall;
  OpFunctionSpec* spec;  // owned, kept for ever: these objects live as long as the process
  PyObject* dict;
};

PyTypeObject* function_type = nullptr;
PyTypeObject* method_type = nullptr;

const OpFunctionSpec& spec_of(Borrowed self) { return *reinterpret_cast<OpFunction*>(self)->spec; }

/// "(Tensor, int, dim=str)": the arguments of a call that fits nothing.
std::string given_types(PyObject* const* values, size_t count, PyObject* keywords) {
  std::string text;
  const size_t all = count + (keywords ? PyTuple_GET_SIZE(keywords) : 0);
  for (size_t i = 0; i < all; ++i) {
    if (i) text += ", ";
    if (i >= count) text += std::string(PyUnicode_AsUTF8(PyTuple_GET_ITEM(keywords, i - count))) + "=";
    text += given_type(values[i]);
  }
  return "(" + text + ")";
}

/// A tensor, or the tensors of a tuple.
void check_out(const Op& op, std::string_view name, Borrowed out, std::span<const Arg> args) {
  const auto check_one = [&](Borrowed each) {
    if (!is_tensor(each)) return;
    check_out_history(op, name, args, tensor_of(each));
    check_out_memory(op, args, tensor_of(each));
  };
  check_one(out);
  for (Py_ssize_t i = 0; PyTuple_Check(out) && i < PyTuple_GET_SIZE(out); ++i) check_one(PyTuple_GET_ITEM(out, i));
}

Object run(const OpFunctionSpec& spec, const Parameters& parameters, Arguments& arguments) {
  if (arguments.out) [[unlikely]] {
    check_out(parameters.op, spec.name, arguments.out, arguments.args());
    arguments.take_dtype_of_out();
  }
  std::optional<DeviceScope> scope;
  if (arguments.device) [[unlikely]] {
    arguments.take_device();
    scope.emplace(*arguments.device);
  }
  const Invocation call = {parameters.op,       spec.in_place,          arguments.args(),
                           arguments.sources(), arguments.positional(), spec.name.c_str()};
  const bool casts = casts_operands(parameters.op, spec.in_place) && !arguments.out;
  Object result = casts ? invoke_autocast(call) : invoke(call);
  if (arguments.out || arguments.requires_grad) [[unlikely]]
    return apply_keyword_results(std::move(result), arguments.out, arguments.requires_grad,
                                 {parameters.op, spec.name.c_str()});
  return result;
}

/// The first op that takes the tensors as tensors; where there is none, the first that takes some as numbers, the last
/// resort being those that are there for tensors that are none.
Object choose(const OpFunctionSpec& spec, PyObject* const* values, size_t count, PyObject* keywords) {
  for (const bool tensors_stay : {true, false})
    for (const Parameters* candidate : spec.candidates) {
      if (tensors_stay && candidate->op.is(kLastResort)) continue;
      Arguments arguments(*candidate, nullptr, spec.as_method);
      if (arguments.fits(values, count, keywords, tensors_stay)) return run(spec, *candidate, arguments);
    }
  std::string text = spec.name + "() received an invalid combination of arguments - got " +
                     given_types(values, count, keywords) + ", but expected one of:";
  for (const Parameters* candidate : spec.candidates) text += "\n * " + signature_of(candidate->op);
  throw Error(ErrorKind::TypeError, text);
}

Object parse_and_run(const OpFunctionSpec& spec, PyObject* const* values, size_t count, PyObject* keywords) {
  Arguments arguments(*spec.candidates[0], spec.name.c_str(), spec.as_method);
  arguments.parse(values, count, keywords);
  return run(spec, *spec.candidates[0], arguments);
}

/// More positional arguments than the op takes: the former order, or an error.
[[gnu::noinline]] Object run_with_too_many(const OpFunctionSpec& spec, PyObject* const* values, size_t count,
                                           PyObject* keywords) {
  Reordered now;
  if (!from_former_order(spec, values, count, keywords, now)) return parse_and_run(spec, values, count, keywords);
  return parse_and_run(spec, now.values.data(), now.count, now.keywords.get());
}

/// Takes the `inplace` of a functional out of the arguments: by keyword, or as one more positional than the op has.
Object call_with_inplace(const OpFunctionSpec& spec, Borrowed function, PyObject* const* values, size_t count,
                         PyObject* keywords) {
  const Parameters& parameters = *spec.candidates[0];
  std::vector<PyObject*> rest(values, values + count);
  Borrowed flag = nullptr;
  if (count == parameters.positional + 1 && parameters.varargs < 0) {
    flag = rest.back();
    rest.pop_back();
  }
  Object names;
  if (keywords) {
    Object list = owned(PyList_New(0));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(keywords); ++i) {
      Borrowed name = PyTuple_GET_ITEM(keywords, i);
      if (PyUnicode_CompareWithASCIIString(name, "inplace") == 0) {
        flag = values[count + i];
        continue;
      }
      succeeded(PyList_Append(list.get(), name));
      rest.push_back(values[count + i]);
    }
    if (PyList_GET_SIZE(list.get()) > 0) names = owned(PyList_AsTuple(list.get()));
  }
  OpFunctionSpec plain = spec;
  plain.takes_inplace = false;
  plain.in_place = flag && succeeded(PyObject_IsTrue(flag));
  const size_t positional = rest.size() - (names ? PyTuple_GET_SIZE(names.get()) : 0);
  return call_op(plain, function, rest.data(), positional, names.get());
}

PyObject* op_vectorcall(PyObject* self, PyObject* const* values, size_t nargsf, PyObject* keywords) noexcept {
  try {
    return call_op(spec_of(self), self, values, static_cast<size_t>(PyVectorcall_NARGS(nargsf)), keywords).release();
  } catch (...) {
    translate_exception();
    return nullptr;
  }
}

Object method_get(PyObject* self, PyObject* object, PyObject*) {
  return !object || object == Py_None ? Object::share(self) : owned(PyMethod_New(self, object));
}

Object function_repr(PyObject* self) {
  const OpFunctionSpec& spec = spec_of(self);
  return owned(PyUnicode_FromFormat(
      spec.as_method ? "<method '%s' of 'terra.Tensor' objects>" : "<built-in function %s>", spec.name.c_str()));
}
Object function_name(PyObject* self, void*) { return owned(PyUnicode_FromString(spec_of(self).name.c_str())); }
Object function_qualname(PyObject* self, void*) {
  const OpFunctionSpec& spec = spec_of(self);
  return owned(PyUnicode_FromFormat(spec.as_method ? "Tensor.%s" : "%s", spec.name.c_str()));
}
Object function_doc(PyObject* self, void*) {
  std::string text;
  for (const Parameters* p : spec_of(self).candidates)
    text += (text.empty() ? "" : "\n\n") + spec_of(self).name + signature_of(p->op) + "\n" + std::string(p->op.doc);
  return owned(PyUnicode_FromString(text.c_str()));
}
/// Pickled by name: methods as attributes of Tensor, functions as attributes of their module. That of a module of ops
/// finds its functions by what is left of their names.
Object function_reduce(PyObject* self, PyObject*) {
  const std::string& name = spec_of(self).name;
  if (name.starts_with(kModuleOfOps) && !spec_of(self).as_method) {
    Object module = owned(PyImport_ImportModule("terra.linalg"));
    Object find = owned(PyObject_GetAttrString(module.get(), "_function_named"));
    return owned(Py_BuildValue("(O(s))", find.get(), name.c_str() + kModuleOfOps.size()));
  }
  if (!spec_of(self).as_method) return function_name(self, nullptr);
  return owned(Py_BuildValue("(O(Os))", PyDict_GetItemString(PyEval_GetBuiltins(), "getattr"), tensor_type,
                             spec_of(self).name.c_str()));
}

PyMethodDef methods[] = {{"__reduce__", method<function_reduce>(), METH_NOARGS, nullptr}, {}};
PyGetSetDef getters[] = {{"__name__", entry<function_name>, nullptr, nullptr, nullptr},
                         {"__qualname__", entry<function_qualname>, nullptr, nullptr, nullptr},
                         {"__doc__", entry<function_doc>, nullptr, nullptr, nullptr},
                         {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
                         {}};
PyMemberDef members[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(OpFunction, vectorcall), READONLY, nullptr},
                         {"__dictoffset__", T_PYSSIZET, offsetof(OpFunction, dict), READONLY, nullptr},
                         {}};

void function_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  Py_CLEAR(reinterpret_cast<OpFunction*>(self)->dict);
  delete reinterpret_cast<OpFunction*>(self)->spec;
  type->tp_free(self);
  Py_DECREF(type);
}

PyTypeObject* create(const char* name, bool binds) {
  std::vector<PyType_Slot> slots = {{Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                                    {Py_tp_dealloc, reinterpret_cast<void*>(function_dealloc)},
                                    {Py_tp_repr, slot<function_repr>()},
                                    {Py_tp_methods, methods},
                                    {Py_tp_getset, getters},
                                    {Py_tp_members, members}};
  if (binds) slots.push_back({Py_tp_descr_get, slot<method_get>()});
  slots.push_back({0, nullptr});
  unsigned flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION;
  if (binds) flags |= Py_TPFLAGS_METHOD_DESCRIPTOR;
  PyType_Spec spec = {name, sizeof(OpFunction), 0, flags, slots.data()};
  return create_type(spec);
}

}  // namespace

Object call_op(const OpFunctionSpec& spec, Borrowed function, PyObject* const* values, size_t count,
               PyObject* keywords) {
  PyTypeObject* subclass = nullptr;
  const size_t all = count + (keywords ? PyTuple_GET_SIZE(keywords) : 0);
  if (may_be_overridden(values, all)) [[unlikely]] {
    const bool alone = spec.as_method && spec.candidates[0]->op.sig().params.size() == 1;
    if (Object result =
            overridden(function, values, count, keywords, alone && count > 0 ? Told::Self : Told::Overriding))
      return result;
    subclass = result_subclass(values, all);
  }
  if (spec.takes_inplace && (keywords || count > spec.candidates[0]->positional)) [[unlikely]]
    return call_with_inplace(spec, function, values, count, keywords);
  Object result;
  if (spec.candidates.size() == 1) [[likely]] {
    const Parameters& parameters = *spec.candidates[0];
    if (count > parameters.positional && parameters.varargs < 0) [[unlikely]]
      result = run_with_too_many(spec, values, count, keywords);
    else
      result = parse_and_run(spec, values, count, keywords);
  } else {
    result = choose(spec, values, count, keywords);
  }
  return subclass ? as_subclass(std::move(result), subclass) : std::move(result);
}

Object make_op_function(OpFunctionSpec spec) {
  PyTypeObject* type = spec.as_method ? method_type : function_type;
  Object self = owned(type->tp_alloc(type, 0));
  auto* function = reinterpret_cast<OpFunction*>(self.get());
  function->vectorcall = op_vectorcall;
  function->spec = new OpFunctionSpec(std::move(spec));
  return self;
}

const Parameters& parameters_of(const Op& op) {
  static auto& known = *new std::vector<const Parameters*>;
  const auto id = static_cast<size_t>(op.id);
  if (id >= known.size()) known.resize(id + 1);
  if (!known[id]) known[id] = new Parameters(op);
  return *known[id];
}

bool is_op_method(Borrowed object) { return Py_TYPE(object) == method_type; }
bool is_op_function(Borrowed object) { return Py_TYPE(object) == function_type || Py_TYPE(object) == method_type; }

void create_op_function_types(PyObject* module) {
  function_type = create("terra.op_function", false);
  method_type = create("terra.op_method", true);
  function_type->tp_name = "builtin_function_or_method";
  method_type->tp_name = "method_descriptor";
  add_object(module, "OpFunction", function_type);
  add_object(module, "OpMethod", method_type);
}

}  // namespace terra::hooks
