#include "interpreter_hooks/frame_hook/merged_entries.h"

#include "interpreter_hooks/bindings/calls/time_line.h"
#include "interpreter_hooks/entry/registers.h"
#include "interpreter_hooks/frame_hook/self_check.h"
#include "interpreter_hooks/verify/chaos.h"

#include "engine/errors/errors.h"

#include <algorithm>
#include <deque>
#include <optional>

namespace terra::capture {

namespace {

/// More paths than this are better served one by one: each new one compiles all of them again.
constexpr size_t most_paths = 16;

/// One path in a run: its registers as its guards left them.
struct Visit {
  Visit(std::shared_ptr<Entry> of, PyObject* const* arguments, PyFunctionObject* function)
      : entry(std::move(of)), registers(entry->file), run{registers.first(), arguments, function} {}

  std::shared_ptr<Entry> entry;
  Registers registers;
  Run run;
  graph::PathInputs inputs;
  std::optional<EffectProgram::Held> held;  ///< once the guards hold
};

/// What the way to a place has chosen goes from the path that came there to the one that goes on, which then makes of
/// it what it holds at the next place. False: a sum can't be made.
bool hand_on(const Visit& from, Visit& to, uint32_t place) {
  if (place + 1 >= from.entry->places.size() || place + 1 >= to.entry->places.size()) return false;
  const std::vector<Register>&left = from.entry->places[place].chosen, &taken = to.entry->places[place].chosen;
  if (left.size() != taken.size()) return false;
  if (taken.empty()) return true;  // nothing but what the path itself chooses
  std::vector<PyObject*> values;
  for (const Register reg : left) values.push_back(Py_NewRef(from.run.registers[reg]));
  for (size_t k = 0; k < taken.size(); k++) Py_XSETREF(to.run.registers[taken[k]], values[k]);
  Program& program = to.entry->entry;
  for (const int offset : to.entry->places[place + 1].sums) {
    Py_CLEAR(to.run.registers[head(program.at(offset)).dst]);
    if (!program.run_at(offset, to.run)) return false;
  }
  return read_inputs(*to.entry, to.run, to.inputs);
}

void add(std::vector<std::shared_ptr<Entry>>& list, const std::shared_ptr<Entry>& entry) {
  if (entry && std::find(list.begin(), list.end(), entry) == list.end()) list.push_back(entry);
}

}  // namespace

std::shared_ptr<Entry> MergedEntries::at(uint32_t path) const {
  std::shared_ptr<Entry> entry = entries_[path].lock();
  return entry && entry->paths.get() == this && !entry->file.stale() ? entry : nullptr;
}

bool MergedEntries::join(const std::shared_ptr<Entry>& made, const std::vector<std::shared_ptr<Entry>>& entries) {
  const auto starts = [](const Entry& entry) {
    return entry.can_meet() && entry.trace && !entry.trace->marks.empty() && !entry.trace->marks[0].place.empty();
  };
  if (!starts(*made)) return false;
  std::vector<std::shared_ptr<Entry>> all = {made};
  for (const auto& entry : entries)
    if (starts(*entry) && entry->trace->marks[0].place == made->trace->marks[0].place) add(all, entry);
  return merge(all, true);
}

bool MergedEntries::merge(const std::vector<std::shared_ptr<Entry>>& entries, bool only_joined) {
  std::vector<std::shared_ptr<Entry>> all;
  for (const auto& entry : entries) {
    add(all, entry);
    for (uint32_t i = 0; entry->paths && i < entry->paths->entries_.size(); i++) add(all, entry->paths->at(i));
  }
  if (all.size() < 2 || all.size() > most_paths) return false;
  std::vector<const graph::Trace*> traces;
  for (const auto& entry : all) {
    if (!entry->trace) return false;
    traces.push_back(entry->trace.get());
  }
  auto paths = std::make_shared<MergedEntries>();
  const TimedScope timed(Activity::Compiled, only_joined ? "compile joined" : "compile switches", "", 0);
  try {
    paths->graph_ = only_joined ? graph::compile_joined(traces) : graph::compile_switch(traces);
    if (!paths->graph_) return false;
    paths->joined_ = only_joined;
  } catch (const InternalError&) {  // says why; the entries serve one by one
    return false;
  } catch (const Error&) {
    return false;
  }
  const auto shallower = [](const auto& a, const auto& b) { return a->depth < b->depth; };
  const int depth = (*std::max_element(all.begin(), all.end(), shallower))->depth;
  for (uint32_t i = 0; i < all.size(); i++) {
    all[i]->depth = depth;
    paths->entries_.push_back(all[i]);
    all[i]->paths = paths;
    all[i]->path = i;
  }
  return true;
}

Attempt MergedEntries::run(std::shared_ptr<Entry>& entry, PyObject* const* arguments, PyFunctionObject* function,
                           Verification* verification) {
  const std::shared_ptr<MergedEntries> held = entry->paths;
  Attempt attempt;
  if (entry->checks.due(Way::Merged, entry->hits) && !verification && takes_check(*entry, Way::Merged, {})) {
    attempt.outcome = Outcome::Due;
    attempt.way = Way::Merged;
    return attempt;
  }
  const auto visits = std::make_shared<std::deque<Visit>>();
  Fault fault;
  if (chaos_is_on()) [[unlikely]]
    fault = next_fault(entry->entry.guards(), graph_->node_count());
  const auto visit_of = [&](uint32_t path) -> Visit& {
    return *std::find_if(visits->begin(), visits->end(), [&](const Visit& v) { return v.entry->path == path; });
  };
  const auto inputs_of = [&](uint32_t path) -> const graph::PathInputs* {
    std::shared_ptr<Entry> wanted = at(path);
    if (!wanted) return nullptr;
    Visit& visit = visits->emplace_back(std::move(wanted), arguments, function);
    const int fail = visits->size() == 1 ? fault.guard : -1;
    attempt.missed_at = fail >= 0 ? visit.entry->entry.run_failing(visit.run, fail) : visit.entry->entry.run(visit.run);
    if (attempt.missed_at >= 0 || !read_inputs(*visit.entry, visit.run, visit.inputs)) return nullptr;
    if (verification && !verification->lend_copies(*visit.entry, visit.inputs.tensors, most_copied())) return nullptr;
    visit.held.emplace(visit.entry->effects, visit.run);
    return &visit.inputs;
  };
  const auto arrives = [&](uint32_t from, uint32_t path, uint32_t place) {
    Visit& to = visit_of(path);
    if (!hand_on(visit_of(from), to, place)) return false;
    return !verification || verification->lend_copies(*to.entry, to.inputs.tensors, most_copied());
  };
  std::vector<graph::RunOutput> outputs;
  const auto before_commit = [&](uint32_t path) {
    Visit& visit = visit_of(path);
    return !fault.assertion && decide(*visit.entry, visit.run, outputs, attempt);
  };
  attempt.outcome = fault.guard >= 0 || fault.assertion ? Outcome::Injected : Outcome::Failed;
  uint32_t path = entry->path;
  const auto run = [&] { return graph_->run(path, {inputs_of, before_commit, arrives}, outputs, path); };
  try {
    const graph::RunResult result = verification ? verification->run_paths(generators(), run, outputs) : run();
    if (const std::shared_ptr<Entry> taken = at(path)) entry = taken;
    if (result.status == graph::RunStatus::Interrupted) attempt.outcome = Outcome::Interrupted;
    if (result.status == graph::RunStatus::AssertFailed) attempt.branch = entry->branch_of_assert(result.failed_assert);
    if (attempt.missed_at >= 0 && !attempt.late && attempt.outcome == Outcome::Failed)
      attempt.outcome = Outcome::Missed;
    if (result.status != graph::RunStatus::Done) return attempt;
    if (is_spoiled(Way::Merged)) [[unlikely]]
      spoil(outputs);
    Visit& visit = visit_of(path);
    if (verification && visit.entry->cut) return attempt;  // can't be compared
    if (verification) verification->output_originals(outputs);
    take_outputs(*visit.entry, visit.run, outputs);
    if (!verification) {
      publish(*visit.entry, visit.run, attempt);
      return attempt;
    }
    verification->goes_by(visit.entry, visit.run, visits);
    verification->expect_effects();
    visit.run.random.put_back();
    attempt.outcome = Outcome::Done;
  } catch (const Error&) {  // the op refuses these values: the frame is interpreted and raises by itself
    return attempt;
  } catch (const std::exception& e) {
    attempt.internal_error = e.what();
    return attempt;
  }
  return attempt;
}

std::vector<Generator*> MergedEntries::generators() const {
  std::vector<Generator*> all;
  for (const std::weak_ptr<Entry>& each : entries_) {
    const std::shared_ptr<Entry> entry = each.lock();
    if (!entry || !entry->graph) continue;
    for (Generator* generator : entry->graph->generators())
      if (std::find(all.begin(), all.end(), generator) == all.end()) all.push_back(generator);
  }
  return all;
}

}  // namespace terra::capture
