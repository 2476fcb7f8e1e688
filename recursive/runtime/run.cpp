#include "recursive/runtime/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/errors/errors.h"
#include "engine/ops/call.h"
#include "engine/ops/op.h"
#include "kernels/abi/parallel.h"

namespace terra::recursive {
namespace {

using Phase = Moment::Phase;

constexpr size_t kAlignment = 64;

size_t aligned(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

bool is_backward(Moment m) { return m.phase == Phase::Backward || m.phase == Phase::After; }

Tensor contiguous(const Tensor& t) {
  static const Op* op = find_op("contiguous");
  check(t.device().is_cpu(), "calls of a SubGraph are computed on the CPU, and a tensor is on {}",
        to_string(t.device()));
  const Tensor made = t.is_contiguous() ? t : (*op)(t);
  return made.requires_grad() ? made.alias() : made;
}

Tensor bytes_of(size_t bytes) { return Tensor::empty(Dims{static_cast<int64_t>(bytes)}, DType::U8); }

bool same_kind(const Tensor& t, const graph::ValueMeta& meta) {
  return t.dtype() == meta.dtype && t.sizes() == meta.sizes;
}

}  // namespace

Run::Run(const SubGraphs& graphs, std::vector<std::vector<HostValue>> roots, Forest forest)
    : graphs_(graphs), roots_(std::move(roots)), forest_(std::move(forest)), schedule_(graphs) {
  const auto& inputs = graphs.root().inputs;
  for (const auto& given : roots_) {
    auto& tensors = operands_.emplace_back(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i].kind == InputKind::Row) tensors[i] = contiguous(std::get<Tensor>(given[i]));
  }
}

// ---- memory -----------------------------------------------------------------------------------------------------

/// One block for all values of that direction but shared tensors.
Tensor Run::allocate(uint32_t path, bool backward, uint32_t rows) {
  const StagedPath& s = *schedule_.paths[path].staged;
  PathMemory& m = memory_[path];
  std::vector<bool> shared(s.values.size());
  for (size_t i = 0; i < s.joint.inputs.size(); ++i)
    if (s.joint.inputs[i].kind == JointInput::Kind::Shared) shared[s.joint.graph.inputs[i]] = true;
  const auto wanted = [&](ValueId id) {
    const Kept& k = s.values[id];
    return k.kept && !k.total && !shared[id] && is_backward(k.moment) == backward;
  };
  const auto bytes = [&](const Kept& k) { return aligned(k.rows ? k.bytes * rows : k.bytes); };
  size_t total = 0;
  for (ValueId id = 0; id < s.values.size(); ++id)
    if (wanted(id)) total += bytes(s.values[id]);
  Tensor block = bytes_of(total + kAlignment);
  char* next = static_cast<char*>(block->data());
  next += aligned(reinterpret_cast<uintptr_t>(next)) - reinterpret_cast<uintptr_t>(next);
  for (ValueId id = 0; id < s.values.size(); ++id) {
    if (!wanted(id)) continue;
    m.at[id] = next;
    next += bytes(s.values[id]);
  }
  return block;
}

/// Memory for all calls of the path that are known, and twice as many as before where more may come.
void Run::grow(uint32_t path) {
  const ScheduledPath& p = schedule_.paths[path];
  const StagedPath& s = *p.staged;
  PathMemory& m = memory_[path];
  const auto rows = static_cast<uint32_t>(p.calls->size());
  if (rows <= m.capacity) return;
  m.at.resize(s.values.size());
  const std::vector<char*> before = m.at;
  m.capacity = std::max(rows, 2 * m.capacity);
  const Tensor old = std::exchange(m.forward, allocate(path, false, m.capacity));
  if (!old.defined()) return hold_shared(path);
  for (ValueId id = 0; id < s.values.size(); ++id)
    if (m.at[id] != before[id])
      std::memcpy(m.at[id], before[id], s.values[id].rows ? s.values[id].bytes * m.rows : s.values[id].bytes);
}

void Run::hold_shared(uint32_t path) {
  const Joint& joint = schedule_.paths[path].staged->joint;
  PathMemory& m = memory_[path];
  for (size_t i = 0; i < joint.inputs.size(); ++i) {
    if (joint.inputs[i].kind != JointInput::Kind::Shared) continue;
    m.held.push_back(contiguous(std::get<Tensor>(roots_[0][joint.inputs[i].index])));
    m.at[joint.graph.inputs[i]] = static_cast<char*>(m.held.back()->data());
  }
}

bool Run::is_read_backward(uint32_t shared) const {
  return std::any_of(schedule_.paths.begin(), schedule_.paths.end(), [&](const ScheduledPath& p) {
    const Joint& joint = p.staged->joint;
    for (size_t i = 0; i < joint.inputs.size(); ++i)
      if (joint.inputs[i].kind == JointInput::Kind::Shared && joint.inputs[i].index == shared &&
          p.staged->is_read_backward(joint.graph.inputs[i]))
        return true;
    return false;
  });
}

void Run::release() {
  memory_.clear();
  operands_.clear();
}

const char* Run::zeros(size_t bytes) {
  if (zeros_.size() < bytes) zeros_.resize(bytes);
  return zeros_.data();
}

// ---- what comes from outside of a path ------------------------------------------------------------------------------

/// Of calls from that place on.
void Run::fill_feeds(uint32_t path, uint32_t first) {
  const ScheduledPath& p = schedule_.paths[path];
  const StagedPath& s = *p.staged;
  const auto& order = p.order[p.order_of({Phase::Before})];
  for (size_t i = 0; i < s.joint.inputs.size(); ++i) {
    if (s.joint.inputs[i].kind != JointInput::Kind::Feed) continue;
    const uint32_t slot = s.joint.inputs[i].index;
    const ValueId id = s.joint.graph.inputs[i];
    const auto& body = p.of->paths[p.number];
    const auto value = static_cast<ValueId>(std::find(body.slots.begin(), body.slots.end(), slot) - body.slots.begin());
    const graph::ValueMeta& meta = body.body.meta(value);
    char* to = memory_[path].at[id] + s.values[id].bytes * first;
    for (uint32_t place = first; place < order.size(); ++place, to += s.values[id].bytes) {
      const HostValue& host = forest_.host(forest_[order[place]], slot);
      if (const auto* number = std::get_if<Scalar>(&host)) {
        if (meta.is_tensor()) throw InternalError("the host gives a number where a tensor was declared");
        switch (meta.scalar) {
          case Scalar::Kind::Bool: *reinterpret_cast<bool*>(to) = number->to_bool(); break;
          case Scalar::Kind::Int: *reinterpret_cast<int64_t*>(to) = number->to_int(); break;
          default: *reinterpret_cast<double*>(to) = number->to_double(); break;
        }
        continue;
      }
      const Tensor& tensor = std::get<Tensor>(host);
      if (!same_kind(tensor, meta)) throw InternalError("the host gives a tensor of another kind than was declared");
      std::memcpy(to, contiguous(tensor)->data(), s.values[id].bytes);
      if (tensor.requires_grad()) feeds_.push_back({path, id, place});
    }
  }
}

const Tensor& Run::fed(const FeedUse& use) const {
  const ScheduledPath& p = schedule_.paths[use.path];
  const auto& inputs = p.staged->joint.graph.inputs;
  const auto i = static_cast<size_t>(std::find(inputs.begin(), inputs.end(), use.value) - inputs.begin());
  const CallId call = p.order[p.order_of({Phase::Before})][use.row];
  return std::get<Tensor>(forest_.host(forest_[call], p.staged->joint.inputs[i].index));
}

uint32_t Run::place_of(uint32_t path, ValueId value, const Call& call) const {
  const ScheduledPath& p = schedule_.paths[path];
  return p.place[p.order_of(p.staged->values[value].moment)][call.row];
}

const char* Run::row_of(uint32_t path, ValueId value, const Call& call) const {
  const Kept& k = schedule_.paths[path].staged->values[value];
  return memory_[path].at[value] + (k.rows ? k.bytes * place_of(path, value, call) : 0);
}

/// A result of a call, or an operand of one of its calls.
const char* Run::row(const Call& call, JointOutput::Kind kind, uint32_t index, uint32_t site) {
  const uint32_t path = schedule_.number[call.callee][call.path];
  const ScheduledPath& p = schedule_.paths[path];
  const ValueId id = p.staged->output(kind, index, site);
  return row_of(path, id, call);
}

/// The gradient of a call's argument, or of a result that one of its calls gave it; null where it is undefined.
const char* Run::gradient_row(const Call& call, JointInput::Kind kind, uint32_t index, uint32_t site) {
  const uint32_t path = schedule_.number[call.callee][call.path];
  const ScheduledPath& p = schedule_.paths[path];
  const JointOutput* gradient = p.staged->gradient(kind, index, site);
  if (!gradient || is_undefined(path, *gradient, call)) return nullptr;
  return row_of(path, p.staged->value(*gradient), call);
}

const char* Run::operand_row(const Call& call, uint32_t input) {
  if (call.caller == kNoCall) return static_cast<const char*>(operands_[call.root][input]->data());
  return row(forest_[call.caller], JointOutput::Kind::Operand, input, call.site);
}

template <class Source>
void Run::gather(uint32_t path, ValueId value, uint32_t first, uint32_t count, Source&& source) {
  const ScheduledPath& p = schedule_.paths[path];
  const Kept& k = p.staged->values[value];
  const auto& order = p.order[p.order_of(k.moment)];
  char* to = memory_[path].at[value] + k.bytes * first;
  std::vector<char> missing(count);
  cpu::parallel_for(count, cpu::grain_for_cost(static_cast<int64_t>(k.bytes / 4) + 80),
                    [&](int64_t begin, int64_t end) {
                      for (int64_t i = begin; i < end; ++i) {
                        const char* from = source(forest_[order[first + i]]);
                        missing[i] = !from;
                        if (from)
                          std::memcpy(to + k.bytes * i, from, k.bytes);
                        else
                          std::memset(to + k.bytes * i, 0, k.bytes);
                      }
                    });
  for (uint32_t i = 0; i < count; ++i)
    if (missing[i]) set_undefined(path, value, first + i);
}

void Run::gather_inputs(uint32_t path, Moment m, uint32_t first, uint32_t count) {
  const StagedPath& s = *schedule_.paths[path].staged;
  for (size_t i = 0; i < s.joint.inputs.size(); ++i) {
    const JointInput& in = s.joint.inputs[i];
    const ValueId id = s.joint.graph.inputs[i];
    if (!(s.values[id].moment == m)) continue;
    switch (in.kind) {
      case JointInput::Kind::Shared:
      case JointInput::Kind::Feed: break;
      case JointInput::Kind::Argument:
        gather(path, id, first, count, [&](const Call& call) { return operand_row(call, in.index); });
        break;
      case JointInput::Kind::Result:
        gather(path, id, first, count, [&](const Call& call) {
          return row(forest_[forest_.called(call, in.call)], JointOutput::Kind::Result, in.index, 0);
        });
        break;
      case JointInput::Kind::Tangent: {
        const JointOutput& of = s.joint.outputs[in.index];
        gather(path, id, first, count, [&](const Call& call) -> const char* {
          if (of.kind == JointOutput::Kind::Operand)
            return gradient_row(forest_[forest_.called(call, of.call)], JointInput::Kind::Argument, of.index, 0);
          if (call.caller != kNoCall)
            return gradient_row(forest_[call.caller], JointInput::Kind::Result, of.index, call.site);
          const Tensor& t = (*tangents_)[call.root][of.index];
          return t.defined() ? static_cast<const char*>(t->data()) : nullptr;
        });
        break;
      }
    }
  }
}

// ---- gradients into which nothing flows ---------------------------------------------------------------------------

void Run::set_undefined(uint32_t path, ValueId value, uint32_t place) {
  std::vector<bool>& rows = memory_[path].undefined[value];
  if (rows.empty()) rows.resize(schedule_.paths[path].calls->size());
  rows[place] = true;
}

bool Run::is_undefined(uint32_t path, ValueId value, const Call& call) const {
  const std::vector<bool>& rows = memory_[path].undefined[value];
  return !rows.empty() && rows[place_of(path, value, call)];
}

/// Zeros, which are a function of no tangent, are always there.
bool Run::is_undefined(uint32_t path, const JointOutput& gradient, const Call& call) const {
  const auto& inputs = schedule_.paths[path].staged->joint.graph.inputs;
  return !gradient.tangents.empty() && std::all_of(gradient.tangents.begin(), gradient.tangents.end(),
                                                   [&](uint32_t t) { return is_undefined(path, inputs[t], call); });
}

bool Run::is_undefined_in_all(uint32_t path, const JointOutput& gradient) const {
  const auto& calls = *schedule_.paths[path].calls;
  return std::all_of(calls.begin(), calls.end(), [&](CallId id) { return is_undefined(path, gradient, forest_[id]); });
}

// ---- running ----------------------------------------------------------------------------------------------------

/// The value for rows in the order of `m`: a stretch of its memory, or gathered where it doesn't lie so.
char* Run::rows_for(uint32_t path, ValueId value, Moment m, const Rows& rows, std::vector<Tensor>& scratch) {
  const ScheduledPath& p = schedule_.paths[path];
  const Kept& k = p.staged->values[value];
  char* memory = memory_[path].at[value];
  if (!k.rows) return memory;
  const uint32_t made = p.order_of(k.moment), read = p.order_of(m);
  if (rows.places.empty() && (made == read || p.calls->size() == 1)) return memory + k.bytes * rows.first;
  scratch.push_back(bytes_of(k.bytes * rows.count));
  auto* to = static_cast<char*>(scratch.back()->data());
  for (uint32_t i = 0; i < rows.count; ++i) {
    const Call& call = forest_[p.order[read][rows.place(i)]];
    std::memcpy(to + k.bytes * i, memory + k.bytes * p.place[made][call.row], k.bytes);
  }
  return to;
}

/// What the segment would compute, were all gradients that it reads defined.
void Run::leave_undefined(uint32_t path, const Rows& rows) {
  for (ValueId id : rows.segment->undefined) {
    const Kept& k = schedule_.paths[path].staged->values[id];
    for (uint32_t i = 0; k.rows && i < rows.count; ++i) {
      set_undefined(path, id, rows.place(i));
      std::memset(memory_[path].at[id] + k.bytes * rows.place(i), 0, k.bytes);
    }
  }
}

void Run::run_rows(uint32_t path, Moment m, const Rows& rows, graph::RootActivation& activation) {
  const Segment& segment = *rows.segment;
  const StagedPath& s = *schedule_.paths[path].staged;
  PathMemory& memory = memory_[path];
  std::vector<Tensor> scratch;
  for (size_t i = 0; i < segment.inputs.size(); ++i)
    activation.bind_input(i, rows_for(path, segment.inputs[i], m, rows, scratch));
  std::vector<std::pair<ValueId, Tensor>> parts;  // of sums over all calls
  std::vector<std::pair<ValueId, Tensor>> apart;  // rows that go to their places afterwards
  for (size_t o = 0; o < segment.outputs.size(); ++o) {
    const ValueId id = segment.outputs[o];
    const Kept& k = s.values[id];
    if (k.total) {
      const graph::ValueMeta& meta = s.joint.graph.meta(id);
      parts.emplace_back(id, Tensor::empty(meta.sizes, meta.dtype));
      activation.bind_fresh(o, parts.back().second->data());
    } else if (k.rows && !rows.places.empty()) {
      apart.emplace_back(id, bytes_of(k.bytes * rows.count));
      activation.bind_fresh(o, apart.back().second->data());
    } else {
      activation.bind_fresh(o, memory.at[id] + (k.rows ? k.bytes * rows.first : 0));
    }
  }
  activation.run_body(nullptr);
  activation.run_tail();
  for (auto& [id, part] : parts) {
    Tensor& total = memory.totals[id];
    total = total.defined() ? find_op("add")->in_place(total, part) : part;
  }
  for (const auto& [id, made] : apart) {
    const size_t bytes = s.values[id].bytes;
    for (uint32_t i = 0; i < rows.count; ++i)
      std::memcpy(memory.at[id] + bytes * rows.places[i], static_cast<char*>(made->data()) + bytes * i, bytes);
  }
}

/// By which of the gradients that the segment reads are undefined.
std::vector<Run::Rows> Run::rows_alike(uint32_t path, Moment m, Rows all) {
  const ScheduledPath& p = schedule_.paths[path];
  const std::vector<ValueId>& inputs = all.segment->inputs;
  const auto& undefined = memory_[path].undefined;
  std::vector<size_t> doubtful;
  for (size_t i = 0; i < inputs.size() && !undefined.empty(); ++i)
    if (!undefined[inputs[i]].empty()) doubtful.push_back(i);
  if (doubtful.empty()) return {std::move(all)};
  std::vector<Rows> groups;
  std::vector<bool> pattern(inputs.size());
  for (uint32_t i = 0; i < all.count; ++i) {
    const uint32_t place = all.first + i;
    for (size_t d : doubtful) pattern[d] = is_undefined(path, inputs[d], forest_[p.order[p.order_of(m)][place]]);
    Segment* segment = &all.segment->where_undefined(pattern);
    auto group = std::find_if(groups.begin(), groups.end(), [&](const Rows& g) { return g.segment == segment; });
    if (group == groups.end()) group = groups.insert(groups.end(), {segment, place});
    group->places.push_back(place);
    ++group->count;
  }
  for (Rows& g : groups)
    if (g.places.back() - g.first + 1 == g.count) g.places.clear();
  return groups;
}

void Run::run(uint32_t path, Moment m, uint32_t first, uint32_t count) {
  gather_inputs(path, m, first, count);
  StagedPath& s = *schedule_.paths[path].staged;
  std::optional<Segment>& segment = s.segment(m);
  if (!segment) return;
  for (const Rows& rows : rows_alike(path, m, {&*segment, first, count})) {
    leave_undefined(path, rows);
    if (rows.segment->outputs.empty()) continue;
    if (s.one_by_one)
      run_one_by_one(path, m, rows);
    else
      run_rows(path, m, rows, rows.segment->graph.activation(rows.count));
  }
}

/// Calls that don't wait for each other run on all threads, but for what is added up: that goes in order.
void Run::run_one_by_one(uint32_t path, Moment m, const Rows& rows) {
  RowGraph& graph = rows.segment->graph;
  const auto threads = static_cast<uint32_t>(m.phase == Phase::After || !graph.is_pure() ? 1 : cpu::threads());
  const uint32_t share = std::max({(rows.count + threads - 1) / threads, rows_of_a_grain(path, *rows.segment), 1u});
  const std::vector<graph::RootActivation*> activations = graph.activations_of_one((rows.count + share - 1) / share);
  cpu::parallel_for(rows.count, share, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const auto row = static_cast<uint32_t>(i);
      run_rows(path, m, {rows.segment, rows.place(row), 1}, *activations[row / share]);
    }
  });
}

/// So many rows take as long as waking a thread is worth: a call reads its operands, weights among them, once.
uint32_t Run::rows_of_a_grain(uint32_t path, const Segment& segment) const {
  int64_t bytes = 0;
  for (ValueId id : segment.inputs) bytes += static_cast<int64_t>(schedule_.paths[path].staged->values[id].bytes);
  constexpr int64_t kBytesPerQuarterNanosecond = 2, kQuarterNanosecondsPerCall = 2000;
  return static_cast<uint32_t>(cpu::grain_for_cost(bytes / kBytesPerQuarterNanosecond + kQuarterNanosecondsPerCall));
}

/// Whatever waits for nothing but calls that are known; not `all`: what calls may come of.
void Run::run_known(const Schedule::Staged& staged, bool all) {
  size_t next = schedule_.batches.size();
  schedule_.extend(forest_, staged, all);
  memory_.resize(schedule_.paths.size());
  for (uint32_t p = 0; p < schedule_.paths.size(); ++p) {
    const uint32_t first = memory_[p].rows, rows = static_cast<uint32_t>(schedule_.paths[p].calls->size());
    if (first == rows) continue;
    grow(p);
    fill_feeds(p, first);
    run(p, {Phase::Before}, first, rows - first);
    memory_[p].rows = rows;
  }
  for (; next < schedule_.batches.size(); ++next) {
    const Batch b = schedule_.batches[next];
    run(b.path, {Phase::Forward, b.stage}, b.first, b.count);
  }
}

/// The number that a call waits for, once its caller's stage has run.
std::optional<Scalar> Run::item(const Forest::Waiting& waiting, uint32_t input, Scalar::Kind kind) {
  const Call& caller = forest_[waiting.caller];
  const ScheduledPath& p = schedule_.path_of(caller);
  if (!schedule_.has_level(waiting.caller, p.staged->called_at[waiting.site])) return std::nullopt;
  const char* bytes = row(caller, JointOutput::Kind::Operand, input, waiting.site);
  switch (kind) {
    case Scalar::Kind::Bool: return Scalar(*reinterpret_cast<const bool*>(bytes));
    case Scalar::Kind::Int: return Scalar(*reinterpret_cast<const int64_t*>(bytes));
    default: return Scalar(*reinterpret_cast<const double*>(bytes));
  }
}

std::vector<std::vector<Tensor>> Run::forward(const Schedule::Staged& staged) {
  const GradMode off(false);
  for (bool stuck = false;;) {
    run_known(staged, stuck || forest_.is_complete());
    if (forest_.is_complete()) break;
    const size_t known = forest_.size();
    forest_.advance([this](const Forest::Waiting& w, uint32_t input, Scalar::Kind k) { return item(w, input, k); });
    if (stuck && forest_.size() == known) throw InternalError("calls of a SubGraph wait for each other");
    stuck = forest_.size() == known;
  }
  std::vector<std::vector<Tensor>> results;
  for (CallId root : forest_.roots()) {
    auto& made = results.emplace_back();
    for (uint32_t r = 0; r < graphs_.root().results.size(); ++r) {
      const graph::ValueMeta& meta = graphs_.root().results[r];
      made.push_back(Tensor::empty(meta.sizes, meta.dtype));
      std::memcpy(made.back()->data(), row(forest_[root], JointOutput::Kind::Result, r, 0), meta.bytes());
    }
  }
  return results;
}

RunGradients Run::backward(const std::vector<std::vector<Tensor>>& tangents) {
  const GradMode off(false);
  std::vector<std::vector<Tensor>> given;
  for (const auto& of_root : tangents) {
    auto& list = given.emplace_back();
    for (const Tensor& t : of_root) list.push_back(t.defined() ? contiguous(t) : t);
  }
  tangents_ = &given;
  for (uint32_t p = 0; p < schedule_.paths.size(); ++p) {
    memory_[p].backward = allocate(p, true, static_cast<uint32_t>(schedule_.paths[p].calls->size()));
    memory_[p].undefined.assign(memory_[p].at.size(), {});
  }
  for (size_t b = schedule_.batches.size(); b-- > 0;) {
    const Batch& batch = schedule_.batches[b];
    run(batch.path, {Phase::Backward, batch.stage}, batch.first, batch.count);
  }
  for (uint32_t p = 0; p < schedule_.paths.size(); ++p)
    run(p, {Phase::After}, 0, static_cast<uint32_t>(schedule_.paths[p].calls->size()));
  tangents_ = nullptr;
  RunGradients found = collect();
  for (PathMemory& m : memory_) {
    m.backward = Tensor();
    m.totals.clear();
    m.undefined.clear();
  }
  return found;
}

RunGradients Run::collect() {
  RunGradients found;
  const auto& inputs = graphs_.root().inputs;
  found.shared.resize(inputs.size());
  found.operands.resize(roots_.size(), std::vector<Tensor>(inputs.size()));
  found.feeds.resize(feeds_.size());
  const auto tensor_at = [](const char* from, const graph::ValueMeta& meta) {
    Tensor made = Tensor::empty(meta.sizes, meta.dtype);
    std::memcpy(made->data(), from, meta.bytes());
    return made;
  };
  for (uint32_t path = 0; path < schedule_.paths.size(); ++path) {
    const StagedPath& s = *schedule_.paths[path].staged;
    for (size_t o = 0; o < s.joint.outputs.size(); ++o) {
      if (s.joint.outputs[o].kind != JointOutput::Kind::Gradient) continue;
      const JointInput& of = s.joint.inputs[s.joint.outputs[o].index];
      if (of.kind != JointInput::Kind::Shared || is_undefined_in_all(path, s.joint.outputs[o])) continue;
      const Tensor& part = memory_[path].totals[s.joint.graph.outputs[o]];
      Tensor& sum = found.shared[of.index];
      sum = sum.defined() ? find_op("add")->in_place(sum, part) : part;
    }
  }
  for (uint32_t r = 0; r < roots_.size(); ++r)
    for (uint32_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].kind != InputKind::Row) continue;
      const Tensor& operand = operands_[r][i];
      if (const char* from = gradient_row(forest_[forest_.roots()[r]], JointInput::Kind::Argument, i, 0))
        found.operands[r][i] = tensor_at(from, graph::ValueMeta::tensor(operand.dtype(), operand.sizes(), {}));
    }
  for (size_t f = 0; f < feeds_.size(); ++f) {
    const ScheduledPath& p = schedule_.paths[feeds_[f].path];
    const auto& values = p.staged->joint.graph.inputs;
    const auto i = static_cast<size_t>(std::find(values.begin(), values.end(), feeds_[f].value) - values.begin());
    const Call& call = forest_[p.order[p.order_of({Phase::Before})][feeds_[f].row]];
    const Tensor& fed = this->fed(feeds_[f]);
    if (const char* from = gradient_row(call, JointInput::Kind::Feed, p.staged->joint.inputs[i].index, 0))
      found.feeds[f] = tensor_at(from, graph::ValueMeta::tensor(fed.dtype(), fed.sizes(), {}));
  }
  return found;
}

}  // namespace terra::recursive
