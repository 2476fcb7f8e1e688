#include "interpreter_hooks/bindings/autograd/backward.h"

#include <unordered_set>
#include <vector>

#include "engine/autograd/autograd.h"
#include "engine/autograd/pass.h"
#include "engine/autograd/walk.h"
#include "engine/errors/errors.h"
#include "engine/ops/call.h"
#include "engine/tensor/sparse.h"
#include "interpreter_hooks/bindings/autograd/node_object.h"
#include "interpreter_hooks/bindings/calls/call_watcher.h"
#include "interpreter_hooks/bindings/calls/counters.h"
#include "interpreter_hooks/bindings/calls/dispatch.h"
#include "interpreter_hooks/bindings/calls/function_tables.h"
#include "interpreter_hooks/bindings/calls/observer.h"
#include "interpreter_hooks/bindings/tensor/tensor_object.h"

namespace terra::hooks {
namespace {

bool flag(Borrowed value, bool otherwise) {
  return value == Py_None ? otherwise : succeeded(PyObject_IsTrue(value)) != 0;
}

/// A GradientEdge of autograd.graph: a named tuple of a node and the number of one of its results.
bool is_edge(Borrowed object) {
  return PyTuple_Check(object) && !PyTuple_CheckExact(object) && PyTuple_GET_SIZE(object) > 1 &&
         is_node(PyTuple_GET_ITEM(object, 0)) && PyLong_Check(PyTuple_GET_ITEM(object, 1));
}

/// A tensor in the place of an edge: the leaf behind it, or one that has the history of the result, and no values.
Tensor tensor_at(Borrowed edge) {
  report_opaque("a gradient edge", edge);
  const Ref<autograd::Node> node = node_in(PyTuple_GET_ITEM(edge, 0));
  if (const auto* leaf = dynamic_cast<const autograd::AccumulateGrad*>(node.get())) return leaf->variable();
  // Parts of a tensor are numbered as results of one node, but have nodes of their own.
  const long index = node->results == 1 ? 0 : PyLong_AsLong(PyTuple_GET_ITEM(edge, 1));
  check(index >= 0 && static_cast<uint32_t>(index) < node->results, "{} has {} results, and no number {}", node->name(),
        node->results, index);
  const TensorMeta* const meta = node->result_meta(static_cast<uint32_t>(index));
  const Tensor stand_in = meta ? Tensor::empty(meta->sizes, meta->dtype) : Tensor::empty(Dims{}, default_dtype());
  autograd::set_history(stand_in, node, static_cast<uint32_t>(index));
  return stand_in;
}

std::vector<Tensor> tensors_of(std::span<PyObject* const> objects, const char* what) {
  std::vector<Tensor> tensors;
  for (PyObject* object : objects) {
    if (is_edge(object)) {
      tensors.push_back(tensor_at(object));
      continue;
    }
    if (object != Py_None && !is_tensor(object))
      raise(PyExc_TypeError, "%s can be either Tensors or None, but got %s", what, Py_TYPE(object)->tp_name);
    tensors.push_back(object == Py_None ? Tensor() : tensor_of(object));
  }
  return tensors;
}

/// The gradients that a pass starts with. Where ops are seen, those that aren't given are made by one.
std::vector<Tensor> first_gradients(std::span<PyObject* const> roots, std::span<PyObject* const> given) {
  std::vector<Tensor> gradients = tensors_of(given, "gradients");
  for (size_t i = 0; i < gradients.size(); ++i)
    if (!gradients[i].defined() && is_tensor(roots[i])) gradients[i] = dispatched_first_gradient(roots[i]);
  return gradients;
}

/// A tensor or a sequence of them as a tuple; `count` Nones for None.
Object as_tuple(Borrowed value, size_t count) {
  if (value == Py_None) {
    Object tuple = owned(PyTuple_New(static_cast<Py_ssize_t>(count)));
    for (size_t i = 0; i < count; ++i) PyTuple_SET_ITEM(tuple.get(), i, Py_NewRef(Py_None));
    return tuple;
  }
  return is_tensor(value) || is_edge(value) ? owned(PyTuple_Pack(1, value)) : owned(PySequence_Tuple(value));
}
std::span<PyObject* const> items(const Object& tuple) {
  return {reinterpret_cast<PyTupleObject*>(tuple.get())->ob_item, static_cast<size_t>(PyTuple_GET_SIZE(tuple.get()))};
}

/// Whether all passes keep their graphs (_keep_graphs).
thread_local bool graphs_kept = false;

bool keeps_graph(Borrowed retain, bool creates) {
  if (flag(retain, creates)) return true;
  if (!graphs_kept) return false;
  report_opaque("a pass that keeps its graph for other calls");
  return true;
}

/// Runs a pass over the tape; one that raises has done part of its work, which nobody can repeat.
template <class F>
auto observed(F pass) {
  try {
    return pass();
  } catch (...) {
    report_opaque("a backward() that raises");
    throw;
  }
}

/// The history of a sparse tensor is that of its values.
Tensor values_of(Borrowed sparse) {
  report_opaque("a gradient of a sparse tensor", sparse);
  const Object values = owned(PyObject_GetAttrString(sparse, "_elements"));
  if (!is_tensor(values.get())) raise(PyExc_TypeError, "the values of a sparse tensor are a tensor");
  return tensor_of(values.get());
}

Object backward(PyObject*, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"tensors",        "grad_tensors", "retain_graph", "create_graph",
                                "grad_variables", "inputs",       nullptr};
  PyObject *roots, *gradients = Py_None, *retain = Py_None, *create = Py_False, *old = Py_None, *inputs = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|OOOOO:backward", const_cast<char**>(names), &roots, &gradients,
                                   &retain, &create, &old, &inputs))
    throw PythonError{};
  if (old != Py_None) {
    if (PyErr_WarnEx(PyExc_FutureWarning, "`grad_variables` is deprecated. Use `grad_tensors` instead.", 1) < 0)
      throw PythonError{};
    check(gradients == Py_None,
          "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. Please only use "
          "`grad_tensors`.");
  }
  Object root_tuple = as_tuple(roots, 0);
  Object gradient_tuple = as_tuple(gradients != Py_None ? gradients : old, items(root_tuple).size());
  check(items(root_tuple).size() == items(gradient_tuple).size(), "got {} tensors and {} gradients",
        items(root_tuple).size(), items(gradient_tuple).size());
  run_backward(items(root_tuple), items(gradient_tuple), retain, create, inputs);
  return Object::share(Py_None);
}

Object grad(PyObject*, PyObject* args, PyObject* kwargs);

/// grad(is_grads_batched=True): the gradients for each of the rows of grad_outputs, stacked.
Object gradients_of_rows(Borrowed outputs, Borrowed inputs, Borrowed gradients, Borrowed retain, Borrowed create,
                         Borrowed unused, Borrowed materialize) {
  Object output_tuple = as_tuple(outputs, 0), input_tuple = as_tuple(inputs, 0);
  Object gradient_tuple = as_tuple(gradients, items(output_tuple).size());
  Py_ssize_t rows = -1;
  for (const Tensor& each : tensors_of(items(gradient_tuple), "gradients")) {
    if (!each.defined()) continue;
    const Dims& sizes = each.sizes();
    check(!sizes.empty(),
          "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch "
          "dimension, but a grad_output of no dimensions was given.");
    check(rows < 0 || rows == sizes[0], "the grad_outputs have {} and {} rows", rows, sizes[0]);
    rows = sizes[0];
  }
  check(rows > 0, "autograd.grad(is_grads_batched=True) takes grad_outputs of at least one row");
  Object found = owned(PyList_New(0));
  for (Py_ssize_t row = 0; row < rows; ++row) {
    Object of_row = owned(PyTuple_New(PyTuple_GET_SIZE(gradient_tuple.get())));
    for (size_t i = 0; i < items(gradient_tuple).size(); ++i) {
      PyObject* each = items(gradient_tuple)[i];
      Object part = each == Py_None ? Object::share(Py_None) : owned(PySequence_GetItem(each, row));
      PyTuple_SET_ITEM(of_row.get(), static_cast<Py_ssize_t>(i), part.release());
    }
    Object call = owned(Py_BuildValue("(OOOOO)", output_tuple.get(), input_tuple.get(), of_row.get(),
                                      row + 1 < rows ? Py_True : retain, create));
    Object options = owned(Py_BuildValue("{s:O,s:O}", "allow_unused", unused, "materialize_grads", materialize));
    Object gradients_of_row = grad(nullptr, call.get(), options.get());
    succeeded(PyList_Append(found.get(), gradients_of_row.get()));
  }
  Object module = owned(PyImport_ImportModule("_terra_C"));
  Object result = owned(PyTuple_New(PyTuple_GET_SIZE(input_tuple.get())));
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(input_tuple.get()); ++i) {
    Object parts = owned(PyList_New(0));
    for (Py_ssize_t row = 0; row < rows; ++row)
      succeeded(PyList_Append(parts.get(), PyTuple_GET_ITEM(PyList_GET_ITEM(found.get(), row), i)));
    Object stacked = PyList_GET_ITEM(parts.get(), 0) == Py_None
                         ? Object::share(Py_None)
                         : owned(PyObject_CallMethod(module.get(), "stack", "O", parts.get()));
    PyTuple_SET_ITEM(result.get(), i, stacked.release());
  }
  return result;
}

Object grad(PyObject*, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"outputs",     "inputs",       "grad_outputs",     "retain_graph",      "create_graph",
                                "only_inputs", "allow_unused", "is_grads_batched", "materialize_grads", nullptr};
  PyObject *outputs, *inputs, *gradients = Py_None, *retain = Py_None, *create = Py_False, *only = Py_True,
                              *unused = Py_None, *batched = Py_False, *materialize = Py_False;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|OOOOOOO:grad", const_cast<char**>(names), &outputs, &inputs,
                                   &gradients, &retain, &create, &only, &unused, &batched, &materialize))
    throw PythonError{};
  if (flag(batched, false)) return gradients_of_rows(outputs, inputs, gradients, retain, create, unused, materialize);
  ++counters.backwards;
  if (call_watcher) call_watcher->before_pass();
  Object root_tuple = as_tuple(outputs, 0), input_tuple = as_tuple(inputs, 0);
  Object gradient_tuple = as_tuple(gradients, items(root_tuple).size());
  const bool fill = flag(materialize, false);
  if (fill && unused == Py_False)
    raise(PyExc_ValueError,
          "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False.");
  if (only == Py_False &&
      PyErr_WarnEx(PyExc_FutureWarning,
                   "only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate gradient "
                   "for other parts of the graph, please use torch.autograd.backward.",
                   1) < 0)
    throw PythonError{};
  const bool creates = flag(create, false), retains = keeps_graph(retain, creates);
  std::vector<Tensor> wanted = tensors_of(items(input_tuple), "inputs");
  check(!wanted.empty(), "`inputs` argument to `grad()` cannot be empty.");
  for (size_t i = 0; i < wanted.size(); ++i)
    if (is_sparse(*wanted[i])) wanted[i] = values_of(items(input_tuple)[i]);
  if (OpObserver* observer = op_observer()) observer->before_backward();
  const std::vector<Tensor> found = observed([&] {
    return autograd::gradients(tensors_of(items(root_tuple), "outputs"),
                               first_gradients(items(root_tuple), items(gradient_tuple)), wanted, retains, creates,
                               flag(unused, fill));
  });
  Object result = owned(PyTuple_New(static_cast<Py_ssize_t>(found.size())));
  for (size_t i = 0; i < found.size(); ++i) {
    Tensor gradient = found[i];
    if (!gradient.defined() && fill) gradient = (*find_op("zeros_like"))(wanted[i]);
    Object object = Object::steal(wrap(gradient));
    if (gradient.defined() && is_tensor(items(input_tuple)[i]) && is_sparse(*impl_of(items(input_tuple)[i])))
      object = owned(PyObject_CallMethod(items(input_tuple)[i], "_gradient", "O", object.get()));
    PyTuple_SET_ITEM(result.get(), i, object.release());
  }
  if (OpObserver* observer = op_observer())
    observer->on_grad({items(root_tuple), items(gradient_tuple), items(input_tuple), items(result), retains, creates,
                       flag(unused, fill), fill});
  return result;
}

/// _pass_number(): of the pass over the tape that is under way; -1 if there is none.
Object pass_number(PyObject*, PyObject*) {
  report_opaque("the number of a pass");
  return owned(PyLong_FromLongLong(autograd::pass_number()));
}
/// _pass_reaches(tensor): whether that pass gets to the tensor.
Object pass_reaches(PyObject*, PyObject* tensor) {
  if (!is_tensor(tensor)) raise(PyExc_TypeError, "_pass_reaches() takes a tensor");
  report_opaque("where a pass gets to", tensor);
  return owned(PyBool_FromLong(autograd::pass_reaches(tensor_of(tensor))));
}

/// _leads_past(tensor, leaves): whether the tensor's history leads to a leaf that is none of the list.
Object leads_past(PyObject*, PyObject* args) {
  PyObject *tensor = nullptr, *given = nullptr;
  if (!PyArg_ParseTuple(args, "OO:_leads_past", &tensor, &given)) throw PythonError{};
  if (!is_tensor(tensor)) raise(PyExc_TypeError, "_leads_past() takes a tensor and a list of leaves");
  report_opaque("where a history leads", tensor);
  std::unordered_set<const TensorImpl*> known;
  const Object leaves = as_tuple(given, 0);
  for (const Tensor& leaf : tensors_of(items(leaves), "leaves")) known.insert(leaf.get());
  bool past = false;
  const Tensor t = tensor_of(tensor);
  const Ref<autograd::Node> start = t.requires_grad() ? autograd::gradient_edge(t).node : Ref<autograd::Node>();
  autograd::each_node(start.get(), [&](const autograd::Node& node) {
    const auto* leaf = dynamic_cast<const autograd::AccumulateGrad*>(&node);
    past = past || (leaf && !known.contains(leaf->variable().get()));
  });
  return owned(PyBool_FromLong(past));
}

/// _keep_graphs(yes): whether passes keep their graphs from now on, asked or not; returns whether they did before.
Object keep_graphs(PyObject*, PyObject* yes) {
  return owned(PyBool_FromLong(std::exchange(graphs_kept, succeeded(PyObject_IsTrue(yes)) != 0)));
}

/// _check_for_nan(yes): passes over the tape fail at the first gradient that isn't a number.
Object check_for_nan(PyObject*, PyObject* yes) {
  report_opaque("anomaly mode");
  autograd::check_for_nan(succeeded(PyObject_IsTrue(yes)));
  return Object::share(Py_None);
}

}  // namespace

bool passes_keep_graphs() { return graphs_kept; }

void run_backward(std::span<PyObject* const> roots, std::span<PyObject* const> gradients, Borrowed retain,
                  Borrowed create, Borrowed inputs) {
  const bool creates = flag(create, false), retains = keeps_graph(retain, creates);
  Object input_tuple = as_tuple(inputs, 0);
  check(inputs == Py_None || !items(input_tuple).empty(), "`inputs` argument to `backward()` cannot be empty.");
  ++counters.backwards;
  if (call_watcher) call_watcher->before_pass();
  if (OpObserver* observer = op_observer()) observer->before_backward();
  observed([&] {
    autograd::backward(tensors_of(roots, "roots"), first_gradients(roots, gradients), retains, creates,
                       tensors_of(items(input_tuple), "inputs"));
  });
  if (OpObserver* observer = op_observer())
    observer->on_backward({roots, gradients, items(input_tuple), {}, retains, creates});
}

PyMethodDef autograd_functions[] = {
    {"backward", method<backward>(), METH_VARARGS | METH_KEYWORDS,
     "backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, inputs=None)"},
    {"_check_for_nan", method<check_for_nan>(), METH_O, nullptr},
    {"_keep_graphs", method<keep_graphs>(), METH_O, nullptr},
    {"_leads_past", method<leads_past>(), METH_VARARGS, nullptr},
    {"_pass_number", method<pass_number>(), METH_NOARGS, nullptr},
    {"_pass_reaches", method<pass_reaches>(), METH_O, nullptr},
    {"grad", method<grad>(), METH_VARARGS | METH_KEYWORDS,
     "grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, allow_unused=None)"},
    {}};

}  // namespace terra::hooks
