// Nodes of the tape whose gradient is a Python function: what terra.autograd.Function is made of.
#include <algorithm>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "engine/autograd/autograd.h"
#include "engine/autograd/op_node.h"
#include "engine/autograd/saved.h"
#include "engine/autograd/slices_node.h"
#include "engine/autograd/walk.h"
#include "engine/errors/errors.h"
#include "engine/tensor/sparse.h"
#include "interpreter_hooks/bindings/autograd/node_object.h"
#include "interpreter_hooks/bindings/calls/function_tables.h"
#include "interpreter_hooks/bindings/calls/observer.h"
#include "interpreter_hooks/bindings/interpreter_lock.h"
#include "interpreter_hooks/bindings/tensor/tensor_object.h"

namespace terra::hooks {
namespace {

std::span<PyObject* const> items(const Object& tuple) {
  return {reinterpret_cast<PyTupleObject*>(tuple.get())->ob_item, static_cast<size_t>(PyTuple_GET_SIZE(tuple.get()))};
}
std::span<PyObject* const> list_items(Borrowed list) {
  return {reinterpret_cast<PyListObject*>(list)->ob_item, static_cast<size_t>(PyList_GET_SIZE(list))};
}

void report_history_of(PyObject* tensor) {
  if (OpObserver* observer = op_observer()) observer->on_history_read(tensor);
}

Tensor tensor_or_none(Borrowed object) { return object == Py_None ? Tensor() : tensor_of(object); }

/// Backward runs on the thread that called it, which holds the lock.
class FunctionNode final : public NodeWithContext {
 public:
  FunctionNode(std::string name, Borrowed backward, Borrowed release, Borrowed context)
      : name_(std::move(name)),
        backward_(Object::share(backward)),
        release_(Object::share(release)),
        context_(Object::share(context)) {}

  /// The last reference may go on any thread.
  ~FunctionNode() override { let_go(backward_, release_, context_); }

  std::string name() const override { return name_; }
  Borrowed context() const override { return context_.get(); }

  std::vector<Tensor> apply(const std::vector<Tensor>& grads) override {
    Object given = owned(PyTuple_New(static_cast<Py_ssize_t>(grads.size())));
    for (size_t i = 0; i < grads.size(); ++i)
      PyTuple_SET_ITEM(given.get(), i, grads[i].defined() ? wrap(grads[i]) : Py_NewRef(Py_None));
    Object node = wrap_node(Ref<autograd::Node>(static_cast<autograd::Node*>(this)));
    if (OpObserver* observer = op_observer()) observer->on_callback(this, items(given), node.get());
    Object taken = owned(PyObject_CallFunctionObjArgs(backward_.get(), given.get(), node.get(), nullptr));
    if (OpObserver* observer = op_observer()) observer->on_callback_done(this, items(taken));
    std::vector<Tensor> result;
    for (PyObject* item : items(taken))
      if (item != Py_None && !is_tensor(item))
        raise(PyExc_RuntimeError, "expected Variable or None (got %s)", Py_TYPE(item)->tp_name);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(taken.get()); ++i) {
      Tensor gradient = tensor_or_none(PyTuple_GET_ITEM(taken.get(), i));
      const size_t place = static_cast<size_t>(i);
      if (gradient.defined() && place < input_sizes_.size() && edges[place].node)
        check(gradient.sizes() == input_sizes_[place],
              "Function {} returned an invalid gradient at index {} - got {} but expected shape compatible with {}",
              name_, i, listed(gradient.sizes()), listed(input_sizes_[place]));
      result.push_back(edges[place].node ? std::move(gradient) : Tensor());
    }
    return result;
  }

  void release_saved() override { owned(PyObject_CallNoArgs(release_.get())); }

  void add_input(const Tensor& input) {
    edges.push_back(input.requires_grad() ? autograd::gradient_edge(input) : autograd::Edge{});
    input_sizes_.push_back(input.sizes());
  }

 private:
  std::string name_;
  Object backward_, release_, context_;
  std::vector<Dims> input_sizes_;
};

/// _function_node(name, inputs, outputs, backward, release, saves, context): makes the node the history of the outputs.
/// The edges are found first, since an output may be an input that was written to. backward(grads, node) and the result
/// are tuples of tensors and None; release() is called when what was saved, if `saves`, is no longer needed. The node
/// has the attributes of `context`, too.
Object function_node(PyObject*, PyObject* args) {
  const char* name = nullptr;
  PyObject *inputs, *outputs, *backward, *release, *context;
  int saves = 0;
  if (!PyArg_ParseTuple(args, "sO!O!OOpO:_function_node", &name, &PyList_Type, &inputs, &PyList_Type, &outputs,
                        &backward, &release, &saves, &context))
    throw PythonError{};
  auto* node = new FunctionNode(name, backward, release, context);
  const Ref<autograd::Node> owner(node);
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(inputs); ++i) node->add_input(tensor_of(PyList_GET_ITEM(inputs, i)));
  node->results = static_cast<uint32_t>(PyList_GET_SIZE(outputs));
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(outputs); ++i) {
    const Tensor output = tensor_of(PyList_GET_ITEM(outputs, i));
    check(!output.requires_grad() || !autograd::is_leaf(output),
          "a leaf Variable that requires grad has been used in an in-place operation.");
  }
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(outputs); ++i)
    autograd::set_history(tensor_of(PyList_GET_ITEM(outputs, i)), owner, static_cast<uint32_t>(i));
  if (OpObserver* observer = op_observer())
    observer->on_function(node, name, list_items(inputs), list_items(outputs), saves);
  return Object::share(Py_None);
}

/// _with_history(tensor, node, index): the same values as result `index` of the node.
Object with_history(PyObject*, PyObject* args) {
  PyObject *tensor, *node;
  unsigned index = 0;
  if (!PyArg_ParseTuple(args, "OOI:_with_history", &tensor, &node, &index)) throw PythonError{};
  if (!is_tensor(tensor) || !is_node(node)) raise(PyExc_TypeError, "_with_history() takes a tensor and a node");
  const TensorImpl& t = *impl_of(tensor);
  check_has_memory(t);
  const Tensor alias = Tensor::view_of(t.storage, t.dtype, t.sizes, t.strides, t.offset);
  const Ref<autograd::Node> owner = node_in(node);
  autograd::set_history(alias, owner, index);
  Object result = Object::steal(wrap(alias));
  if (OpObserver* observer = op_observer()) observer->on_history(tensor, owner.get(), index, result.get());
  return result;
}

/// _leaves_of(tensors): the leaves that gradients of the tensors reach, each once, in the order in which the tape leads
/// to them.
Object leaves_of(PyObject*, PyObject* tensors) {
  if (!PyList_Check(tensors)) raise(PyExc_TypeError, "_leaves_of() takes a list of tensors");
  std::vector<autograd::Node*> open;
  std::unordered_set<autograd::Node*> seen;
  const auto meet = [&](autograd::Node* node) {
    if (node && seen.insert(node).second) open.push_back(node);
  };
  std::vector<autograd::Edge> roots;  // leaves don't keep their nodes
  for (PyObject* tensor : list_items(tensors)) {
    report_history_of(tensor);
    if (!tensor_of(tensor).requires_grad()) continue;
    roots.push_back(autograd::gradient_edge(tensor_of(tensor)));
    meet(roots.back().node.get());
  }
  Object leaves = owned(PyList_New(0));
  while (!open.empty()) {
    autograd::Node* node = open.back();
    open.pop_back();
    if (const auto* leaf = dynamic_cast<autograd::AccumulateGrad*>(node)) {
      const Object variable = Object::steal(wrap(leaf->variable()));
      succeeded(PyList_Append(leaves.get(), variable.get()));
    }
    for (auto edge = node->edges.rbegin(); edge != node->edges.rend(); ++edge) meet(edge->node.get());
  }
  return leaves;
}

/// _tape_of(tensors): as lines the name of the node that made the first one, then of all that is kept for their
/// gradients, in the order in which it was, shape, dtype and device; the name alone where some of it was computed as a
/// graph.
Object tape_of(PyObject*, PyObject* tensors) {
  if (!PyList_Check(tensors)) raise(PyExc_TypeError, "_tape_of() takes a list of tensors");
  std::string text;
  std::vector<autograd::Node*> nodes;
  std::unordered_set<autograd::Node*> seen;
  for (PyObject* tensor : list_items(tensors)) {
    report_history_of(tensor);
    autograd::Node* const history = autograd::history(tensor_of(tensor)).node.get();
    if (history && text.empty()) text = history->name();
    autograd::each_node(history, [&](autograd::Node& node) {
      if (seen.insert(&node).second) nodes.push_back(&node);
    });
  }
  std::sort(nodes.begin(), nodes.end(), [](const auto* a, const auto* b) { return a->sequence < b->sequence; });
  const bool by_ops = std::all_of(nodes.begin(), nodes.end(), [](const autograd::Node* node) {
    return dynamic_cast<const autograd::OpNode*>(node) || dynamic_cast<const autograd::AccumulateGrad*>(node) ||
           dynamic_cast<const FunctionNode*>(node) || dynamic_cast<const autograd::SlicesNode*>(node);
  });
  if (by_ops) text += "\nkept";
  for (const autograd::Node* node : nodes)
    node->each_saved([&](const autograd::SavedTensor& saved) {
      const TensorImpl& t = *saved.unchecked();
      if (by_ops)
        text += fmt::format("\n{{'shape': torch.Size({}), 'dtype': torch.{}, 'device': device(type='{}')}}",
                            listed(t.sizes), name_of(t.dtype), to_string(t.device));
    });
  return owned(PyUnicode_FromString(text.c_str()));
}

}  // namespace

PyMethodDef function_node_functions[] = {{"_function_node", method<function_node>(), METH_VARARGS, nullptr},
                                         {"_tape_of", method<tape_of>(), METH_O, nullptr},
                                         {"_leaves_of", method<leaves_of>(), METH_O, nullptr},
                                         {"_with_history", method<with_history>(), METH_VARARGS, nullptr},
                                         {}};

}  // namespace terra::hooks
