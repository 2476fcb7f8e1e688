#include "interpreter_hooks/export/module.h"

#include "engine/errors/errors.h"
#include "engine/ops/call.h"
#include "graph/file/file.h"
#include "graph/file/program_runner.h"
#include "graph/file/text.h"
#include "interpreter_hooks/bindings/entry.h"
#include "interpreter_hooks/bindings/tensor/tensor_object.h"
#include "interpreter_hooks/export/tracer.h"

namespace terra::capture {
namespace {

using graph::ProgramRunner;
using graph::ProgramTensor;
using hooks::Borrowed;
using hooks::lent;
using hooks::Object;
using hooks::owned;

constexpr const char* kCapsule = "terra.program";

Object capsule_of(graph::PortableProgram program) {
  auto runner = std::make_unique<ProgramRunner>(std::move(program));
  const auto drop = [](PyObject* capsule) {
    delete static_cast<ProgramRunner*>(PyCapsule_GetPointer(capsule, kCapsule));
  };
  Object capsule = owned(PyCapsule_New(runner.get(), kCapsule, drop));
  runner.release();
  return capsule;
}

ProgramRunner& runner_in(Borrowed capsule) {
  void* runner = PyCapsule_GetPointer(capsule, kCapsule);
  if (!runner) throw hooks::PythonError{};
  return *static_cast<ProgramRunner*>(runner);
}

Object text(std::string_view s) {
  return owned(PyUnicode_DecodeUTF8(s.data(), static_cast<Py_ssize_t>(s.size()), "replace"));
}

Tensor tensor_in(Borrowed object) {
  if (!hooks::is_tensor(object))
    hooks::raise(PyExc_TypeError, "a program takes tensors, not %s", Py_TYPE(object)->tp_name);
  return hooks::tensor_of(object);
}

std::vector<Tensor> tensors_in(Borrowed list) {
  const Object fast = owned(PySequence_Fast(list, "a list of tensors was expected"));
  std::vector<Tensor> tensors;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(fast.get()); ++i)
    tensors.push_back(tensor_in(PySequence_Fast_GET_ITEM(fast.get(), i)));
  return tensors;
}

/// program_trace(name, bound, call): `bound` is a list of (name, tensor, role), call() a list of tensors.
Object program_trace(PyObject*, PyObject* args) {
  const char* name;
  PyObject *bound, *call;
  if (!PyArg_ParseTuple(args, "sO!O", &name, &PyList_Type, &bound, &call)) throw hooks::PythonError{};
  const GradMode off(false);
  ProgramTracer tracer(name);
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(bound); ++i) {
    const char* of;
    PyObject* tensor;
    int role;
    if (!PyArg_ParseTuple(PyList_GET_ITEM(bound, i), "sOi", &of, &tensor, &role)) throw hooks::PythonError{};
    tracer.bind(of, tensor_in(tensor), static_cast<ProgramTensor::Role>(role));
  }
  const Object results = owned(PyObject_CallNoArgs(call));
  return capsule_of(tracer.finish(tensors_in(results.get())));
}

/// program_run(program, tensors)
Object program_run(PyObject*, PyObject* args) {
  PyObject *capsule, *tensors;
  if (!PyArg_ParseTuple(args, "OO", &capsule, &tensors)) throw hooks::PythonError{};
  const std::vector<graph::RunOutput> outputs = runner_in(capsule).run(tensors_in(tensors));
  Object list = owned(PyList_New(static_cast<Py_ssize_t>(outputs.size())));
  for (size_t i = 0; i < outputs.size(); ++i)
    PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), owned(hooks::wrap(std::get<Tensor>(outputs[i]))).release());
  return list;
}

/// program_to_file(program, structure)
Object program_to_file(PyObject*, PyObject* args) {
  PyObject *capsule, *structure;
  if (!PyArg_ParseTuple(args, "OU", &capsule, &structure)) throw hooks::PythonError{};
  graph::PortableProgram program = runner_in(capsule).program();
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(structure, &size);
  if (!text) throw hooks::PythonError{};
  program.structure.assign(text, static_cast<size_t>(size));
  const std::string bytes = graph::to_file(program);
  return owned(PyBytes_FromStringAndSize(bytes.data(), static_cast<Py_ssize_t>(bytes.size())));
}

/// program_from_file(bytes, name)
Object program_from_file(PyObject*, PyObject* args) {
  Py_buffer bytes;
  const char* name;
  if (!PyArg_ParseTuple(args, "y*s", &bytes, &name)) throw hooks::PythonError{};
  struct Lent {
    Py_buffer& buffer;
    ~Lent() { PyBuffer_Release(&buffer); }
  } const until_read{bytes};
  return capsule_of(graph::from_file({static_cast<const char*>(bytes.buf), static_cast<size_t>(bytes.len)}, name));
}

Object described(const ProgramTensor& t) {
  const Object value = t.value.defined() ? owned(hooks::wrap(t.value)) : Object::share(Py_None);
  const Object name = text(t.name);
  return owned(Py_BuildValue("(OiO)", name.get(), static_cast<int>(t.role), value.get()));
}

/// program_parts(program): its name, structure, text, and [(name, role, tensor or None)].
Object program_parts(PyObject*, PyObject* capsule) {
  const graph::PortableProgram& program = runner_in(capsule).program();
  const Object bound = owned(PyList_New(0));
  for (const ProgramTensor& t : program.tensors) hooks::succeeded(PyList_Append(bound.get(), described(t).get()));
  const Object name = text(program.program.graph.name), structure = text(program.structure), all = text(print(program));
  return owned(PyTuple_Pack(4, name.get(), structure.get(), all.get(), bound.get()));
}

}  // namespace

PyMethodDef program_methods[] = {
    {"program_trace", hooks::method<program_trace>(), METH_VARARGS, "The program that one call runs."},
    {"program_run", hooks::method<program_run>(), METH_VARARGS, "The results of a run of a program."},
    {"program_to_file", hooks::method<program_to_file>(), METH_VARARGS, "The bytes of a program file."},
    {"program_from_file", hooks::method<program_from_file>(), METH_VARARGS, "The program in such bytes."},
    {"program_parts", hooks::method<program_parts>(), METH_O, "What a program consists of."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace terra::capture
