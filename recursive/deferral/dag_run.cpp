#include "recursive/deferral/dag_run.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "engine/autograd/autograd.h"
#include "engine/autograd/saved.h"
#include "engine/autograd/sparse_gradients.h"
#include "engine/errors/errors.h"
#include "engine/ops/call.h"
#include "engine/tensor/sparse.h"
#include "kernels/abi/parallel.h"

namespace terra::recursive {
namespace {

constexpr uint32_t kNone = CallDag::kNone;
constexpr size_t kAlignment = 64;

size_t aligned(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

/// One of few sizes, of which the allocator soon has a block that is not in use.
size_t common_size(size_t bytes) {
  const size_t step = std::max(std::bit_floor(bytes) / 8, kAlignment);
  return (bytes + step - 1) / step * step;
}

bool is_backward(Moment m) { return m.phase == Moment::Phase::Backward || m.phase == Moment::Phase::After; }

/// The tensor, or a copy with its elements row by row; without a history.
Tensor contiguous(const Tensor& t) {
  static const Op* op = find_op("contiguous");
  if (t.is_contiguous()) return t.requires_grad() ? t.alias() : t;
  const GradMode off(false);
  return (*op)(t);
}

/// `sum` is undefined where nothing has arrived before.
void add_up(Tensor& sum, const Tensor& g) { sum = sum.defined() ? autograd::sum_of(sum, g) : g; }

template <class T>
void add_rows(char* to, const char* from, size_t bytes) {
  auto* a = reinterpret_cast<T*>(to);
  const auto* b = reinterpret_cast<const T*>(from);
  for (size_t i = 0; i < bytes / sizeof(T); ++i) a[i] += b[i];
}

void add_row(DType dtype, char* to, const char* from, size_t bytes) {
  if (dtype == DType::F32) return add_rows<float>(to, from, bytes);
  ensure(dtype == DType::F64, "gradients of deferred calls are float32 or float64");
  add_rows<double>(to, from, bytes);
}

/// Null: nothing is there that isn't.
bool is_finite(const char* row, DType dtype, size_t bytes) {
  const auto all = [&](const auto* elements) {
    return std::all_of(elements, elements + bytes / sizeof(*elements), [](auto x) { return std::isfinite(x); });
  };
  if (!row) return true;
  return dtype == DType::F32 ? all(reinterpret_cast<const float*>(row)) : all(reinterpret_cast<const double*>(row));
}

/// Copies `bytes` for each row; about so much costs a row beside its bytes.
template <class F>
void for_rows(uint32_t count, size_t bytes, F&& f) {
  cpu::parallel_for(count, cpu::grain_for_cost(static_cast<int64_t>(bytes / 4) + 80), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) f(static_cast<uint32_t>(i));
  });
}

}  // namespace

DagRun::DagRun(const CallDag& dag) : dag_(dag), schedule_(dag), memory_(dag.kinds.size()) {}

// ---- memory -----------------------------------------------------------------------------------------------------

void DagRun::allocate(uint32_t kind, bool backward) {
  const StagedPath& s = staged(kind);
  Memory& m = memory_[kind];
  m.at.resize(s.values.size());
  std::vector<bool> elsewhere(s.values.size(), false);
  for (size_t i = 0; i < s.joint.inputs.size(); ++i)
    elsewhere[s.joint.graph.inputs[i]] = s.joint.inputs[i].kind == JointInput::Kind::Shared;
  const auto wanted = [&](ValueId id) {
    const Kept& k = s.values[id];
    return k.kept && !k.total && is_backward(k.moment) == backward && !elsewhere[id];
  };
  const auto bytes = [&](const Kept& k) { return aligned(k.rows ? k.bytes * rows(kind) : k.bytes); };
  size_t total = kAlignment;
  for (ValueId id = 0; id < s.values.size(); ++id)
    if (wanted(id)) total += bytes(s.values[id]);
  Tensor& block = backward ? m.backward : m.forward;
  block = Tensor::empty(Dims{static_cast<int64_t>(common_size(total))}, DType::U8);
  char* next = static_cast<char*>(block->data());
  next += aligned(reinterpret_cast<uintptr_t>(next)) - reinterpret_cast<uintptr_t>(next);
  for (ValueId id = 0; id < s.values.size(); ++id) {
    if (!wanted(id)) continue;
    m.at[id] = next;
    next += bytes(s.values[id]);
  }
  if (!backward) return bind_shared(kind);
  for (ValueId id = 0; id < s.values.size(); ++id) {
    if (!s.values[id].total) continue;
    const graph::ValueMeta& meta = s.joint.graph.meta(id);
    m.at[id] = static_cast<char*>(m.totals.emplace(id, Tensor::empty(meta.sizes, meta.dtype)).first->second->data());
  }
}

void DagRun::bind_shared(uint32_t kind) {
  const StagedPath& s = staged(kind);
  const CallDag::Call& first = dag_.calls[dag_.kinds[kind].calls[0]];
  for (size_t i = 0; i < s.joint.inputs.size(); ++i) {
    const JointInput& in = s.joint.inputs[i];
    if (in.kind != JointInput::Kind::Shared) continue;
    Tensor& held =
        memory_[kind].shared.emplace_back(contiguous(dag_.tensors[dag_.operand(first, in.index).tensor].given));
    memory_[kind].at[s.joint.graph.inputs[i]] = static_cast<char*>(held->data());
  }
}

bool DagRun::is_any_input_changed() const {
  const auto is_changed = [](const CallDag::External& t) { return t.is_written() || t.is_moved(); };
  for (const CallDag::Call& call : dag_.calls) {
    if (!is_reached(call)) continue;
    for (uint32_t i = 0; i < dag_.graph_of(call).inputs().size(); ++i)
      if (const uint32_t t = dag_.operand(call, i).tensor; t != kNone && is_changed(dag_.tensors[t])) return true;
  }
  return false;
}

bool DagRun::is_reached(const CallDag::Call& call) const {
  for (uint32_t o = 0; o < dag_.graph_of(call).outputs().size(); ++o)
    if (reached_[call.results + o]) return true;
  return false;
}

Ref<Storage> DagRun::copy_of(uint32_t result) const {
  const CallDag::Result& r = dag_.results[result];
  const size_t bytes = dag_.graph_of(dag_.calls[r.call]).outputs()[r.output].bytes;
  Ref<Storage> made = Storage::allocate(bytes);
  if (bytes > 0) std::memcpy(made->data(), result_row(result), bytes);
  return made;
}

// ---- rows ---------------------------------------------------------------------------------------------------------

/// Of a value that is kept.
const char* DagRun::row_of(const CallDag::Call& call, ValueId id) const {
  const Kept& k = staged(call.kind).values[id];
  return memory_[call.kind].at[id] + (k.rows ? k.bytes * schedule_.kinds[call.kind].place[call.row] : 0);
}

const char* DagRun::result_row(uint32_t result) const {
  const CallDag::Result& r = dag_.results[result];
  const CallDag::Call& call = dag_.calls[r.call];
  return row_of(call, staged(call.kind).output(JointOutput::Kind::Result, r.output));
}

/// Of what a call got for an input; null where nothing arrives.
const char* DagRun::gradient_row(uint32_t number, uint32_t input) const {
  const CallDag::Call& call = dag_.calls[number];
  const DagSchedule::Kind& kind = schedule_.kinds[call.kind];
  const auto from = kind.inputs[input] == InputKind::Row ? JointInput::Kind::Argument : JointInput::Kind::Feed;
  const StagedPath& s = kind.compiled->path;
  const JointOutput* const gradient = s.gradient(from, input);
  if (!gradient || !memory_[call.kind].backward.defined() || !reaches(call, input)) return nullptr;
  return row_of(call, s.value(*gradient));
}

void DagRun::gather_numbers(uint32_t kind, ValueId value, uint32_t input) {
  const DagSchedule::Kind& of = schedule_.kinds[kind];
  const DeferredGraph::Input& in = dag_.kinds[kind].graph->inputs()[input];
  char* to = memory_[kind].at[value];
  const size_t bytes = staged(kind).values[value].bytes;
  for (uint32_t c : of.order) {
    const Scalar& number = dag_.numbers[dag_.calls[c].numbers + in.number];
    switch (in.meta.scalar) {
      case Scalar::Kind::Bool: *reinterpret_cast<bool*>(to) = number.to_bool(); break;
      case Scalar::Kind::Int: *reinterpret_cast<int64_t*>(to) = number.to_int(); break;
      default: *reinterpret_cast<double*>(to) = number.to_double(); break;
    }
    to += bytes;
  }
}

void DagRun::gather_operands(uint32_t kind, ValueId value, uint32_t input, uint32_t first, uint32_t count) {
  const DagSchedule::Kind& of = schedule_.kinds[kind];
  const size_t bytes = staged(kind).values[value].bytes;
  char* to = memory_[kind].at[value] + bytes * first;
  for (uint32_t i = 0; i < count; ++i) {  // copies of tensors that lie otherwise are made here, not by several threads
    const CallDag::Operand& given = dag_.operand(dag_.calls[of.order[first + i]], input);
    if (given.tensor == kNone || dag_.tensors[given.tensor].given.is_contiguous()) continue;
    const Tensor& tensor = dag_.tensors[given.tensor].given;
    rows_of_.try_emplace(tensor.get(), contiguous(tensor));
  }
  for_rows(count, bytes, [&](uint32_t i) {
    const CallDag::Operand& given = dag_.operand(dag_.calls[of.order[first + i]], input);
    const char* from = nullptr;
    if (given.result != kNone) {
      from = result_row(given.result);
    } else {
      const Tensor& tensor = dag_.tensors[given.tensor].given;
      from = static_cast<const char*>((tensor.is_contiguous() ? tensor : rows_of_.at(tensor.get()))->data());
    }
    std::memcpy(to + bytes * i, from, bytes);
  });
}

/// The gradient of what a call has made: of all who have used it, and of what came from outside.
void DagRun::gather_tangents(uint32_t kind, ValueId value, uint32_t output, uint32_t first, uint32_t count) {
  const DagSchedule::Kind& of = schedule_.kinds[kind];
  const size_t bytes = staged(kind).values[value].bytes;
  const DType dtype = dag_.kinds[kind].graph->outputs()[output].meta.dtype;
  char* const rows = memory_[kind].at[value] + bytes * first;
  for_rows(count, bytes, [&](uint32_t i) {
    char* const to = rows + bytes * i;
    const uint32_t result = dag_.calls[of.order[first + i]].results + output;
    bool any = false;
    const auto arrives = [&](const char* from) {
      if (!from) return;
      if (any)
        add_row(dtype, to, from, bytes);
      else
        std::memcpy(to, from, bytes);
      any = true;
    };
    for (uint32_t u = uses_.first[result]; u < uses_.first[result + 1]; ++u)
      arrives(gradient_row(uses_.uses[u].call, uses_.uses[u].input));
    if (const Tensor& outside = (*tangents_)[result]; outside.defined())
      arrives(static_cast<const char*>(outside->data()));
    if (!any) std::memset(to, 0, bytes);
  });
}

void DagRun::gather_inputs(uint32_t kind, Moment m, uint32_t first, uint32_t count) {
  const StagedPath& s = staged(kind);
  for (size_t i = 0; i < s.joint.inputs.size(); ++i) {
    const JointInput& in = s.joint.inputs[i];
    const ValueId id = s.joint.graph.inputs[i];
    if (!(s.values[id].moment == m)) continue;
    switch (in.kind) {
      case JointInput::Kind::Feed:
        if (!dag_.kinds[kind].graph->inputs()[in.index].is_tensor) {
          gather_numbers(kind, id, in.index);
          break;
        }
        [[fallthrough]];
      case JointInput::Kind::Argument: gather_operands(kind, id, in.index, first, count); break;
      case JointInput::Kind::Tangent: gather_tangents(kind, id, s.joint.outputs[in.index].index, first, count); break;
      case JointInput::Kind::Shared:
      case JointInput::Kind::Result: break;
    }
  }
}

// ---- running ----------------------------------------------------------------------------------------------------

void DagRun::run_rows(uint32_t kind, Segment& segment, uint32_t first, uint32_t count) {
  const StagedPath& s = staged(kind);
  graph::RootActivation& activation = segment.graph.activation(count);
  const auto rows_at = [&](ValueId id) {
    const Kept& k = s.values[id];
    return memory_[kind].at[id] + (k.rows ? k.bytes * first : 0);
  };
  for (size_t i = 0; i < segment.inputs.size(); ++i) activation.bind_input(i, rows_at(segment.inputs[i]));
  std::vector<std::pair<ValueId, Tensor>> parts;  // of sums over all calls, which are made call by call
  for (size_t o = 0; o < segment.outputs.size(); ++o) {
    const ValueId id = segment.outputs[o];
    if (s.values[id].total && s.one_by_one && first > 0) {
      const graph::ValueMeta& meta = s.joint.graph.meta(id);
      parts.emplace_back(id, Tensor::empty(meta.sizes, meta.dtype));
      activation.bind_fresh(o, parts.back().second->data());
    } else {
      activation.bind_fresh(o, rows_at(id));
    }
  }
  activation.run_body(nullptr);
  activation.run_tail();
  for (const auto& [id, part] : parts) find_op("add")->in_place(memory_[kind].totals[id], part);
}

void DagRun::run(uint32_t kind, Moment m, uint32_t first, uint32_t count) {
  gather_inputs(kind, m, first, count);
  StagedPath& s = schedule_.kinds[kind].compiled->path;
  std::optional<Segment>& segment = s.segment(m);
  if (!segment) return;
  if (!s.one_by_one) return run_rows(kind, *segment, first, count);
  for (uint32_t i = 0; i < count; ++i) run_rows(kind, *segment, first + i, 1);
}

void DagRun::forward() {
  const GradMode off(false);
  for (const DagSchedule::Component& component : schedule_.components) {
    for (uint32_t kind : component.kinds) {
      allocate(kind, false);
      run(kind, {Phase::Before}, 0, rows(kind));
    }
    for (const DagSchedule::Batch& b : component.batches)
      if (staged(b.kind).stages > 0) run(b.kind, {Phase::Forward, 0}, b.first, b.count);
  }
  rows_of_.clear();
}

/// Whether a gradient flows from the results of a call to an input.
bool DagRun::reaches(const CallDag::Call& call, uint32_t input) const {
  const auto& flow = schedule_.kinds[call.kind].compiled->flow[input];
  return std::any_of(flow.begin(), flow.end(), [&](uint32_t output) { return reached_[call.results + output]; });
}

bool DagRun::reaches_look_up(const CallDag::Call& call, const JointOutput& looked_up) const {
  const Joint& joint = staged(call.kind).joint;
  return std::any_of(looked_up.tangents.begin(), looked_up.tangents.end(), [&](uint32_t tangent) {
    return reached_[call.results + joint.outputs[joint.inputs[tangent].index].index];
  });
}

bool DagRun::reaches_any(uint32_t kind, uint32_t input) const {
  const auto& calls = dag_.kinds[kind].calls;
  return std::any_of(calls.begin(), calls.end(), [&](uint32_t c) { return reaches(dag_.calls[c], input); });
}

/// A tangent arrives at each result of the call that has a gradient.
bool DagRun::reaches_all(const CallDag::Call& call) const {
  const auto& outputs = dag_.graph_of(call).outputs();
  for (uint32_t o = 0; o < outputs.size(); ++o)
    if (outputs[o].requires_grad && !reached_[call.results + o]) return false;
  return true;
}

bool DagRun::totals_are_finite(uint32_t kind) const {
  const auto& totals = memory_[kind].totals;
  return std::all_of(totals.begin(), totals.end(), [](const auto& total) {
    const Tensor sum = (*find_op("sum"))(total.second);
    return std::isfinite(sum.dtype() == DType::F32 ? *sum->data_as<float>() : *sum->data_as<double>());
  });
}

/// Those of calls that tangents reach at some of their results only.
bool DagRun::rows_are_finite(uint32_t kind) const {
  const DeferredGraph& graph = *dag_.kinds[kind].graph;
  const StagedPath& s = staged(kind);
  for (uint32_t c : dag_.kinds[kind].calls) {
    if (reaches_all(dag_.calls[c])) continue;
    for (uint32_t i = 0; i < graph.inputs().size(); ++i)
      if (!is_finite(gradient_row(c, i), graph.inputs()[i].meta.dtype, graph.inputs()[i].meta.bytes())) return false;
    for (const JointOutput& o : s.joint.outputs) {
      if (o.kind != JointOutput::Kind::LookedUp || !reaches_look_up(dag_.calls[c], o)) continue;
      const ValueId id = s.value(o);
      if (!is_finite(row_of(dag_.calls[c], id), s.joint.graph.meta(id).dtype, s.values[id].bytes)) return false;
    }
  }
  return true;
}

void DagRun::find_reached(const std::vector<Tensor>& tangents) {
  if (uses_.first.empty()) uses_ = dag_.uses();
  reached_.assign(dag_.results.size(), false);
  kind_reached_.assign(dag_.kinds.size(), false);
  for (uint32_t r = static_cast<uint32_t>(dag_.results.size()); r-- > 0;) {
    bool reached = tangents[r].defined();
    for (uint32_t u = uses_.first[r]; u < uses_.first[r + 1] && !reached; ++u)
      reached = reaches(dag_.calls[uses_.uses[u].call], uses_.uses[u].input);
    reached_[r] = reached;
    if (reached) kind_reached_[dag_.calls[dag_.results[r].call].kind] = true;
  }
}

std::vector<Tensor> DagRun::backward(const std::vector<Tensor>& tangents, bool& exact) {
  const GradMode off(false);
  find_reached(tangents);
  std::vector<Tensor> given;
  for (const Tensor& t : tangents) given.push_back(t.defined() ? contiguous(t) : t);
  tangents_ = &given;
  std::vector<Tensor> gradients(dag_.tensors.size());
  exact = true;
  for (size_t c = schedule_.components.size(); c-- > 0;) {
    const DagSchedule::Component& component = schedule_.components[c];
    for (uint32_t kind : component.kinds)
      if (kind_reached_[kind]) allocate(kind, true);
    for (size_t b = component.batches.size(); b-- > 0;) {
      const DagSchedule::Batch& batch = component.batches[b];
      if (kind_reached_[batch.kind] && staged(batch.kind).stages > 0)
        run(batch.kind, {Phase::Backward, 0}, batch.first, batch.count);
    }
    for (uint32_t kind : component.kinds) {
      if (!kind_reached_[kind]) continue;
      run(kind, {Phase::After}, 0, rows(kind));
      collect(kind, gradients);
      const auto& calls = dag_.kinds[kind].calls;
      const bool whole =
          std::all_of(calls.begin(), calls.end(), [&](uint32_t i) { return reaches_all(dag_.calls[i]); });
      exact = exact && (whole || (totals_are_finite(kind) && rows_are_finite(kind)));
    }
  }
  tangents_ = nullptr;
  for (Memory& m : memory_) {
    m.backward = Tensor();
    m.totals.clear();
  }
  return gradients;
}

std::vector<bool> DagRun::reached(const std::vector<Tensor>& tangents) {
  find_reached(tangents);
  std::vector<bool> reached;
  for (const CallDag::Call& call : dag_.calls) reached.push_back(is_reached(call));
  return reached;
}

void DagRun::release() { memory_.clear(); }

/// Adds up what has arrived at tensors from outside.
void DagRun::collect(uint32_t kind, std::vector<Tensor>& gradients) {
  const StagedPath& s = staged(kind);
  const CallDag::Kind& of = dag_.kinds[kind];
  for (size_t o = 0; o < s.joint.outputs.size(); ++o) {
    if (s.joint.outputs[o].kind == JointOutput::Kind::LookedUp) collect_look_up(kind, s.joint.outputs[o], gradients);
    if (s.joint.outputs[o].kind != JointOutput::Kind::Gradient) continue;
    const JointInput& in = s.joint.inputs[s.joint.outputs[o].index];
    if (in.kind == JointInput::Kind::Shared) {
      if (!reaches_any(kind, in.index)) continue;
      add_up(gradients[dag_.operand(dag_.calls[of.calls[0]], in.index).tensor],
             memory_[kind].totals[s.joint.graph.outputs[o]]);
      continue;
    }
    if (in.kind != JointInput::Kind::Argument && in.kind != JointInput::Kind::Feed) continue;
    for (uint32_t c : of.calls) {
      const uint32_t tensor = dag_.operand(dag_.calls[c], in.index).tensor;
      if (tensor == kNone || !dag_.tensors[tensor].wants_gradient()) continue;
      const Tensor& like = dag_.tensors[tensor].given;
      const char* const row = gradient_row(c, in.index);
      if (!row) continue;
      const size_t bytes = static_cast<size_t>(like.numel()) * size_of(like.dtype());
      Tensor& sum = gradients[tensor];
      if (!sum.defined() || is_sparse(*sum)) {
        const Tensor dense = Tensor::empty(like.sizes(), like.dtype());
        std::memcpy(dense->data(), row, bytes);
        add_up(sum, dense);
      } else {
        if (sum->use_count() > 1) sum = (*find_op("clone"))(sum);
        add_row(like.dtype(), static_cast<char*>(sum->data()), row, bytes);
      }
    }
  }
}

/// Gradients of rows of tables, as they lie: one entry of a sparse gradient for each row that a call has looked up.
void DagRun::collect_look_up(uint32_t kind, const JointOutput& looked_up, std::vector<Tensor>& gradients) {
  const StagedPath& s = staged(kind);
  const ValueId places = s.output(JointOutput::Kind::Place, looked_up.index), rows = s.value(looked_up);
  const LookUp& of = s.joint.look_ups[looked_up.index];
  std::map<uint32_t, std::vector<uint32_t>> calls;  // by table
  for (uint32_t c : dag_.kinds[kind].calls) {
    const uint32_t table = dag_.operand(dag_.calls[c], s.joint.inputs[of.table].index).tensor;
    if (table != kNone && dag_.tensors[table].wants_gradient() && reaches_look_up(dag_.calls[c], looked_up))
      calls[table].push_back(c);
  }
  const graph::ValueMeta &row = s.joint.graph.meta(rows), &place = s.joint.graph.meta(places);
  for (const auto& [table, looking] : calls) {
    const size_t row_bytes = s.values[rows].bytes, place_bytes = s.values[places].bytes;
    const auto count = static_cast<int64_t>(looking.size() * (place_bytes / size_of(place.dtype)));
    const Tensor all = Tensor::empty(Dims{count, row.sizes.back()}, row.dtype),
                 at = Tensor::empty(Dims{count}, place.dtype);
    for (size_t i = 0; i < looking.size(); ++i) {
      const CallDag::Call& call = dag_.calls[looking[i]];
      std::memcpy(static_cast<char*>(all->data()) + i * row_bytes, row_of(call, rows), row_bytes);
      std::memcpy(static_cast<char*>(at->data()) + i * place_bytes, row_of(call, places), place_bytes);
    }
    add_up(gradients[table], sparse_hooks().rows(all, at, dag_.tensors[table].given.size(0), of.padding));
  }
}

}  // namespace terra::recursive
