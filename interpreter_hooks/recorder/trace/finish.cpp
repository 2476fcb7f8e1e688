// The end of a trace: final numbers, the guards that concern several tensors, the graph.
#include "engine/errors/errors.h"
#include "graph/cache/compiled.h"
#include "graph/trace/ids.h"
#include "graph/trace/replay.h"
#include "interpreter_hooks/bindings/calls/time_line.h"
#include "interpreter_hooks/guards/tensors.h"
#include "interpreter_hooks/recorder/region/loops.h"
#include "interpreter_hooks/recorder/region/phis.h"
#include "interpreter_hooks/recorder/trace/builder.h"
#include "interpreter_hooks/recorder/trace/ids.h"
#include "recursive/deferral/only_deferred.h"

#include <algorithm>
#include <map>

namespace terra::capture {

/// Longer runs are long enough to pay by themselves.
constexpr size_t most_records_put_off = 256;

using graph::kNoValue;
using graph::TraceId;

void TraceBuilder::renumber() {
  const auto tensors = static_cast<TraceId>(inputs_.size());
  const TraceId numbers = tensors + static_cast<TraceId>(scalars_.size());
  const TraceId all = numbers + static_cast<TraceId>(trace_.constants.size());
  auto renumbered = [&](TraceId& id, bool = false) {
    if (id == kNoValue) return;
    id = id >= first_constant ? id - first_constant + numbers
         : id >= first_scalar ? id - first_scalar + tensors
         : id >= first_input  ? id - first_input
                              : id + all;
  };
  graph::EachId each(renumbered);
  for (auto& record : trace_.records) each(record);
  for (auto& mark : trace_.marks)
    for (TraceId& id : mark.values) renumbered(id);
  for (auto& [id, tensor] : trace_.constants) renumbered(id);
  for (auto& [id, reg] : outputs_) renumbered(id);
  for (Input& input : inputs_) {
    renumbered(input.what.grad);
    trace_.inputs.push_back(std::move(input.what));
  }
  for (auto& [reg, input] : scalars_) trace_.inputs.push_back(std::move(input));
  for (auto& [id, reg] : outputs_) trace_.outputs.push_back(id);
  trace_.values = all + next_value_;
}

/// Whether different storages of inputs are blocks of the same memory (x and x.data).
bool TraceBuilder::share_bytes() const {
  std::map<const char*, const Storage*> blocks;
  for (const Input& input : inputs_) {
    const Storage* storage = tensor_of(input.object)->storage.get();
    const auto [place, is_new] = blocks.try_emplace(static_cast<const char*>(storage->data()), storage);
    if (!is_new && place->second != storage && storage->bytes() && place->second->bytes()) return true;
  }
  const char* end = nullptr;
  for (auto& [begin, storage] : blocks) {
    if (end && begin < end) return true;
    if (storage->bytes()) end = begin + storage->bytes();
  }
  return false;
}

/// Aliasing: inputs that share a storage must share it again; where something is written, no others may overlap.
void TraceBuilder::guard_tensors() {
  // Where nothing is written, views of one memory are as good as tensors of their own: rows of a data set may come from
  // anywhere.
  const bool only_reads = !writes_ && !gradients_ && !exact_offsets_;
  std::map<const Storage*, size_t> groups;
  std::vector<Register> apart, objects;
  for (size_t i = 0; i < inputs_.size(); i++) {
    const auto met = first_storages_.find(inputs_[i].object);
    const Storage* storage = (met == first_storages_.end() ? tensor_of(inputs_[i].object)->storage : met->second).get();
    if (only_reads) groups.clear();
    auto [place, is_new] = groups.try_emplace(storage, i);
    inputs_[i].what.storage_group = static_cast<uint32_t>(place->second);
    if (is_new) {
      apart.push_back(inputs_[i].reg);
    } else {
      r_.guard(Op::SameStorage, inputs_[i].reg, {}, inputs_[place->second].reg);
    }
    objects.push_back(inputs_[i].reg);
  }
  // A lone input may begin anywhere in its storage; of inputs that share one it matters where, and is part of an
  // instance's key only where sizes are.
  std::map<uint32_t, int> sharing;
  for (const Input& input : inputs_) sharing[input.what.storage_group]++;
  for (Input& input : inputs_) {
    bool shared = sharing[input.what.storage_group] > 1;
    input.what.exact_offset = exact_offsets_ || (shared && !input.what.free_sizes);
    if (input.what.exact_offset) r_.guard(Op::Offset, input.reg, {static_cast<Word>(input.what.offset)});
  }
  if (objects.size() > 1000) return r_.stop(Reason::TooLong, "tensors");
  for (const Input& input : inputs_) {
    const TensorImpl& tensor = *tensor_of(input.object);
    if (!written_.contains(tensor.storage.get())) continue;
    if (!tensor.requires_grad()) {
      // Of a view whose base requires grad plain execution may refuse the write, or changes the history of the base.
      if (mode_ & gradient_mode) r_.guard(Op::OwnHistory, input.reg);
      continue;
    }
    // The history of a view is one of its base, which others see too.
    if (follows_a_base(tensor) || sharing[input.what.storage_group] > 1)
      return r_.stop(Reason::TensorOpaque, "a write to memory that gradients lead through by other ways");
    r_.guard(Op::OwnHistory, input.reg);
  }
  if ((writes_ || gradients_) && share_bytes()) return r_.stop(Reason::TensorOpaque, "storages that share their bytes");
  if ((writes_ || gradients_) && apart.size() > 1) r_.guard(Op::Apart, no_register, pack(apart));
  if ((writes_ || gradients_) && objects.size() > 1) r_.guard(Op::AllDistinct, no_register, pack(objects));
  guard_mode();
}

void TraceBuilder::guard_mode() {
  if (!std::exchange(mode_guarded_, true)) r_.guard(Op::Mode, no_register, {mode_});
}

std::vector<TraceId> TraceBuilder::output_ids() const {
  std::vector<TraceId> ids;
  for (const auto& [id, reg] : outputs_) ids.push_back(id);
  return ids;
}

/// False: refused. What a graph can't do with loops may be possible round by round, and what it can't do with a number
/// that changes may be possible with a constant: then the next call is recorded so.
bool TraceBuilder::compile(Entry& entry) {
  const auto refused = [&](const char* why) {
    if (r_.loops().rolled_by_value()) {
      r_.loops().unroll();
      r_.record_again();
    }
    r_.stop(Reason::GraphRefused, why);
    return false;
  };
  if (sparse_gradients_) {
    const auto is_call = [](const graph::TraceRecord& r) { return std::holds_alternative<graph::CallRecord>(r.what); };
    entry.graph = recursive::only_deferred(
        static_cast<size_t>(std::count_if(trace_.records.begin(), trace_.records.end(), is_call)));
    return true;
  }
  const TimedScope timed(Activity::Compiled, "compile", "", 0);
  try {
    entry.graph = graph::compile(trace_);
    return true;
  } catch (const graph::NumberRefused& e) {
    if (r_.loops().rolled_by_value()) return refused(e.what());
    r_.speculation().insist(place(*e.op, e.file, e.line));
    r_.record_again();
    return refused(e.what());
  } catch (const graph::CallbackOutlives& e) {
    if (r_.speculation().functions() == Speculation::Functions::Inside) r_.record_again();
    r_.speculation().relax_functions();
    return refused(e.what());
  } catch (const InternalError& e) {
    if (links_ && r_.speculation().functions() == Speculation::Functions::Outlive) {
      r_.speculation().relax_functions();
      r_.record_again();
    }
    return refused(e.what());
  } catch (const Error& e) {
    return refused(e.what());
  }
}

void TraceBuilder::finish(Entry& entry, bool cut) {
  detach();
  uint64_t changed = engine_mode() ^ mode_;
  if (cut) changed &= ~modes_of_blocks;
  if (changed)
    return r_.stop(Reason::GradientState,
                   changed & autocast_mode ? "autocast is left changed" : "the gradient mode is left changed");
  entry.computes = std::any_of(trace_.records.begin(), trace_.records.end(), [](const graph::TraceRecord& r) {
    const auto* call = std::get_if<graph::CallRecord>(&r.what);
    const bool told = std::holds_alternative<graph::SizeRecord>(r.what) ||
                      std::holds_alternative<graph::NumberRecord>(r.what) ||
                      std::holds_alternative<graph::FactRecord>(r.what);
    return call ? call->in_place || !call->op->is(kView) : !told;
  });
  // Sizes alone are no tensor work; where nothing relies on them the graph library isn't needed.
  bool only_sizes = std::all_of(trace_.records.begin(), trace_.records.end(), [](const graph::TraceRecord& r) {
    return std::holds_alternative<graph::SizeRecord>(r.what) || std::holds_alternative<graph::NumberRecord>(r.what);
  });
  if (only_sizes && outputs_.empty()) return;
  if (gradients_) link_gradients();
  if (r_.alive()) r_.loops().roll(cut);
  if (!r_.alive()) return;
  r_.phis().finish(entry);
  if (!r_.alive()) return;
  if (r_.loops().rolled_by_value()) trace_.marks.clear(), entry.places.clear();  // asserts have another number each
  guard_tensors();
  renumber();
  for (Input& input : inputs_) entry.tensors.push_back(input.reg);
  for (auto& [reg, input] : scalars_) entry.scalars.push_back(reg);
  for (auto& [id, reg] : outputs_) entry.outputs.push_back(reg);
  if (!compile(entry)) return;
  entry.calls = entry.graph->call_count();
  if (asserts_ > 0)
    entry.trace = std::make_shared<graph::Trace>(std::move(trace_));
  else if (trace_.records.size() <= most_records_put_off && !entry.late_decides)
    entry.deferred = std::make_unique<recursive::DeferredGraphs>(std::move(trace_));
}

}  // namespace terra::capture
