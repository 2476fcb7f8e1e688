#include "graph/trace/replay.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "engine/autograd/autograd.h"
#include "engine/errors/errors.h"
#include "engine/ops/call.h"
#include "engine/tensor/epoch.h"
#include "engine/tensor/transfer.h"
#include "graph/trace/emitter.h"
#include "graph/trace/numbers.h"

namespace terra::graph {
namespace {

/// A graph of so many records takes seconds to build; a loop of that length runs plainly.
constexpr size_t kMostLooped = 200'000;

/// The only element of a real tensor.
Scalar read_element(const Tensor& anywhere) {
  const Tensor t = to_host(anywhere);
  ensure(t.numel() == 1, "an item is taken of a tensor with one element");
  static const Op* to_dtype = find_op("to_dtype");
  if (is_complex(t.dtype())) return Scalar(*(*to_dtype)(t, DType::C128)->data_as<std::complex<double>>());
  if (is_floating(t.dtype())) return Scalar(*(*to_dtype)(t, DType::F64)->data_as<double>());
  if (t.dtype() == DType::Bool) return Scalar(*t->data_as<bool>());
  return Scalar(*(*to_dtype)(t, DType::I64)->data_as<int64_t>());
}

/// Of a real tensor or a known number.
bool truth_of(const ReplayValue& value) {
  if (const auto* known = std::get_if<Scalar>(&value)) return known->to_bool();
  const auto* tensor = std::get_if<Tensor>(&value);
  if (!tensor) throw InternalError("the truth of something that isn't there is asked");
  return read_element(*tensor).to_bool();
}

}  // namespace

/// Stands for the Python functions that passes over the tape call: the k-th call of a pass repeats its k-th run. Nodes
/// share it, and may outlive the replay.
class Replay::Callbacks {
 public:
  /// While it lives, calls are those of one pass.
  class Pass {
   public:
    Pass(Callbacks& callbacks, const CallbackRuns& runs)
        : callbacks_(callbacks),
          runs_(std::exchange(callbacks.runs_, &runs)),
          next_(std::exchange(callbacks.next_, 0)) {}
    ~Pass() {
      callbacks_.runs_ = runs_;
      callbacks_.next_ = next_;
    }
    Pass(const Pass&) = delete;

   private:
    Callbacks& callbacks_;
    const CallbackRuns* runs_;
    size_t next_;
  };

  explicit Callbacks(Replay& replay) : replay_(&replay) {}

  void close() {
    replay_ = nullptr;
    nodes.clear();
  }

  std::vector<Tensor> call(uint32_t callback, const std::vector<Tensor>& grads) {
    if (!replay_ || !runs_) throw CallbackOutlives();
    if (next_ >= runs_->size() || (*runs_)[next_]->callback != callback)
      throw InternalError("a pass over the tape calls other functions of the program than when it was recorded");
    const CallbackRun& run = *(*runs_)[next_++];
    for (size_t i = 0; i < grads.size() && i < run.gradients.size(); ++i)
      if (run.gradients[i] != kNoValue) replay_->set(run.gradients[i], grads[i]);
    replay_->run(run.records);
    return replay_->tensors(run.results);
  }

  std::map<uint32_t, Ref<autograd::Node>> nodes;

 private:
  Replay* replay_;
  const CallbackRuns* runs_ = nullptr;
  size_t next_ = 0;
};

class Replay::CallbackNode final : public autograd::Node {
 public:
  CallbackNode(const FunctionRecord& r, std::shared_ptr<Callbacks> callbacks)
      : name_(r.name), callback_(r.callback), saves_(r.saves), callbacks_(std::move(callbacks)) {
    results = static_cast<uint32_t>(r.outputs.size());
  }

  std::vector<Tensor> apply(const std::vector<Tensor>& grads) override {
    std::vector<Tensor> out = callbacks_->call(callback_, grads);
    out.resize(edges.size());
    for (size_t i = 0; i < edges.size(); ++i)
      if (!edges[i].node) out[i].reset();
    return out;
  }
  std::string name() const override { return name_; }
  void release_saved() override { released_ = saves_; }
  bool released() const override { return released_; }

 private:
  const std::string name_;
  const uint32_t callback_;
  const bool saves_;
  const std::shared_ptr<Callbacks> callbacks_;
  bool released_ = false;
};

Replay::Replay(const Trace& trace)
    : trace_(trace), values_(trace.values), callbacks_(std::make_shared<Callbacks>(*this)) {}
Replay::~Replay() { callbacks_->close(); }

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
  for (TraceId id : ids) {
    const auto* sequence = id < values_.size() ? std::get_if<std::vector<Tensor>>(&values_[id]) : nullptr;
    if (sequence)
      out.insert(out.end(), sequence->begin(), sequence->end());
    else
      out.push_back(tensor(id));
  }
  return out;
}

void Replay::run() {
  GradMode mode(trace_.modes);
  run(trace_.records);
}

void Replay::run(const std::vector<TraceRecord>& records) {
  for (const TraceRecord& record : records) run(record, &records != &trace_.records);
}

void Replay::run(const TraceRecord& record, bool of_callback) {
  at_line(record.file, record.line);
  if (!of_callback) begin_record(record);
  try {
    std::visit([this](const auto& what) { apply(what); }, record.what);
  } catch (const NumberRefused&) {
    throw;
  } catch (const LoopRefused&) {
    throw;
  } catch (const CallbackOutlives&) {
    throw;
  } catch (const InternalError& e) {
    if (!of_callback && takes_symbolic_number(record)) throw NumberRefused(record, e.what());
    throw;
  }
}

void Replay::apply(const LoopRecord& r) { r.body->ends_by_value() ? loop_by_value(*r.body) : rounds(*r.body); }

void Replay::apply(const BranchRecord& r) {
  if (const auto* known = std::get_if<Scalar>(&value(r.truth))) return go(*r.body, known->to_bool());
  branch_by_value(r);
}
void Replay::branch_by_value(const BranchRecord& branch) { go(*branch.body, truth_of(value(branch.truth))); }

void Replay::go(const BranchBody& body, bool truth) {
  play(body.ways[truth]);
  std::vector<ReplayValue> results;
  for (const auto& result : body.results) results.push_back(value(result.of[truth]));
  for (size_t i = 0; i < results.size(); ++i) set(body.results[i].outer, std::move(results[i]));
}

void Replay::play(std::span<const TraceRecord> records) {
  for (const TraceRecord& record : records) {
    looped_calls_ += record.is_op_call();
    run(record, false);
  }
}

std::vector<ReplayValue> Replay::values_of(const std::vector<TraceId>& ids) const {
  std::vector<ReplayValue> values;
  for (TraceId id : ids) values.push_back(value(id));
  return values;
}

void Replay::begin_round(const LoopBody& body, std::vector<ReplayValue> carried) {
  for (size_t i = 0; i < carried.size(); ++i) set(body.carried[i].inner, std::move(carried[i]));
}

bool Replay::goes_on(const TraceRecord& exit) const {
  if (const auto* fact = std::get_if<FactRecord>(&exit.what)) return holds(*fact);
  const auto& end = std::get<AssertRecord>(exit.what);
  return truth_of(value(end.tensor)) == end.expected;
}

void Replay::rounds(const LoopBody& body) {
  std::vector<ReplayValue> carried;
  for (const auto& c : body.carried) carried.push_back(value(c.init));
  std::vector<std::vector<Tensor>> sequences(body.collected.size());
  for (bool left = false; !left;) {
    begin_round(body, carried);
    looped_ += body.records.size();
    if (looped_ > kMostLooped) throw InternalError("a loop has too many rounds to be unrolled");
    play(std::span(body.records).first(body.exit));
    left = !goes_on(body.records[body.exit]);
    if (left) break;
    play(std::span(body.records).subspan(body.exit + 1));
    for (size_t i = 0; i < carried.size(); ++i) carried[i] = value(body.carried[i].next);
    for (size_t i = 0; i < sequences.size(); ++i)
      for (Tensor& item : tensors(body.collected[i].inner)) sequences[i].push_back(std::move(item));
  }
  std::vector<ReplayValue> results;
  for (const auto& l : body.left) results.push_back(value(l.inner));
  for (size_t i = 0; i < results.size(); ++i) set(body.left[i].outer, std::move(results[i]));
  for (size_t i = 0; i < sequences.size(); ++i) set(body.collected[i].sequence, std::move(sequences[i]));
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
  std::vector<std::vector<int64_t>> integers;
  integers.reserve(r.args.size());
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
      case TraceArg::Kind::Integers: {
        std::vector<int64_t>& list = integers.emplace_back();
        for (const TraceNumber& i : a.integers) list.push_back(number(i).to_int());
        args.push_back(Arg(std::span<const int64_t>(list)));
        break;
      }
    }
  }
  if (r.in_place) {
    call_in_place(*r.op, args);
    return;
  }
  std::vector<Tensor> results;
  call(*r.op, args, results);
  if (results.size() < r.results.size() || (results.size() > r.results.size() && !r.facts.empty()))
    throw InternalError(
        fmt::format("{}() made {} results where the trace has {}", r.op->name, results.size(), r.results.size()));
  for (size_t i = 0; i < r.results.size(); ++i) {
    if (!r.facts.empty()) check_result(r, i, results[i]);
    if (r.results[i] != kNoValue) set(r.results[i], results[i]);
  }
}

void Replay::check_result(const CallRecord& r, size_t index, const Tensor& result) const {
  const ResultFact& fact = r.facts[index];
  if (result.dtype() != fact.dtype || result.sizes().size() != fact.rank)
    throw InternalError(fmt::format("{}() made a {} for these sizes, where the recorded run made {} dimensions of {}",
                                    r.op->name, describe(result), fact.rank, name_of(fact.dtype)));
  bool handed_through = false;
  for (const TraceArg& a : r.args) {
    if (a.kind != TraceArg::Kind::Value || a.value == kNoValue) continue;
    const auto* t = std::get_if<Tensor>(&values_[a.value]);
    handed_through = handed_through || (t && *t == result);
  }
  const bool as_recorded = fact.same_as == kNoValue ? !handed_through : tensor(fact.same_as) == result;
  if (!as_recorded)
    throw InternalError(
        fmt::format("{}() hands a tensor through for some sizes and makes a new one for others", r.op->name));
}

Scalar Replay::number(const TraceNumber& n) const {
  if (n.id == kNoValue) return n.constant;
  ensure(n.id < values_.size(), "a trace numbers no value beyond Trace::values");
  const auto* s = std::get_if<Scalar>(&values_[n.id]);
  if (!s) throw InternalError(fmt::format("value {} of the trace is used as a known number but isn't one", n.id));
  return *s;
}

void Replay::apply(const SizeRecord& r) {
  const Tensor t = tensor(r.tensor);
  if (r.dim == SizeRecord::kElements) return set(r.result, Scalar(t.numel()));
  ensure(static_cast<size_t>(r.dim) < t.sizes().size(), "a size is read of a dimension that is there");
  set(r.result, Scalar(t.sizes()[static_cast<size_t>(r.dim)]));
}

ReplayValue Replay::operand(const TraceNumber& n) const {
  if (n.id == kNoValue) return n.constant;
  return value(n.id);
}

void Replay::apply(const NumberRecord& r) {
  const ReplayValue a = operand(r.a), b = operand(r.b);
  const bool known = std::holds_alternative<Scalar>(a) && std::holds_alternative<Scalar>(b);
  set(r.result, known ? computed(r.op, std::get<Scalar>(a), std::get<Scalar>(b)) : computed_in_a_run(r.op, a, b));
}

ReplayValue Replay::computed_in_a_run(NumberRecord::Op, const ReplayValue&, const ReplayValue&) {
  throw InternalError("arithmetic of the host program is done on something that isn't a known number");
}
void Replay::fact_in_a_run(const Tensor&, const std::vector<int64_t>&) {
  throw InternalError("a fact of the trace is about something that isn't a known number");
}

bool Replay::holds(const FactRecord& r) const {
  std::vector<int64_t> now;
  switch (r.what) {
    case FactRecord::What::Number: now = bits_of(number({r.value, {}})); break;
    case FactRecord::What::Contiguous: now.push_back(tensor(r.value).is_contiguous()); break;
    case FactRecord::What::Strides: {
      const Tensor t = tensor(r.value);
      now.assign(t.strides().begin(), t.strides().end());
      break;
    }
  }
  return now == r.expected;
}

void Replay::apply(const FactRecord& r) {
  const auto* in_a_run = r.what == FactRecord::What::Number ? std::get_if<Tensor>(&value(r.value)) : nullptr;
  if (in_a_run) return fact_in_a_run(*in_a_run, r.expected);
  if (holds(r)) return;
  static constexpr const char* kNames[] = {"a number that follows from sizes", "is_contiguous()", "stride()"};
  throw InternalError(fmt::format("{} isn't what it was in the recorded run", kNames[static_cast<size_t>(r.what)]));
}

ReplayValue Replay::item(const Tensor& t, Scalar::Kind kind) { return read_element(t).as(kind); }

void Replay::assert_truth(const ReplayValue& value, bool expected) {
  if (truth_of(value) != expected && failed_assert_ < 0) failed_assert_ = asserts_;
  ++asserts_;
}

void Replay::apply(const BackwardRecord& r) {
  const std::vector<Tensor> inputs = tensors(r.inputs);
  const Callbacks::Pass pass(*callbacks_, r.runs);
  autograd::backward(tensors(r.roots), tensors(r.gradients), r.retain_graph, r.create_graph, inputs);
}

void Replay::apply(const GradRecord& r) {
  static const Op* zeros_like = find_op("zeros_like");
  const std::vector<Tensor> inputs = tensors(r.inputs);
  const Callbacks::Pass pass(*callbacks_, r.runs);
  const std::vector<Tensor> grads = autograd::gradients(tensors(r.roots), tensors(r.gradients), inputs, r.retain_graph,
                                                        r.create_graph, r.allow_unused);
  for (size_t i = 0; i < r.results.size() && i < grads.size(); ++i)
    if (r.results[i] != kNoValue)
      set(r.results[i], grads[i].defined() || !r.materialize ? grads[i] : (*zeros_like)(inputs[i]));
}

void Replay::apply(const ReadGradRecord& r) {
  const Tensor g = autograd::grad(tensor(r.tensor));
  if (g.defined() != (r.result != kNoValue))
    throw InternalError("a .grad that was there when the program was recorded isn't there in its graph, or vice versa");
  if (g.defined()) set(r.result, g);
}

void Replay::apply(const WriteGradRecord& r) { autograd::set_grad(tensor(r.tensor), tensor(r.value)); }
void Replay::apply(const GradModeRecord& r) { set_gradient_modes(r.modes); }
void Replay::apply(const RequiresGradRecord& r) { autograd::set_requires_grad(tensor(r.tensor), r.value); }

void Replay::apply(const FunctionRecord& r) {
  if (r.outlives) return outliving_function(r);
  const Ref<autograd::Node> node(new CallbackNode(r, callbacks_));
  for (const Tensor& t : tensors(r.inputs))
    node->edges.push_back(t.requires_grad() ? autograd::gradient_edge(t) : autograd::Edge{});
  for (uint32_t i = 0; i < r.outputs.size(); ++i) autograd::set_history(tensor(r.outputs[i]), node, i);
  callbacks_->nodes[r.callback] = node;
}

void Replay::apply(const HistoryRecord& r) {
  const Tensor from = tensor(r.tensor), to = from.alias();
  lay_out(*to, from.strides(), to->offset);
  if (r.callback != HistoryRecord::kOutside) autograd::set_history(to, callbacks_->nodes.at(r.callback), r.index);
  set(r.result, to);
}

void Replay::apply(const HookRecord& r) {
  autograd::add_hook(tensor(r.tensor), [callbacks = callbacks_, callback = r.callback](const Tensor& g) {
    const std::vector<Tensor> out = callbacks->call(callback, {g});
    return out.empty() ? Tensor() : out[0];
  });
}

void Replay::apply(const DataRecord& r) { set(r.result, GraphEmitter::uncounted(tensor(r.tensor))); }
void Replay::apply(const RetainGradRecord& r) { autograd::retain_grad(tensor(r.tensor)); }

}  // namespace terra::graph
