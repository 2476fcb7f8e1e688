#include "interpreter_hooks/recursion/module.h"

#include "engine/errors/errors.h"
#include "interpreter_hooks/bindings/entry.h"
#include "interpreter_hooks/bindings/objects/dtype_object.h"
#include "interpreter_hooks/bindings/tensor/tensor_object.h"
#include "interpreter_hooks/recursion/python_objects.h"
#include "recursive/ir/invoke_op.h"
#include "recursive/runtime/recursion.h"

namespace terra::capture {
namespace {

using hooks::Borrowed;
using hooks::Object;
using hooks::owned;
using recursive::Recursion;

// ---- C++ objects in capsules ---------------------------------------------------------------------------------------

template <class T>
constexpr const char* kCapsule = nullptr;
template <>
constexpr const char* kCapsule<SubGraph> = "terra.recursive.SubGraph";
template <>
constexpr const char* kCapsule<HostSymbol> = "terra.recursive.HostSymbol";
template <>
constexpr const char* kCapsule<std::shared_ptr<Recursion>> = "terra.recursive.Recursion";

template <class T>
Object capsule_of(T value) {
  auto held = std::make_unique<T>(std::move(value));
  const auto drop = [](PyObject* capsule) { delete static_cast<T*>(PyCapsule_GetPointer(capsule, kCapsule<T>)); };
  Object capsule = owned(PyCapsule_New(held.get(), kCapsule<T>, drop));
  held.release();
  return capsule;
}

template <class T>
T& in_capsule(Borrowed capsule) {
  void* held = PyCapsule_GetPointer(capsule, kCapsule<T>);
  if (!held) throw hooks::PythonError{};
  return *static_cast<T*>(held);
}

// ---- arguments -----------------------------------------------------------------------------------------------------

template <class F>
void for_each_item(Borrowed sequence, F&& f) {
  const Object fast = owned(PySequence_Fast(sequence, "a list or tuple was expected"));
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(fast.get()); ++i) f(PySequence_Fast_GET_ITEM(fast.get(), i));
}

Dims sizes_in(Borrowed sequence) {
  Dims sizes;
  for_each_item(sequence, [&](Borrowed item) {
    const int64_t size = PyLong_AsLongLong(item);
    if (size == -1 && PyErr_Occurred()) throw hooks::PythonError{};
    sizes.push_back(size);
  });
  return sizes;
}

DType dtype_in(Borrowed object) {
  const auto dtype = hooks::dtype_from(object);
  if (!dtype) hooks::raise(PyExc_TypeError, "a dtype was expected, not %R", object);
  return *dtype;
}

std::vector<Tensor> tensors_in(Borrowed results) {
  std::vector<Tensor> tensors;
  for_each_item(results, [&](Borrowed item) {
    if (!hooks::is_tensor(item))
      hooks::raise(PyExc_TypeError, "a SubGraph returns tensors, not %s", Py_TYPE(item)->tp_name);
    tensors.push_back(hooks::tensor_of(item));
  });
  return tensors;
}

Object list_of(const std::vector<Tensor>& tensors) {
  Object list = owned(PyList_New(0));
  for (const Tensor& t : tensors) hooks::succeeded(PyList_Append(list.get(), Object::steal(hooks::wrap(t)).get()));
  return list;
}

Way way_of(Borrowed function) {
  return [function] { return tensors_in(owned(PyObject_CallNoArgs(function)).get()); };
}

Scalar::Kind kind_in(std::string_view kind) {
  if (kind == "bool") return Scalar::Kind::Bool;
  if (kind == "int") return Scalar::Kind::Int;
  if (kind == "float") return Scalar::Kind::Float;
  fail(ErrorKind::TypeError, "a number of a structure is a bool, int or float, not a '{}'", kind);
}

graph::ValueMeta meta_in(std::string_view kind) {
  return kind == "handle" ? recursive::host_meta<void*>() : graph::ValueMeta::number(kind_in(kind));
}

void parse(PyObject* args, const char* format, auto*... out) {
  if (!PyArg_ParseTuple(args, format, out...)) throw hooks::PythonError{};
}

// ---- writing -------------------------------------------------------------------------------------------------------

Object recursive_sub_graph(PyObject*, PyObject* args) {
  const char* name;
  parse(args, "s", &name);
  return capsule_of(SubGraph(name));
}

/// (graph, kind, name)
Object recursive_host_input(PyObject*, PyObject* args) {
  PyObject* graph;
  const char *kind, *name;
  parse(args, "Oss", &graph, &kind, &name);
  SubGraph& g = in_capsule<SubGraph>(graph);
  return capsule_of(std::string_view(kind) == "handle" ? g.handle(name) : g.number(kind_in(kind), name));
}

/// (graph, size, dtype, name)
Object recursive_input(PyObject*, PyObject* args) {
  PyObject *graph, *size, *dtype;
  const char* name;
  parse(args, "OOOs", &graph, &size, &dtype, &name);
  return Object::steal(hooks::wrap(in_capsule<SubGraph>(graph).input(dtype_in(dtype), sizes_in(size), name)));
}

/// (graph, size, dtype)
Object recursive_output(PyObject*, PyObject* args) {
  PyObject *graph, *size, *dtype;
  parse(args, "OOO", &graph, &size, &dtype);
  in_capsule<SubGraph>(graph).output(dtype_in(dtype), sizes_in(size));
  return Object::share(Py_None);
}

/// (graph, body)
Object recursive_define(PyObject*, PyObject* args) {
  PyObject *graph, *body;
  parse(args, "OO", &graph, &body);
  in_capsule<SubGraph>(graph).define(way_of(body));
  return Object::share(Py_None);
}

/// (function, kind of result)
Object recursive_host_function(PyObject*, PyObject* args) {
  PyObject* function;
  const char* kind;
  parse(args, "Os", &function, &kind);
  meta_in(kind);
  return owned(PyLong_FromUnsignedLong(add_python_function(function, kind)));
}

/// (name, number of a function, kind of result, operands)
Object recursive_read(PyObject*, PyObject* args) {
  const char *name, *kind;
  unsigned number;
  PyObject* operands;
  parse(args, "sIsO", &name, &number, &kind, &operands);
  std::vector<HostSymbol> symbols;
  std::vector<graph::ValueMeta> metas;  // a Python function takes what it is given
  for_each_item(operands, [&](Borrowed item) {
    symbols.push_back(in_capsule<HostSymbol>(item));
    metas.push_back(symbols.back().meta());
  });
  return capsule_of(recursive::read_host(name, number, metas, meta_in(kind), symbols));
}

/// (graph, operands: tensors and symbols)
Object recursive_invoke(PyObject*, PyObject* args) {
  PyObject *graph, *operands;
  parse(args, "OO", &graph, &operands);
  std::vector<Operand> given;
  for_each_item(operands, [&](Borrowed item) {
    if (hooks::is_tensor(item))
      given.emplace_back(hooks::tensor_of(item));
    else
      given.emplace_back(in_capsule<HostSymbol>(item));
  });
  return list_of(InvokeOp(in_capsule<SubGraph>(graph))(given));
}

Object recursive_item(PyObject*, PyObject* tensor) {
  check_kind(hooks::is_tensor(tensor), ErrorKind::TypeError, "item() takes a tensor of the body, not a '{}'",
             Py_TYPE(tensor)->tp_name);
  return capsule_of(item(hooks::tensor_of(tensor)));
}

/// (truth, if_true, if_false)
Object recursive_cond(PyObject*, PyObject* args) {
  PyObject *truth, *if_true, *if_false;
  parse(args, "OOO", &truth, &if_true, &if_false);
  return list_of(cond(in_capsule<HostSymbol>(truth), way_of(if_true), way_of(if_false)));
}

/// (number, ways)
Object recursive_switch(PyObject*, PyObject* args) {
  PyObject *number, *ways;
  parse(args, "OO", &number, &ways);
  std::vector<Way> all;
  for_each_item(ways, [&](Borrowed item) { all.push_back(way_of(item)); });
  return list_of(switch_case(in_capsule<HostSymbol>(number), all));
}

Object recursive_as_tensor(PyObject*, PyObject* symbol) {
  return Object::steal(hooks::wrap(in_capsule<HostSymbol>(symbol).as_tensor()));
}
Object recursive_as_number(PyObject*, PyObject* symbol) {
  return Object::steal(hooks::wrap(in_capsule<HostSymbol>(symbol).as_number()));
}
Object recursive_print(PyObject*, PyObject* graph) {
  const std::string text = recursive::print(in_capsule<SubGraph>(graph));
  return owned(PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size())));
}

// ---- running -------------------------------------------------------------------------------------------------------

Object recursive_compile(PyObject*, PyObject* graph) {
  return capsule_of(Recursion::make(in_capsule<SubGraph>(graph)));
}

/// (recursion, operands of many invocations, many calls at once): lists of results.
Object recursive_run(PyObject*, PyObject* args) {
  PyObject *recursion, *invocations;
  int batched;
  parse(args, "OOp", &recursion, &invocations, &batched);
  let_handles_own_objects();
  std::vector<std::vector<graph::HostValue>> operands;
  for_each_item(invocations, [&](Borrowed one) {
    auto& given = operands.emplace_back();
    for_each_item(one, [&](Borrowed item) { given.push_back(host_value_of(item)); });
  });
  if (operands.empty()) return owned(PyList_New(0));
  const auto results = in_capsule<std::shared_ptr<Recursion>>(recursion)->invoke_all(operands, {batched != 0});
  Object all = owned(PyList_New(0));
  for (const auto& of_one : results) hooks::succeeded(PyList_Append(all.get(), list_of(of_one).get()));
  return all;
}

/// invocations, calls, batches, and why paths run one call at a time.
Object recursive_counts(PyObject*, PyObject* recursion) {
  const recursive::RecursionCounts& c = in_capsule<std::shared_ptr<Recursion>>(recursion)->counts();
  const Object why = owned(PyList_New(0));
  for (const std::string& s : c.one_by_one)
    hooks::succeeded(PyList_Append(why.get(), owned(PyUnicode_FromString(s.c_str())).get()));
  return owned(Py_BuildValue("(KKKO)", c.invocations, c.calls, c.batches, why.get()));
}

}  // namespace

PyMethodDef recursive_methods[] = {
    {"recursive_sub_graph", hooks::method<recursive_sub_graph>(), METH_VARARGS, "A SubGraph."},
    {"recursive_host_input", hooks::method<recursive_host_input>(), METH_VARARGS, "Its next input, of the structure."},
    {"recursive_input", hooks::method<recursive_input>(), METH_VARARGS, "Its next input, a tensor."},
    {"recursive_output", hooks::method<recursive_output>(), METH_VARARGS, "Its next result."},
    {"recursive_define", hooks::method<recursive_define>(), METH_VARARGS, "Gives it a body."},
    {"recursive_host_function", hooks::method<recursive_host_function>(), METH_VARARGS, "Numbers a function."},
    {"recursive_read", hooks::method<recursive_read>(), METH_VARARGS, "Reads the structure."},
    {"recursive_invoke", hooks::method<recursive_invoke>(), METH_VARARGS, "Calls a SubGraph."},
    {"recursive_item", hooks::method<recursive_item>(), METH_O, "The number that a tensor holds, for the host."},
    {"recursive_cond", hooks::method<recursive_cond>(), METH_VARARGS, "One of two ways."},
    {"recursive_switch", hooks::method<recursive_switch>(), METH_VARARGS, "One of several ways."},
    {"recursive_as_tensor", hooks::method<recursive_as_tensor>(), METH_O, "A number as a tensor."},
    {"recursive_as_number", hooks::method<recursive_as_number>(), METH_O, "A number as Python's would be."},
    {"recursive_print", hooks::method<recursive_print>(), METH_O, "The text form."},
    {"recursive_compile", hooks::method<recursive_compile>(), METH_O, "What runs a SubGraph."},
    {"recursive_run", hooks::method<recursive_run>(), METH_VARARGS, "Results of invocations."},
    {"recursive_counts", hooks::method<recursive_counts>(), METH_O, "What has been done so far."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace terra::capture
