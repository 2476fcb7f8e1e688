#include "interpreter_hooks/bindings/autograd/node_object.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "engine/autograd/attachment.h"
#include "engine/autograd/autograd.h"
#include "engine/autograd/op_node.h"
#include "engine/autograd/spent_node.h"
#include "interpreter_hooks/bindings/autograd/gradient_hooks.h"
#include "interpreter_hooks/bindings/calls/observer.h"
#include "interpreter_hooks/bindings/interpreter_lock.h"
#include "interpreter_hooks/bindings/objects/types.h"
#include "interpreter_hooks/bindings/tensor/tensor_object.h"

namespace terra::hooks {
namespace {

struct NodeObject {
  PyObject_HEAD autograd::Node* node;  // strong
};

PyTypeObject* base_type = nullptr;

autograd::Node* node_of(Borrowed self) { return reinterpret_cast<NodeObject*>(self)->node; }

/// The node that has what the program asks of this one.
Ref<autograd::Node> asked(Borrowed self) {
  const Ref<autograd::Node> alone = node_of(self)->last_call();
  return alone ? alone : Ref<autograd::Node>(node_of(self));
}

void node_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  Ref<autograd::Node>::adopt(node_of(self));
  type->tp_free(self);
  Py_DECREF(type);
}

/// PyTorch names the nodes that stand for no op with their namespace, all others without.
Object node_name(PyObject* self, PyObject*) {
  static constexpr std::string_view kOfNoOp[] = {"AccumulateGrad", "CopyBackwards", "CopySlices", "NotImplemented"};
  const std::string name = node_of(self)->name();
  const bool of_no_op = std::find(std::begin(kOfNoOp), std::end(kOfNoOp), name) != std::end(kOfNoOp);
  return owned(PyUnicode_FromString(((of_no_op ? "torch::autograd::" : "") + name).c_str()));
}

Object next_functions(PyObject* self, void*) {
  std::vector<autograd::Edge> edges = asked(self)->seen();
  for (autograd::Edge& edge : edges)
    if (const autograd::Edge own = edge.node ? edge.node->unfolded(edge.index) : edge; own.node) edge = own;
  Object tuple = owned(PyTuple_New(static_cast<Py_ssize_t>(edges.size())));
  for (size_t i = 0; i < edges.size(); ++i)
    PyTuple_SET_ITEM(tuple.get(), i,
                     owned(Py_BuildValue("(NI)", wrap_node(edges[i].node).release(), edges[i].index)).release());
  return tuple;
}

/// The leaf of an AccumulateGrad.
Object variable(PyObject* self, void*) {
  auto* accumulate = dynamic_cast<autograd::AccumulateGrad*>(node_of(self));
  if (!accumulate)
    raise(PyExc_AttributeError, "'%s' object has no attribute 'variable'", node_of(self)->name().c_str());
  return Object::steal(wrap(accumulate->variable()));
}

/// Nodes go on whatever thread lets go of them last.
void drop_dict(void* dict) {
  if (const InterpreterLock lock; lock) Py_DECREF(static_cast<PyObject*>(dict));
}

/// A dict of the program's, which is there as long as the node.
Object metadata(PyObject* self, void*) {
  report_opaque("what a program keeps with a node", self);
  std::shared_ptr<void>& kept = autograd::attachment(*asked(self));
  if (!kept) kept = std::shared_ptr<void>(owned(PyDict_New()).release(), drop_dict);
  return Object::share(static_cast<PyObject*>(kept.get()));
}

Object sequence_number(PyObject* self, PyObject*) {
  return owned(PyLong_FromUnsignedLongLong(node_of(self)->sequence));
}

Object register_hook(PyObject* self, PyObject* function) { return add_node_hook(*asked(self), function, false); }
Object register_prehook(PyObject* self, PyObject* function) { return add_node_hook(*asked(self), function, true); }

Object node_repr(PyObject* self) {
  const char* const module = dynamic_cast<NodeWithContext*>(node_of(self)) ? "torch.autograd.function." : "";
  return owned(PyUnicode_FromFormat("<%s%s object at %p>", module, node_of(self)->name().c_str(), node_of(self)));
}
Object node_compare(PyObject* a, PyObject* b, int op) {
  if (!is_node(b) || (op != Py_EQ && op != Py_NE)) return Object::share(Py_NotImplemented);
  return owned(PyBool_FromLong((node_of(a) == node_of(b)) == (op == Py_EQ)));
}
Py_hash_t node_hash(PyObject* self) { return _Py_HashPointer(node_of(self)); }

/// y.grad_fn._saved_self: what is kept of a parameter, or of a result.
Object saved_part(const Ref<autograd::Node>& of, const autograd::OpNode& node, std::string_view name, Borrowed self) {
  if (node.released()) autograd::fail_spent();
  const autograd::SavedTensor* const saved = node.saved(name);
  if (!saved) raise(PyExc_AttributeError, "'%s' object has no attribute '_saved_%s'", node.name().c_str(), name.data());
  report_opaque("what a node keeps", self);
  return Object::steal(wrap(saved->unpack(of)));
}

/// The node of a Function is its context as well: y.grad_fn.saved_tensors.
Object node_getattro(PyObject* self, PyObject* name) {
  static constexpr std::string_view kSaved = "_saved_";
  const std::string_view text = PyUnicode_AsUTF8(name);
  if (text.starts_with(kSaved)) {
    const Ref<autograd::Node> of = asked(self);
    if (const auto* op = dynamic_cast<const autograd::OpNode*>(of.get()))
      return saved_part(of, *op, text.substr(kSaved.size()), self);
  }
  const auto* node = dynamic_cast<const NodeWithContext*>(node_of(self));
  if (!node) return owned(PyObject_GenericGetAttr(self, name));
  Object found = Object::steal(_PyObject_GenericGetAttrWithDict(self, name, nullptr, 1));
  if (found) return found;
  if (PyErr_Occurred()) throw PythonError{};
  return owned(PyObject_GetAttr(node->context(), name));
}

PyMethodDef methods[] = {{"name", method<node_name>(), METH_NOARGS, "The name of the gradient: \"AddBackward0\"."},
                         {"_sequence_nr", method<sequence_number>(), METH_NOARGS, nullptr},
                         {"register_hook", method<register_hook>(), METH_O,
                          "Calls function(grad_inputs, grad_outputs) after the node; a result replaces grad_inputs."},
                         {"register_prehook", method<register_prehook>(), METH_O,
                          "Calls function(grad_outputs) before the node; a result replaces them."},
                         {}};
PyGetSetDef getters[] = {
    {"next_functions", entry<next_functions>, nullptr, "Pairs (node, index), one per operand.", nullptr},
    {"metadata", entry<metadata>, nullptr, "A dict that lives as long as the node.", nullptr},
    {"variable", entry<variable>, nullptr, "The leaf that AccumulateGrad adds to.", nullptr},
    {}};

PyTypeObject* type_named(const std::string& name) {
  static auto& types = *new std::unordered_map<std::string, PyTypeObject*>;
  PyTypeObject*& type = types[name];
  if (type) return type;
  static auto& kept_names = *new std::vector<std::unique_ptr<std::string>>;
  kept_names.push_back(std::make_unique<std::string>("terra.autograd." + name));
  PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(node_dealloc)}, {0, nullptr}};
  PyType_Spec spec = {kept_names.back()->c_str(), sizeof(NodeObject), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  return type = create_type(spec, base_type);
}

}  // namespace

Object wrap_node(const Ref<autograd::Node>& node) {
  if (!node) return Object::share(Py_None);
  PyTypeObject* type = type_named(node->name());
  Object self = owned(type->tp_alloc(type, 0));
  reinterpret_cast<NodeObject*>(self.get())->node = Ref<autograd::Node>(node).release();
  return self;
}

Ref<autograd::Node> node_in(Borrowed object) { return Ref<autograd::Node>(node_of(object)); }
bool is_node(Borrowed object) { return PyType_IsSubtype(Py_TYPE(object), base_type); }

void create_node_type(PyObject* module) {
  PyType_Slot slots[] = {{Py_tp_doc, const_cast<char*>("How a tensor was computed, for its gradient.")},
                         {Py_tp_dealloc, reinterpret_cast<void*>(node_dealloc)},
                         {Py_tp_repr, slot<node_repr>()},
                         {Py_tp_getattro, slot<node_getattro>()},
                         {Py_tp_richcompare, slot<node_compare>()},
                         {Py_tp_hash, slot<node_hash>()},
                         {Py_tp_methods, methods},
                         {Py_tp_getset, getters},
                         {0, nullptr}};
  PyType_Spec spec = {"terra.autograd.Node", sizeof(NodeObject), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  base_type = create_type(spec);
  add_object(module, "Node", base_type);
}

}  // namespace terra::hooks
