#include "interpreter_hooks/recorder/region/symbolic_sizes.h"

#include "graph/trace/numbers.h"
#include "interpreter_hooks/cpython/instructions.h"
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/recorder/calls/call_models.h"
#include "interpreter_hooks/recorder/region/loops.h"
#include "interpreter_hooks/recorder/region/phis.h"
#include "interpreter_hooks/recorder/trace/builder.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>

namespace terra::capture {

using graph::kNoValue;
using graph::TraceNumber;
using Operation = graph::NumberRecord::Op;

namespace {

bool is_plain_number(PyObject* object) { return is_number(object) || PyBool_Check(object); }

/// False for integers of more than 64 bits.
bool to_scalar(PyObject* object, Scalar& out) {
  if (PyBool_Check(object)) return out = Scalar(object == Py_True), true;
  if (PyFloat_CheckExact(object)) return out = Scalar(PyFloat_AS_DOUBLE(object)), true;
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
  out = Scalar(static_cast<int64_t>(value));
  return overflow == 0;
}

std::optional<Operation> binary_operation(Word code) {
  switch (code % TERRA_IN_PLACE) {
    case TERRA_ADD: return Operation::Add;
    case TERRA_SUBTRACT: return Operation::Subtract;
    case TERRA_MULTIPLY: return Operation::Multiply;
    case TERRA_FLOOR_DIVIDE: return Operation::FloorDivide;
    case TERRA_REMAINDER: return Operation::Modulo;
    case TERRA_TRUE_DIVIDE: return Operation::TrueDivide;
    case TERRA_POWER: return Operation::Power;
    default: return {};
  }
}

size_t operands_of(Operation operation) {
  return operation == Operation::Minimum || operation == Operation::Maximum ? 2 : 1;
}

std::optional<Operation> call_operation(PyObject* callee, size_t operands) {
  const CallModel* model = model_of(callee);
  if (!model || !model->operation || operands != operands_of(*model->operation)) return {};
  return model->operation;
}

std::optional<Operation> operation_of(Op op, Word code, PyObject* callee, size_t operands) {
  static_assert(Py_LT == 0 && Py_GE == 5);
  if (op == Op::Compare) return static_cast<Operation>(static_cast<int>(Operation::Less) + static_cast<int>(code));
  if (op == Op::Binary) return binary_operation(code);
  if (op == Op::Unary && code == unary_negative) return Operation::Negate;
  if (op == Op::Call && callee) return call_operation(callee, operands);
  return {};
}

}  // namespace

Value Sizes::add(Node node, std::string name, bool late, PyObject* value) {
  const Register reg = r_.new_register(std::move(name), true, late);
  node.value = r_.hold(value);
  nodes_.emplace(reg, std::move(node));
  return Value::dynamic(reg, value);
}

Value Sizes::size(graph::TraceId tensor, int32_t dim, PyObject* value, Register input, const std::string& name) {
  const std::vector<uint64_t> key = {tensor, static_cast<uint64_t>(dim)};
  if (const auto known = known_.find(key); input != no_register && known != known_.end())
    return Value::dynamic(known->second, r_.hold(value));
  Node node;
  node.is_size = true;
  node.tensor = tensor;
  node.dim = dim;
  node.input = input;
  // At once: what an in-place op makes of the tensor's shape later doesn't count.
  node.id = trace_.new_value();
  trace_.record(graph::SizeRecord{tensor, dim, node.id});
  const Value made = add(std::move(node), name, input == no_register, value);
  if (input != no_register) known_.emplace(key, made.reg);
  return made;
}

const Sizes::Node* Sizes::node_of(const Value& value) const {
  const auto found = value.has_register() ? nodes_.find(value.reg) : nodes_.end();
  return found == nodes_.end() ? nullptr : &found->second;
}

bool Sizes::pure(const Value& value) const {
  const auto found = value.has_register() ? nodes_.find(value.reg) : nodes_.end();
  return found != nodes_.end() && found->second.pure;
}

Value Sizes::computed(Op op, Word code, PyObject* callee, const std::vector<Value>& in, PyObject* result) {
  if (nodes_.empty() || !is_plain_number(result)) return {};
  Node node;
  bool about_sizes = false, late = false;
  std::vector<Scalar> operands;
  for (const Value& value : in) {
    if (!is_plain_number(value.object) || !(value.is_fact() || value.has_register())) return {};
    if (!to_scalar(value.object, operands.emplace_back())) return {};
    if (value.is_fact()) continue;
    const bool follows = follow(value);
    if (!follows && r_.late(value.reg)) return {};  // read from a tensor
    about_sizes |= follows;
    late |= r_.late(value.reg);
    node.pure &= pure(value);
  }
  const std::optional<Operation> operation = operation_of(op, code, callee, in.size());
  Scalar expected;
  if (!about_sizes || !operation || !to_scalar(result, expected)) return {};
  for (const Value& value : in)
    if (value.has_register() && r_.phis().refuse(value.reg)) return {};
  try {  // what the graph library makes of it must be what Python made
    const Scalar same = graph::computed(*operation, operands[0], operands.size() > 1 ? operands[1] : Scalar());
    if (graph::bits_of(same) != graph::bits_of(expected)) return {};
  } catch (const std::exception&) {
    return {};
  }
  std::vector<uint64_t> key = {static_cast<uint64_t>(op), code, reinterpret_cast<uintptr_t>(callee)};
  for (const Value& value : in) {
    node.counted |= is_counted(value);
    key.push_back(value.is_fact() ? 0 : static_cast<uint64_t>(value.reg) + 1);
    for (int64_t bits : graph::bits_of(operands[static_cast<size_t>(&value - in.data())]))
      key.push_back(value.is_fact() ? static_cast<uint64_t>(bits) : 0);
  }
  if (const auto known = known_.find(key); !late && known != known_.end())
    return Value::dynamic(known->second, r_.hold(result));
  node.op = op;
  node.code = code;
  node.callee = callee;
  node.operation = *operation;
  node.in = in;
  const Value made = add(std::move(node), "", late, result);
  if (!late) known_.emplace(std::move(key), made.reg);
  return made;
}

bool Sizes::is_counted(const Value& value) const {
  const Node* node = node_of(value);
  return node && node->counted;
}

Value Sizes::counted(Op op, Word code, const std::vector<Value>& in, PyObject* result) {
  for (const Value& value : in)
    if (value.has_register()) r_.phis().refuse(value.reg);
  Node node;
  node.op = op;
  node.code = code;
  node.operation = *operation_of(op, code, nullptr, in.size());
  node.in = in;
  node.counted = true;
  const Value made = add(std::move(node), "", true, result);
  number(made);
  return made;
}

Value Sizes::counter(const Value& number) {
  const Value none = Value::fact(r_.hold_new(PyLong_FromLong(0)));
  return counted(Op::Binary, TERRA_ADD, {number, none}, number.object);
}

Value Sizes::truth(const Value& value) {
  if (!is_counted(value) || PyBool_Check(value.object)) return value;
  const Value none = Value::fact(r_.hold_new(PyLong_FromLong(0)));
  return counted(Op::Compare, Py_NE, {value, none}, PyObject_IsTrue(value.object) ? Py_True : Py_False);
}

void Sizes::leaves(const Value& value, std::vector<Value>& out) const {
  std::set<Register> met;  // x + x, and that plus itself: each is looked at once
  std::vector<Value> open = {value};
  while (!open.empty()) {
    const Value now = open.back();
    open.pop_back();
    if (!now.has_register() || !met.insert(now.reg).second) continue;
    const Node* node = node_of(now);
    if (!node || (!node->counted && !node->in.size()))
      out.push_back(now);
    else
      open.insert(open.end(), node->in.rbegin(), node->in.rend());
  }
}

Sizes::Part Sizes::part(const Value& value) const {
  const Node* node = node_of(value);
  if (!node) return {};
  if (node->id != kNoValue) return {node->id, 0, nullptr, nullptr};
  return {kNoValue, static_cast<uint64_t>(node->op) << 32 | node->code, node->callee, &node->in};
}

std::pair<Register, int32_t> Sizes::size_of(Register reg) const {
  const auto found = nodes_.find(reg);
  const bool size = found != nodes_.end() && found->second.is_size;
  return size ? std::pair{found->second.input, found->second.dim} : std::pair{no_register, 0};
}

void Sizes::derived(Register result, const std::vector<Value>& in) {
  for (const Value& value : in) {
    if (value.has_register() && r_.late(value.reg) && !pure(value) && !is_derived(value)) return;
    if (value.has_register() && !r_.late(value.reg)) return;
  }
  derived_.insert(result);
}

void Sizes::need(Register reg) {
  const auto found = nodes_.find(reg);
  if (found == nodes_.end() || found->second.needed) return;
  found->second.needed = true;
  const Node node = found->second;
  if (node.counted) return trace_.publish(number(Value::dynamic(reg, node.value)).id, reg);
  Program& entry = r_.entry_being_made().entry;
  if (node.is_size) {
    if (r_.late(reg)) return trace_.publish(node.id, reg);
    return entry.emit(Op::SizeOf, reg, node.input, no_register,
                      {node.dim == graph::SizeRecord::kElements ? all_elements : static_cast<Word>(node.dim)});
  }
  std::vector<Register> operands;
  for (const Value& value : node.in) operands.push_back(r_.reg_of(value));
  Program& program = r_.late(reg) ? r_.entry_being_made().late : entry;
  if (node.op == Op::Call)
    return program.emit(node.op, reg, no_register, no_register, call_operands(r_.file(), node.callee, operands));
  program.emit(node.op, reg, operands[0], operands.size() > 1 ? operands[1] : no_register, {node.code});
}

bool Sizes::fix(const Value& value) {
  const auto found = value.has_register() ? nodes_.find(value.reg) : nodes_.end();
  if (found == nodes_.end() || !(found->second.pure || found->second.counted) || !r_.late(value.reg)) return false;
  if (found->second.fixed) return true;
  found->second.fixed = true;
  if (found->second.counted) {
    std::vector<Value> relied_on;
    leaves(value, relied_on);
    r_.loops().rely_on(relied_on);
  }
  Scalar seen;
  to_scalar(found->second.value, seen);
  trace_.record(graph::FactRecord{graph::FactRecord::What::Number, number(value).id, graph::bits_of(seen)});
  return true;
}

TraceNumber Sizes::number(const Value& value) {
  Scalar known;
  if (!to_scalar(value.object, known)) {
    Value copy = value;
    r_.pin(copy);
    r_.stop(Reason::TensorOpaque, "a size of more than 64 bits");
  }
  if (!value.has_register()) return {kNoValue, known};
  const auto found = nodes_.find(value.reg);
  if (found == nodes_.end()) return {trace_.structural_input(value), {}};
  if (found->second.id != kNoValue) return {found->second.id, {}};
  const Node node = found->second;
  graph::NumberRecord record;
  record.op = node.operation;
  record.a = number(node.in[0]);
  if (node.in.size() > 1) record.b = number(node.in[1]);
  record.result = trace_.new_value();
  nodes_.at(value.reg).id = record.result;
  trace_.record(record);
  return {record.result, {}};
}

}  // namespace terra::capture
