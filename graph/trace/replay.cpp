#include "graph/trace/replay.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/autograd/autograd.h"
#include "engine/errors/errors.h"
#include "engine/ops/call.h"

namespace terra::graph {
namespace {

/// The only element of a real tensor.
Scalar read_element(const Tensor& t) {
  ensure(t.numel() == 1, "an item is taken of a tensor with one element");
  static const Op* to_dtype = find_op("to_dtype");
  if (is_floating(t.dtype())) return Scalar(*(*to_dtype)(t, DType::F64)->data_as<double>());
  if (t.dtype() == DType::Bool) return Scalar(*t->data_as<bool>());
  return Scalar(*(*to_dtype)(t, DType::I64)->data_as<int64_t>());
}

}  // namespace

void Replay::set(TraceId id, ReplayValue value) {
  if (id == kNoValue) return;
  ensure(id < values_.size(), "a trace numbers no value beyond Trace::values");
  values_[id] = std::move(value);
}

Tensor Replay::tensor(TraceId id) const {
  if (id == kNoValue) return {};
  ensure(id < values_.size(), "a trace numbers no value beyond Trace::values");
  const auto* t = std::get_if<Tensor>(&values_[id]);
  if (!t) throw InternalError(fmt::format("value {} of the trace is used as a tensor but isn't one at that point", id));
  return *t;
}

std::vector<Tensor> Replay::tensors(const std::vector<TraceId>& ids) const {
  std::vector<Tensor> out;
  for (TraceId id : ids) out.push_back(tensor(id));
  return out;
}

void Replay::run() {
  GradMode mode(trace_.grad_enabled);
  for (size_t i = 0; i < trace_.records.size(); ++i) {
    const TraceRecord& record = trace_.records[i];
    at_line(record.file, record.line);
    try {
      std::visit([this](const auto& what) { apply(what); }, record.what);
    } catch (const InternalError& e) {
      if (takes_symbolic_number(record)) throw NumberRefused(i, e.what());
      throw;
    }
  }
}

bool Replay::takes_symbolic_number(const TraceRecord& record) const {
  const auto* call = std::get_if<CallRecord>(&record.what);
  if (!call) return false;
  return std::any_of(call->args.begin(), call->args.end(), [&](const TraceArg& a) {
    const bool there = a.kind == TraceArg::Kind::Value && a.value != kNoValue;
    const auto* t = there ? std::get_if<Tensor>(&values_[a.value]) : nullptr;
    return t && (*t)->wrapped_number && (*t)->is_symbolic();
  });
}

void Replay::apply(const CallRecord& r) {
  std::vector<std::vector<Tensor>> lists;
  lists.reserve(r.args.size());
  std::vector<Arg> args;
  std::vector<Tensor> held;
  for (const TraceArg& a : r.args) {
    switch (a.kind) {
      case TraceArg::Kind::Constant: args.push_back(a.constant.args().empty() ? Arg() : a.constant.args()[0]); break;
      case TraceArg::Kind::Value:
        ensure(a.value == kNoValue || a.value < values_.size(), "a trace numbers no value beyond Trace::values");
        if (a.value == kNoValue) {
          args.emplace_back();
        } else if (const auto* s = std::get_if<Scalar>(&values_[a.value])) {
          args.push_back(Arg(*s));
        } else {
          held.push_back(tensor(a.value));
          args.push_back(Arg(held.back().get()));
        }
        break;
      case TraceArg::Kind::ValueList: args.push_back(Arg(lists.emplace_back(tensors(a.list)))); break;
    }
  }
  if (r.in_place) {
    call_in_place(*r.op, args);
    return;
  }
  std::vector<Tensor> results;
  call(*r.op, args, results);
  for (size_t i = 0; i < r.results.size(); ++i) {
    if (r.results[i] == kNoValue) continue;
    if (i >= results.size())
      throw InternalError(
          fmt::format("{}() made {} results where the trace has {}", r.op->name, results.size(), r.results.size()));
    set(r.results[i], results[i]);
  }
}

ReplayValue Replay::item(const Tensor& t, Scalar::Kind kind) {
  const Scalar s = read_element(t);
  switch (kind) {
    case Scalar::Kind::Bool: return Scalar(s.to_bool());
    case Scalar::Kind::Int: return Scalar(s.to_int());
    case Scalar::Kind::Float: return Scalar(s.to_double());
  }
  return s;
}

void Replay::assert_truth(const Tensor& t, bool expected) {
  if (read_element(t).to_bool() != expected && failed_assert_ < 0) failed_assert_ = asserts_;
  ++asserts_;
}

void Replay::apply(const BackwardRecord& r) {
  const std::vector<Tensor> inputs = tensors(r.inputs);
  autograd::backward(tensors(r.roots), tensors(r.gradients), r.retain_graph, r.create_graph, inputs);
}

void Replay::apply(const GradRecord& r) {
  static const Op* zeros_like = find_op("zeros_like");
  const std::vector<Tensor> inputs = tensors(r.inputs);
  const std::vector<Tensor> grads =
      autograd::gradients(tensors(r.roots), tensors(r.gradients), inputs, r.retain_graph, r.create_graph, r.allow_unused);
  for (size_t i = 0; i < r.results.size() && i < grads.size(); ++i)
    if (r.results[i] != kNoValue) set(r.results[i], grads[i].defined() || !r.materialize ? grads[i] : (*zeros_like)(inputs[i]));
}

void Replay::apply(const ReadGradRecord& r) {
  const Tensor g = autograd::grad(tensor(r.tensor));
  if (g.defined() != (r.result != kNoValue))
    throw InternalError("a .grad that was there when the program was recorded isn't there in its graph, or vice versa");
  if (g.defined()) set(r.result, g);
}

void Replay::apply(const WriteGradRecord& r) { autograd::set_grad(tensor(r.tensor), tensor(r.value)); }
void Replay::apply(const GradModeRecord& r) { set_grad_enabled(r.enabled); }
void Replay::apply(const RequiresGradRecord& r) { autograd::set_requires_grad(tensor(r.tensor), r.value); }

}  // namespace terra::graph
