// Methods of classes in Python that an instruction calls by itself: their arguments are its operands, by position.
#include "interpreter_hooks/cpython/instructions.h"
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/recorder/core/recording.h"

#include <algorithm>

namespace terra::capture {

namespace {

using Names = std::vector<PyObject*>;

Names interned(std::initializer_list<const char*> names) {
  Names result;
  for (const char* name : names) result.push_back(PyUnicode_InternFromString(name));
  return result;
}

constexpr int elsewhere = -1;  ///< an argument that is no operand: the name of an attribute, a descriptor

/// Which operand each argument is, self first; self's class has the method under one of the names.
struct Protocol {
  int kind;
  std::vector<int> order;
  Names names;
};

const std::vector<Protocol>& protocols() {
  static const Names comparisons = interned({"__lt__", "__le__", "__eq__", "__ne__", "__gt__", "__ge__"});
  static const Names left =
      interned({"__add__",  "__sub__",  "__mul__",     "__matmul__",   "__truediv__",   "__floordiv__", "__mod__",
                "__pow__",  "__and__",  "__or__",      "__xor__",      "__lshift__",    "__rshift__",   "__iadd__",
                "__isub__", "__imul__", "__imatmul__", "__itruediv__", "__ifloordiv__", "__imod__",     "__ipow__",
                "__iand__", "__ior__",  "__ixor__",    "__ilshift__",  "__irshift__"});
  static const Names right =
      interned({"__radd__", "__rsub__", "__rmul__", "__rmatmul__", "__rtruediv__", "__rfloordiv__", "__rmod__",
                "__rpow__", "__rand__", "__ror__", "__rxor__", "__rlshift__", "__rrshift__"});
  static const std::vector<Protocol> table = {
      {TERRA_BINARY_SUBSCR, {0, 1}, interned({"__getitem__"})},
      {TERRA_STORE_SUBSCR, {1, 2, 0}, interned({"__setitem__"})},
      {TERRA_DELETE_SUBSCR, {0, 1}, interned({"__delitem__"})},
      {TERRA_CONTAINS_OP, {1, 0}, interned({"__contains__"})},
      {TERRA_STORE_ATTR, {1, elsewhere, 0}, interned({"__setattr__"})},
      {TERRA_COMPARE_OP, {0, 1}, comparisons},
      {TERRA_COMPARE_OP, {1, 0}, comparisons},
      {TERRA_BINARY_OP, {0, 1}, left},
      {TERRA_BINARY_OP, {1, 0}, right},
  };
  return table;
}

bool has_method(PyTypeObject* type, const Names& names, PyObject* function) {
  return std::any_of(names.begin(), names.end(),
                     [&](PyObject* name) { return _PyType_Lookup(type, name) == function; });
}

/// The setter of a property, or __set__ of another descriptor, of which the class look-up of `name` gave `descriptor`.
std::vector<int> order_of_setter(PyObject* descriptor, PyObject* function) {
  static const Names set = interned({"__set__"});
  if (!descriptor) return {};
  if (Py_TYPE(descriptor) == &PyProperty_Type) {
    PyObject* setter = PyObject_GetAttrString(descriptor, "fset");
    PyErr_Clear();
    Py_XDECREF(setter);
    return setter == function ? std::vector<int>{1, 0} : std::vector<int>();
  }
  return has_method(Py_TYPE(descriptor), set, function) ? std::vector<int>{elsewhere, 1, 0} : std::vector<int>();
}

}  // namespace

bool Recording::bind_operands(ShadowFrame& child, ShadowFrame& caller) {
  const Pending& open = caller.pending;
  PyObject* function = reinterpret_cast<PyObject*>(child.callee());
  PyObject** real = terra_frame_localsplus(child.frame);
  const auto matches = [&](const std::vector<int>& order) {
    if (order.empty() || static_cast<size_t>(terra_code_argument_slots(child.code)) != order.size()) return false;
    for (size_t i = 0; i < order.size(); i++) {
      if (order[i] != elsewhere && real[i] != open.in[order[i]].object) return false;
    }
    return true;
  };
  const auto take = [&](const std::vector<int>& order) {
    for (size_t i = 0; i < order.size(); i++) {
      child.locals[i] = order[i] == elsewhere ? bind_object(caller, real[i]) : open.in[order[i]];
    }
    return true;
  };
  bool own = false, known = false;
  for (const Protocol& protocol : protocols()) {
    known = known || protocol.kind == open.kind;
    if (protocol.kind != open.kind || protocol.order.size() > open.in.size() + 1) continue;
    const Value& self = open.in[protocol.order[0]];
    if (is_atom(self.object) || !has_method(Py_TYPE(self.object), protocol.names, function)) continue;
    own = own || (terra_code_argument_slots(child.code) > 0 && real[0] == self.object);
    if (matches(protocol.order)) return take(protocol.order);
  }
  if (open.kind != TERRA_STORE_ATTR) {
    caller.pending.called_by_c = caller.pending.called_by_c || (known && !own);
    return false;
  }
  PyObject* descriptor = _PyType_Lookup(Py_TYPE(open.in[1].object), caller.name(open.arg));
  const std::vector<int> order = order_of_setter(descriptor, function);
  return matches(order) && take(order);
}

}  // namespace terra::capture
