#include "interpreter_hooks/frame_hook/serve.h"

#include "interpreter_hooks/bindings/calls/time_line.h"
#include "interpreter_hooks/frame_hook/decide.h"
#include "interpreter_hooks/frame_hook/direct_call.h"
#include "interpreter_hooks/frame_hook/hook.h"
#include "interpreter_hooks/frame_hook/merged_entries.h"
#include "interpreter_hooks/frame_hook/run_entry.h"
#include "interpreter_hooks/frame_hook/self_check.h"
#include "interpreter_hooks/recorder/calls/clocks.h"

#include <algorithm>

namespace terra::capture {

namespace {

/// The frame has been served up to the cut: its slots get what they hold there.
void move_on(TerraFrame* frame, const Cut& cut, std::vector<PyObject*> slots) {
  PyObject** const locals = terra_frame_localsplus(frame);
  PyObject** const stack = locals + terra_frame_code(frame)->co_nlocalsplus;
  std::vector<PyObject*> gone(stack, stack + terra_frame_stack_depth(frame));
  for (size_t i = 0; i < slots.size(); i++) {
    PyObject** const place = locals + cut.places[i];
    if (place < stack) gone.push_back(*place);
    *place = slots[i];
  }
  terra_frame_continue_at(frame, cut.instruction, cut.depth);
  for (PyObject* before : gone) Py_XDECREF(before);
}

/// One call on its way through the entries.
class Search {
 public:
  Search(CodeRecord& record, PyThreadState* thread, TerraFrame* frame, std::unique_ptr<Verification>& verification)
      : record_(record),
        thread_(thread),
        arguments_(terra_frame_localsplus(frame)),
        function_(terra_frame_function(frame)),
        verification_(verification) {}

  /// Done with a cut entry: the frame has to go on.
  const std::shared_ptr<Entry>& cut() const { return cut_; }
  std::vector<PyObject*> take_slots() { return std::move(slots_); }

  Served run(PyObject** result) {
    TimedScope timed(Activity::Served, record_.name, record_.file, record_.line);
    const Served served = find(result);
    if (served != Served::Done) timed.became(Activity::Missed);
    return served;
  }

 private:
  Served find(PyObject** result) {
    if (record_.entries.empty()) return fall_back();  // all of them relied on a fact that has become an input
    const uint64_t key = record_.entries.size() > 1 ? call_key(arguments_, function_) : 0;
    std::shared_ptr<Entry> taken = record_.entries.likely(key);
    const Entry* const first = taken.get();
    const bool merged = first->paths != nullptr;
    if (attempt(taken, result)) {
      if (taken.get() != first) record_.entries.served(key, taken);
      return Served::Done;
    }
    if (served_ == Served::Broken) return fall_back();
    const std::vector<std::shared_ptr<Entry>> others(record_.entries.begin(), record_.entries.end());
    one_by_one_ = true;
    for (std::shared_ptr<Entry> entry : others) {
      if ((entry.get() == first && !merged) || entry->file.stale() || !may_hold(*entry)) continue;
      if (attempt(entry, result)) {
        record_.entries.served(key, entry);
        merge_with(entry);
        return Served::Done;
      }
      if (served_ == Served::Broken) return fall_back();
    }
    if (served_ == Served::Missed) relax(others);
    return fall_back();
  }

  /// `entry` becomes the one that the attempt is about, where it is merged with others.
  bool attempt(std::shared_ptr<Entry>& entry, PyObject** result) {
    // What a clock shows can't be compared with what it shows later.
    const bool verifies = compares(settings().mode) && !reads_a_clock(entry->entry);
    const bool merged = entry->paths && !one_by_one_ && !verifies;
    // What a cut entry makes can't be compared with a frame that is interpreted to its end. And where CPython would
    // find the program too deep, it finds out itself.
    const bool too_deep = terra_thread_room(thread_) < entry->depth || (entry->cut && !terra_frame_can_run(thread_));
    if ((entry->cut && verifies) || too_deep) {
      served_ = Served::Broken;
      return false;
    }
    Attempt made = verifies ? verify(entry) : run_by(entry, merged);
    if (made.outcome == Outcome::Due) [[unlikely]] {
      made = check(entry, made.way);
      if (verification_ && !made.internal_error.empty()) {
        verification_.reset();
        convict(record_, made.internal_error);
        served_ = Served::Broken;
        return false;
      }
    }
    if (made.outcome == Outcome::Done) {
      count_hit(record_, *entry);
      *result = made.result;
      if (entry->cut && !PyErr_Occurred()) {  // else an effect raised
        cut_ = entry;
        slots_ = std::move(made.slots);
      }
      return true;
    }
    if (!made.internal_error.empty()) broken(record_, made.internal_error.c_str());
    const bool runs_plainly = made.outcome == Outcome::Injected || made.outcome == Outcome::Interrupted ||
                              made.outcome == Outcome::Overtaken || !made.internal_error.empty();
    if (runs_plainly) {
      served_ = Served::Broken;
      return false;
    }
    note_miss(entry, made);
    return false;
  }

  Attempt run_by(std::shared_ptr<Entry>& entry, bool merged) {
    return merged ? entry->paths->run(entry, arguments_, function_, nullptr) : run_entry(*entry, arguments_, function_);
  }

  /// There is something to compare with only where the run has come to its end.
  Attempt verify(const std::shared_ptr<Entry>& entry) {
    auto verification = std::make_unique<Verification>(entry);
    Attempt made = verify_entry(*verification, arguments_, function_);
    if (made.outcome == Outcome::Done) verification_ = std::move(verification);
    return made;
  }

  /// Where nothing comes of it, the run is made without a check.
  Attempt check(std::shared_ptr<Entry>& entry, Way way) {
    verification_ = std::make_unique<Check>(entry, way);
    const bool merged = way == Way::Merged;
    Attempt made = merged ? entry->paths->run(entry, arguments_, function_, verification_.get())
                          : verify_entry(*verification_, arguments_, function_);
    if (made.outcome == Outcome::Done || !made.internal_error.empty()) return made;
    verification_.reset();
    return run_by(entry, merged);
  }

  void note_miss(const std::shared_ptr<Entry>& entry, const Attempt& made) {
    entry->misses++;
    if (entry->file.stale()) return;
    if (made.branch >= 0) {
      failed_.push_back({entry, static_cast<size_t>(made.branch)});
      record_.speculation.part_ways();
    }
    // In words for the first few misses and then more and more rarely: texts cost more than guards.
    const bool in_words = entry->misses < 4 || !(entry->misses & (entry->misses - 1)) || settings().frozen;
    if (made.missed_at < 0) {
      entry->last_miss = made.branch >= 0 ? "a branch on a tensor went the other way" : "the graph was refused";
      if (const std::string why = entry->graph ? entry->graph->refusal() : ""; !why.empty()) entry->last_miss = why;
    } else if (in_words) {
      entry->last_miss = made.late ? entry->late.text(made.missed_at, entry->file)
                                   : describe_miss(*entry, arguments_, function_, made.missed_at);
    }
    record_.last_miss = entry->last_miss;
    if (made.outcome == Outcome::Failed && served_ != Served::Busy) served_ = Served::Refused;
    if (made.outcome == Outcome::Busy) served_ = Served::Busy;
  }

  /// Both sides of a branch have been taken, and more than once: from now on what precedes it runs once.
  void merge_with(const std::shared_ptr<Entry>& served) {
    if (failed_.empty() || !served->merges || served->hits < 2) return;
    const std::shared_ptr<Entry>& failed = failed_.front().entry;
    if (failed->branches[failed_.front().branch].late || !failed->merges || failed->hits < 1) return;
    if ((served->paths && served->paths->joined()) || (failed->paths && failed->paths->joined())) return;
    if (!MergedEntries::merge({failed, served})) served->merges = false;
  }

  /// False when a run that failed has shown that this entry went another way than the frame would go now.
  bool may_hold(const Entry& entry) const {
    return std::all_of(failed_.begin(), failed_.end(),
                       [&](const Failure& failure) { return may_follow(entry, *failure.entry, failure.branch); });
  }

  /// Numbers and sizes that were facts and have changed become inputs, and entries that rely on such facts go.
  void relax(const std::vector<std::shared_ptr<Entry>>& entries) {
    if (record_.state == State::GivenUp || settings().frozen) return;
    if (measures() && record_.misses > misses_to_learn_from && record_.misses % then_every != 0) return;
    bool relaxed = false;
    for (const std::shared_ptr<Entry>& entry : entries) {
      if (entry->file.stale()) continue;
      relaxed = relax_facts(*entry, arguments_, function_, record_.speculation) || relaxed;
    }
    if (!relaxed) return;
    record_.entries.remove_if([&](const Entry& entry) { return relies_on(entry, record_.speculation); });
  }

  Served fall_back() {
    record_.fallbacks++;
    totals().fallbacks++;
    if (served_ != Served::Broken) totals().misses++;
    return served_;
  }

  /// Behind so many, few misses teach what those before them haven't.
  static constexpr long misses_to_learn_from = 64, then_every = 8;

  struct Failure {
    std::shared_ptr<Entry> entry;
    size_t branch;
  };

  CodeRecord& record_;
  PyThreadState* thread_;
  PyObject** arguments_;
  PyFunctionObject* function_;
  std::unique_ptr<Verification>& verification_;
  std::vector<Failure> failed_;
  Served served_ = Served::Missed;
  bool one_by_one_ = false;  ///< merged paths have had their attempt
  std::shared_ptr<Entry> cut_;
  std::vector<PyObject*> slots_;
};

}  // namespace

void count_hit(CodeRecord& record, Entry& entry) {
  entry.hits++;
  if (!entry.cut || entry.calls > 0) record.useful_hits++;
  record.last_served = &entry;
  totals().replays++;
  if (!checks_of_thread) totals().graph_calls += entry.calls;  // else the interpreter counts them
  hit(record);
}

const Entry* would_serve(CodeRecord& record, TerraFrame* frame) {
  drop_stale_entries();
  if (record.entries.empty()) return nullptr;
  PyObject* const* arguments = terra_frame_localsplus(frame);
  PyFunctionObject* function = terra_frame_function(frame);
  const uint64_t key = record.entries.size() > 1 ? call_key(arguments, function) : 0;
  const std::shared_ptr<Entry> entry = record.entries.likely(key);
  return guards_hold(*entry, arguments, function) ? entry.get() : nullptr;
}

Served serve(CodeRecord& record, PyThreadState* thread, TerraFrame* frame, PyObject** result,
             std::unique_ptr<Verification>& verification) {
  drop_stale_entries();
  serves(&record);
  Search search(record, thread, frame, verification);
  const Served served = search.run(result);
  if (const std::shared_ptr<Entry> entry = search.cut()) {
    totals().cuts++;
    record.cut_hits++;
    move_on(frame, *entry->cut, search.take_slots());
    return Served::Cut;
  }
  if (served == Served::Done && !compares(settings().mode) && !record.is_rest) {
    offer_direct_calls(record, terra_frame_function(frame));
  }
  return served;
}

}  // namespace terra::capture
