#include "interpreter_hooks/recorder/region/tensor_scalars.h"

#include "graph/trace/numbers.h"
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/recorder/trace/builder.h"

#include <algorithm>

namespace terra::capture {

using graph::TraceNumber;
using Operation = graph::NumberRecord::Op;

namespace {

/// Integers that are floats as well.
constexpr long long most_exact = 1LL << 53;

bool fits(PyObject* number, bool floats) {
  if (PyFloat_CheckExact(number)) return floats;
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
  return !overflow && (!floats || (value <= most_exact && value >= -most_exact));
}

Scalar scalar_of(PyObject* number) {
  if (PyFloat_CheckExact(number)) return Scalar(PyFloat_AS_DOUBLE(number));
  return Scalar(static_cast<int64_t>(PyLong_AsLongLong(number)));
}

}  // namespace

Value TensorScalars::add(graph::TraceId id, PyObject* object) {
  const Register reg = r_.new_register("", true, true);
  nodes_.emplace(reg, Node{id});
  return Value::dynamic(reg, r_.hold(object));
}

Value TensorScalars::item(graph::TraceId id, PyObject* number) { return add(id, number); }

bool TensorScalars::operand(const Value& value, bool floats, TraceNumber& out) {
  const bool number = value.known() && is_number(value.object) && !PyBool_Check(value.object);
  if (!number || !fits(value.object, floats)) return false;
  if (value.is_fact()) {
    out.constant = scalar_of(value.object);
    return true;
  }
  // Numbers of the run are compared with their like: a graph converts none of them.
  if (!value.has_register() || floats != static_cast<bool>(PyFloat_CheckExact(value.object))) return false;
  if (follow(value)) {
    out.id = id(value);
    return true;
  }
  if (r_.late(value.reg) || trace_.sizes().follow(value)) return false;
  out.id = trace_.number_input(value);
  return r_.alive();
}

Value TensorScalars::compared(Word code, const std::vector<Value>& in, PyObject* result) {
  if (in.size() != 2 || !PyBool_Check(result) ||
      std::none_of(in.begin(), in.end(), [&](const Value& v) { return follow(v); }))
    return {};
  const bool floats = PyFloat_CheckExact(in[0].object) || PyFloat_CheckExact(in[1].object);
  graph::NumberRecord record;
  static_assert(Py_LT == 0 && Py_GE == 5);
  record.op = static_cast<Operation>(static_cast<int>(Operation::Less) + static_cast<int>(code));
  if (!operand(in[0], floats, record.a) || !operand(in[1], floats, record.b)) return {};
  const Scalar same = graph::computed(record.op, scalar_of(in[0].object), scalar_of(in[1].object));
  if (same.to_bool() != (result == Py_True)) return {};
  record.result = trace_.new_value();
  trace_.record(record);
  return add(record.result, result);
}

void TensorScalars::need(Register reg) {
  const auto found = nodes_.find(reg);
  if (found == nodes_.end() || found->second.needed) return;
  found->second.needed = true;
  trace_.publish(found->second.id, reg);
}

bool TensorScalars::decide(const Value& value) {
  const auto found = value.has_register() ? nodes_.find(value.reg) : nodes_.end();
  if (found == nodes_.end()) return false;
  if (std::exchange(found->second.decided, true)) return true;
  trace_.assert_truth(found->second.id, PyObject_IsTrue(value.object));
  return true;
}

}  // namespace terra::capture
