// What a frame does with gradients: .grad, requires_grad, backward(), autograd.grad().
#include "engine/autograd/autograd.h"
#include "engine/autograd/walk.h"
#include "graph/trace/ids.h"
#include "interpreter_hooks/bindings/tensor/tensor_object.h"
#include "interpreter_hooks/guards/tensors.h"
#include "interpreter_hooks/recorder/calls/call_models.h"
#include "interpreter_hooks/recorder/trace/builder.h"
#include "interpreter_hooks/recorder/trace/ids.h"

#include <algorithm>

namespace terra::capture {

using graph::kNoValue;
using graph::TraceId;

namespace {

/// (tensor): asked by the entry program.
PyObject* has_hooks(PyObject*, PyObject* const* given, Py_ssize_t) { return PyBool_FromLong(is_hooked(given[0])); }

/// The hooks of a leaf are called with the gradient that is asked of it: it has none.
void require_unhooked(Recording& r, PyObject* leaf) {
  Shadow* known = r.find(leaf);
  if (!known || !known->outside || !r.alive()) return;
  PyObject* asks = c_function<has_hooks>("has_hooks");
  std::vector<Word> words = call_operands(r.file(), asks, {r.reg_of(known->self)});
  Value hooked = r.host(Op::Call, no_register, no_register, std::move(words), Py_False, {known->self});
  r.pin(hooked);
}

}  // namespace

void TraceBuilder::on_grad_read(PyObject* tensor, PyObject* value) {
  if (!take_report()) return;
  Pending& open = *pending();
  gradients_ = true;
  watched_.insert(tensor);
  graph::ReadGradRecord read{id_of(tensor), kNoValue};
  if (!r_.alive()) return;
  if (value == Py_None) {
    open.extra = Value::fact(Py_None);
  } else if (Shadow* known = r_.find(value)) {
    read.result = known->trace_id != kNoValue ? known->trace_id : make_input(*known);
  } else {
    read.result = new_value();
    if (varies(read.tensor)) varying_.insert(read.result);
    r_.put(value, Value::fresh(value), false, "").trace_id = read.result;
  }
  record(read);
}

void TraceBuilder::on_grad_write(PyObject* tensor, PyObject* value) {
  if (!take_report()) return;
  gradients_ = true;
  watched_.insert(tensor);
  graph::WriteGradRecord write{id_of(tensor), id_of(value)};
  if (r_.alive()) record(write);
}

void TraceBuilder::on_data(PyObject* tensor, PyObject* data) {
  if (!take_report()) return;
  graph::DataRecord record_of{id_of(tensor), new_value()};
  if (varies(record_of.tensor)) varying_.insert(record_of.result);
  r_.put(data, Value::fresh(data), false, "").trace_id = record_of.result;
  data_of_[record_of.result] = record_of.tensor;
  if (r_.alive()) record(record_of);
}

/// x.data -= y ends with the assignment of what x.data gave, which changes nothing.
void TraceBuilder::on_data_write(PyObject* tensor, PyObject* data) {
  if (!take_report()) return;
  Shadow* known = r_.find(data);
  const auto from = known ? data_of_.find(known->trace_id) : data_of_.end();
  if (from != data_of_.end() && from->second == id_of(tensor) && !moved_.count(from->first)) return;
  Shadow* target = r_.find(tensor);
  if (!target || !target->outside || !known) return r_.stop(Reason::TensorOpaque, "data =");
  writes_ = true;
  closed_.try_emplace(id_of(tensor), "a tensor whose data was assigned in the frame");
  leaf_was_moved_ |= tensor_of(tensor)->wants_grad;
  id_of(data);
  static PyObject* const name = PyUnicode_InternFromString("data");
  if (r_.alive()) r_.write({Effect::SetAttribute, target->self, name, known->self, {}, "", {}});
}

void TraceBuilder::on_requires_grad(PyObject* tensor, bool value) {
  if (!take_report()) return;
  if (links_) return refuse_behind_functions();
  gradients_ = true;
  watched_.insert(tensor);
  pin_operands({});
  graph::RequiresGradRecord flag{id_of(tensor), value};
  if (r_.alive()) record(flag);
}

std::vector<TraceId> TraceBuilder::ids_of(std::span<PyObject* const> tensors) {
  std::vector<TraceId> ids;
  for (PyObject* tensor : tensors) ids.push_back(id_of(tensor));
  return ids;
}

/// The tape of what was computed outside is the program's: a walk that starts there is not the graph's. Nor is one that
/// reads a leaf which has other memory than the graph's.
bool TraceBuilder::starts_inside(const hooks::BackwardReport& report) {
  if (leaf_was_moved_) r_.stop(Reason::GradientState, "backward() behind an assignment to data");
  for (PyObject* root : report.roots) {
    Shadow* known = r_.find(root);
    if (!known || !known->outside || is_leaf(*tensor_of(root))) continue;
    r_.stop(Reason::GradientState, "backward() of a loss that was computed outside");
  }
  return r_.alive();
}

/// True, and the recording has ended, if the tape of the frame leads on to one outside.
bool TraceBuilder::has_history_outside() {
  for (const Input& input : inputs_) {
    if (!input.what.requires_grad || input.what.is_leaf) continue;
    r_.stop(Reason::GradientState, "backward() through " + input.what.name + ", which was computed outside");
    return true;
  }
  return false;
}

/// It is the same each time if all of it was made inside, from leaves.
void TraceBuilder::on_history_read(PyObject* tensor) {
  if (!listening()) return;
  bool outside = false;
  const autograd::Edge history = autograd::history(hooks::tensor_of(tensor));
  autograd::each_node(history.node.get(), [&](const autograd::Node& node) {
    const bool is_of_leaf = dynamic_cast<const autograd::AccumulateGrad*>(&node) != nullptr;
    outside = outside || (!is_of_leaf && node.sequence < first_node_);
  });
  if (outside) r_.stop(Reason::GradientState, "what a history leads to that was made outside");
}

void TraceBuilder::on_backward(const hooks::BackwardReport& report) {
  if (!take_report()) return;
  gradients_ = accumulates_ = true;
  graph::BackwardRecord backward;
  if (links_) return refuse_behind_functions();
  backward.retain_graph = report.retain_graph;
  backward.create_graph = report.create_graph;
  backward.roots = ids_of(report.roots);
  backward.inputs = ids_of(report.inputs);
  if (!starts_inside(report) || has_history_outside()) return;
  bool plain = std::all_of(report.gradients.begin(), report.gradients.end(), [](PyObject* g) { return g == Py_None; });
  if (!plain) backward.gradients = ids_of(report.gradients);
  backward.runs = take_runs();
  if (r_.alive()) record(std::move(backward));
}

void TraceBuilder::on_grad(const hooks::BackwardReport& report) {
  if (!take_report()) return;
  if (links_) return refuse_behind_functions();
  graph::GradRecord grad;
  grad.retain_graph = report.retain_graph;
  grad.create_graph = report.create_graph;
  grad.allow_unused = report.allow_unused;
  grad.materialize = report.materialize;
  grad.roots = ids_of(report.roots);
  grad.inputs = ids_of(report.inputs);
  if (!r_.alive() || !starts_inside(report)) return;
  // What is made inside can't be reached through a tape outside; anything else could be.
  bool all_fresh =
      std::all_of(report.inputs.begin(), report.inputs.end(), [&](PyObject* input) { return r_.find(input)->fresh(); });
  if (!all_fresh && has_history_outside()) return;
  for (PyObject* input : report.inputs) require_unhooked(r_, input);
  bool plain = std::all_of(report.gradients.begin(), report.gradients.end(), [](PyObject* g) { return g == Py_None; });
  if (!plain) grad.gradients = ids_of(report.gradients);
  for (PyObject* result : report.results) {
    if (result == Py_None || r_.find(result)) {
      grad.results.push_back(kNoValue);  // not used, or a gradient that was given
    } else {
      grad.results.push_back(new_value());
      if (varies(grad.inputs[grad.results.size() - 1])) varying_.insert(grad.results.back());
      r_.put(result, Value::fresh(result), false, "").trace_id = grad.results.back();
    }
  }
  grad.runs = take_runs();
  if (r_.alive()) record(std::move(grad));
}

void TraceBuilder::on_grad_mode(GradientModes modes) {
  if (!take_report()) return;
  if (modes.enabled && !modes.inference && !without_history_.empty())
    return r_.stop(Reason::GradientState, "an autograd.Function that was applied outside");
  record(graph::GradModeRecord{modes});
}

void TraceBuilder::on_mode_read() {
  if (listening()) guard_mode();
}

/// Where gradients are read, written or accumulated, the .grad that a leaf has at the start is an input of its own, or
/// None. Where they are accumulated no hook looks on.
void TraceBuilder::link_gradients() {
  for (size_t i = 0; i < inputs_.size() && r_.alive(); i++) {
    PyObject* object = inputs_[i].object;
    const bool collects = inputs_[i].what.requires_grad && inputs_[i].what.is_leaf;
    if (!collects && !watched_.count(object)) continue;
    if (!inputs_[i].what.is_leaf) {
      return r_.stop(Reason::GradientState, inputs_[i].what.name + ".grad, which was computed outside");
    }
    Register reg = inputs_[i].reg;
    Tensor gradient = first_gradients_[object];
    if (!gradient.defined()) {
      r_.guard(Op::NoGradient, reg, {Word{accumulates_}});
      continue;
    }
    PyObject* holder = r_.hold_new(object_of(gradient));
    Shadow* known = r_.find(holder);
    if (known && known->trace_id != kNoValue && known->trace_id >= first_input) {
      inputs_[i].what.grad = known->trace_id;
      r_.guard(Op::Same, r_.reg_of(known->self), {}, r_.gradient_register(reg, inputs_[i].what.name, accumulates_));
      continue;
    }
    TraceId seen_as = known ? known->trace_id : kNoValue;
    Register gradient_reg = r_.gradient_register(reg, inputs_[i].what.name, accumulates_);
    r_.guard_tensor(gradient_reg, holder, inputs_[i].what.name + ".grad");
    Shadow& shadow = r_.put(holder, Value::dynamic(gradient_reg, holder), true, inputs_[i].what.name + ".grad");
    TraceId id = make_input(shadow);
    inputs_[i].what.grad = id;
    if (seen_as != kNoValue) {  // it was read by the frame before it was known to be an input
      auto same = [&](TraceId& value, bool = false) {
        if (value == seen_as) value = id;
      };
      graph::EachId each(same);
      for (auto& record : trace_.records) each(record);
      for (auto& [output, output_reg] : outputs_) same(output);
    }
  }
}

}  // namespace terra::capture
