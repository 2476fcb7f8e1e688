#include "interpreter_hooks/frame_hook/hook.h"

#include "interpreter_hooks/bindings/calls/counters.h"
#include "interpreter_hooks/bindings/calls/time_line.h"
#include "interpreter_hooks/coexec/runner.h"
#include "interpreter_hooks/cpython/interruptions.h"
#include "interpreter_hooks/cpython/step_over.h"
#include "interpreter_hooks/frame_hook/decide.h"
#include "interpreter_hooks/frame_hook/deferral.h"
#include "interpreter_hooks/frame_hook/idle_unhook.h"
#include "interpreter_hooks/frame_hook/ledger.h"
#include "interpreter_hooks/frame_hook/log.h"
#include "interpreter_hooks/frame_hook/release.h"
#include "interpreter_hooks/frame_hook/self_check.h"
#include "interpreter_hooks/frame_hook/serve.h"
#include "interpreter_hooks/frame_hook/session.h"
#include "interpreter_hooks/frame_hook/stopwatch.h"
#include "interpreter_hooks/recorder/calls/recursion.h"
#include "interpreter_hooks/recorder/core/recording.h"
#include "interpreter_hooks/verify/chaos.h"
#include "interpreter_hooks/verify/interference.h"

#include "engine/eager/long_call.h"
#include "graph/cache/compiled.h"
#include "graph/cache/pair_batch.h"
#include "graph/cache/rounding.h"
#include "recursive/batching/backward_rows.h"
#include "recursive/deferral/deferred_calls.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace terra::capture {

namespace {

/// terra.capture.freeze(): a miss is an error.
PyObject* raise_frozen_miss(const CodeRecord& record) {
  PyErr_Format(
      PyExc_RuntimeError,
      "The call of %s (%s:%d) fits none of its captured graphs, and capture is frozen: %s. Call it with what it "
      "was captured for, or let it be captured again with terra.capture.freeze(False).",
      record.name.c_str(), record.file.c_str(), record.line,
      record.last_miss.empty() ? "a guard does not hold" : record.last_miss.c_str());
  return nullptr;
}

PyObject* run_child(Recording& recording, PyThreadState* thread, TerraFrame* frame, int throwing) {
  ShadowFrame* shadow = nullptr;
  {
    const ErrorIndicator thrown;
    recording.shielded([&] { shadow = recording.enter(frame, throwing); });
    recording.let_go();
  }
  PyObject* result = terra_frame_run(thread, frame, throwing);
  if (shadow && Recording::current() == &recording) {
    const ErrorIndicator raised;
    PyObject* kind = raised.kept() ? raised.kept() : PyExc_SystemError;
    recording.shielded([&] { recording.leave(shadow, result, kind); });
    recording.let_go();
  }
  return result;
}

/// Somebody else evaluates frames (a debugger, another compiler): what they do with one is not ours to skip.
void give_way() {
  static bool told = false;
  if (!told)
    log().warn("another frame evaluator (PEP 523) is installed: nothing is captured, every frame runs plainly");
  told = true;
  settings().mode = Mode::Off;
}

/// Interprets a frame. A profile is nothing but the answer to one question: does this function do tensor work?
PyObject* profile(CodeRecord& record, PyThreadState* thread, TerraFrame* frame) {
  const uint64_t before = hooks::counters.eager_calls;
  const TimedScope timed(Activity::Plain, record.name, record.file, record.line);
  if (record.calls > profile_runs && !(record.tensor_work && record.profitability.wants_plain_time(record.calls))) {
    PyObject* result = terra_frame_run(thread, frame, 0);
    if (hooks::counters.eager_calls != before) record.tensor_work = true;
    return result;
  }
  const double kernels_before = eager::kernel_time_us;
  const Stopwatch watch;
  PyObject* result = terra_frame_run(thread, frame, 0);
  const uint64_t operations = hooks::counters.eager_calls - before;
  if (operations) record.tensor_work = true;
  record.profitability.ran_plainly(watch.elapsed(), operations, eager::kernel_time_us - kernels_before);
  return result;
}

/// A search in vain is a cost; a call that was to be a sample and was served is one.
void note_time(CodeRecord& record, Step step, Served served, double microseconds) {
  if (!measures()) return;
  if (served != Served::Done) {
    ledger().spend(record.profitability.searched(microseconds));
  }
  if (step == Step::MeasureServed) measured(record, served == Served::Done ? step : Step::Run, microseconds);
}

/// Parts of a frame that are samples and ended in a cut: how long the frame takes from their begin on is known when it
/// ends.
using Samples = std::vector<std::pair<CodeRecord*, Stopwatch>>;

/// A frame, or the rest of one, that an entry may serve, or that is to be recorded or measured. Null without an
/// exception: an entry has served a part of it, and it stands before the next one.
PyObject* take_part(CodeRecord& record, Step step, PyThreadState* thread, TerraFrame* frame, Samples& samples) {
  if (step == Step::MeasurePlain) {
    const Entry* entry = would_serve(record, frame);
    if (!entry || entry != record.profitability.awaited())
      step = record.profitability.waits() ? Step::Serve : Step::MeasureServed;
  }
  if (step == Step::MeasurePlain) [[unlikely]] {
    const TimedScope timed(Activity::Plain, record.name, record.file, record.line);
    comparisons_of_thread++;
    const Stopwatch watch;
    PyObject* result = terra_frame_run(thread, frame, 0);
    comparisons_of_thread--;
    measured(record, step, watch.elapsed());
    return result;
  }
  if (step != Step::Record) {
    PyObject* result = nullptr;
    std::unique_ptr<Verification> verification;
    std::optional<Stopwatch> watch;
    if (step == Step::MeasureServed || record.misses_in_a_row) watch.emplace();
    const Served served = serve(record, thread, frame, &result, verification);
    if (served == Served::Cut) {
      if (step == Step::MeasureServed) samples.emplace_back(&record, *watch);
      return nullptr;
    }
    if (watch && !verification)
      note_time(record, step, served, watch->elapsed());
    else if (served != Served::Done && measures())
      ledger().spend(record.profitability.searched(-1));
    if (served == Served::Done) {
      if (!verification) return result;
      return interpret_and_compare(record, *verification, [&] { return terra_frame_run(thread, frame, 0); });
    }
    if (served == Served::Missed && settings().frozen) return raise_frozen_miss(record);
    if (served == Served::Broken && PyErr_Occurred()) return nullptr;  // strict
    if (served == Served::Broken && settings().strict && record.why.reason == Reason::Internal) {
      return raise_internal_error(record);
    }
    const bool again = served != Served::Broken && missed(record) && served != Served::Busy;
    step = again ? Step::Record : Step::Run;
  }
  if (step == Step::Record) return record_frame(record, thread, frame);
  return profile(record, thread, frame);
}

/// The record of what follows the instruction that a frame stands before, once that has been performed; null: the frame
/// has ended, and `result` is what it gave.
CodeRecord* step_over(CodeRecord& whole, PyThreadState* thread, TerraFrame* frame, PyObject*& result) {
  PyCodeObject* const code = terra_frame_code(frame);
  const TerraStep step = terra_frame_step_over(thread, frame);
  CodeRecord* rest = nullptr;
  const bool stays = step == TERRA_STEP_DONE && captures_frames(frame_mode()) && terra_hook_sees(thread) &&
                     !terra_thread_is_observed(thread) && !terra_frame_is_watched(frame) && !modes_see_calls();
  if (stays) rest = rest_of(whole, code, terra_frame_instruction(frame) + 1);
  if (rest && rest->state != State::GivenUp) return rest;
  result = terra_frame_run(thread, frame, step == TERRA_STEP_RAISED);
  return nullptr;
}

/// The frame went on plainly behind a cut of `part`. Where it does so more often than not, entries of nothing but the
/// way there are in vain. (A loop over children that are called comes to its end, too, but less often than to the next
/// one.)
void ends_in_vain(CodeRecord& part) {
  if (++part.led_nowhere <= part.led_on || !std::exchange(part.resumes, false)) return;
  part.entries.remove_if([](const Entry& entry) { return entry.cut && entry.calls == 0; });
  if (part.entries.empty()) part.state = State::Hot;
}

/// Whether the frame has come to the part before, in a loop.
bool is_met_again(const CodeRecord& part, std::vector<const CodeRecord*>& met) {
  if (std::find(met.begin(), met.end(), &part) != met.end()) return true;
  met.push_back(&part);
  return false;
}

/// In a loop, what is left of the frame grows shorter each time round: times of it could not be compared.
Step without_sample(Step step) {
  return step == Step::MeasureServed || step == Step::MeasurePlain ? Step::Serve : step;
}

/// A part of the frame was recorded: what is measured of the others has it in it.
void judge_anew(CodeRecord& whole) {
  if (whole.rests.empty()) return;
  whole.profitability.reopen();
  for (const std::shared_ptr<CodeRecord>& rest : whole.rests) rest->profitability.reopen();
}

/// Part after part: from graphs where they fit, what stands between them by itself. Apart from `evaluate`, which every
/// Python call of the program pays for.
[[gnu::noinline]] PyObject* run_parts(CodeRecord& whole, Step step, PyThreadState* thread, TerraFrame* frame) {
  Samples samples;
  std::vector<const CodeRecord*> met;
  PyObject* result = nullptr;
  for (CodeRecord* part = &whole; part;) {
    const int recordings = part->recordings;
    const long hits = part->hits;
    const bool again = part != &whole && is_met_again(*part, met);
    if (again) step = without_sample(step);
    result = step == Step::Run ? profile(*part, thread, frame) : take_part(*part, step, thread, frame, samples);
    if (again) part->hits_again += part->hits - hits;
    if (part->recordings != recordings) judge_anew(whole);
    if (result || PyErr_Occurred()) break;
    CodeRecord* const next = step_over(whole, thread, frame, result);
    if (!next && result) ends_in_vain(*part);
    if (next && !next->entries.empty()) part->led_on++;
    if ((part = next)) step = decide(*part);
  }
  for (auto& [record, watch] : samples) note_time(*record, Step::MeasureServed, Served::Done, watch.elapsed());
  return result;
}

PyObject* run_unhooked(PyThreadState* thread, TerraFrame* frame) {
  const Unhooked unhooked;
  return terra_frame_run(thread, frame, 0);
}

/// Of one that calls itself, every call is the beginning of many.
PyObject* run_given_up(CodeRecord& record, PyThreadState* thread, TerraFrame* frame) {
  if (!record.recursive || !measures()) return terra_frame_run(thread, frame, 0);
  if (record.quiet_calls.next_runs_unhooked()) return run_unhooked(thread, frame);
  const auto events = [] { return totals().replays + totals().recordings; };
  const long before = events();
  PyObject* result = terra_frame_run(thread, frame, 0);
  record.quiet_calls.looked_at(events() == before);
  return result;
}

PyObject* evaluate(PyThreadState* thread, TerraFrame* frame, int throwing) {
  frame_seen();
  if (witnesses) [[unlikely]] {
    if (!throwing) note_handler(frame);
    if (checks_of_thread) return terra_frame_run(thread, frame, throwing);
  }
  if (recording_of_thread || session_of_thread) [[unlikely]] {
    Recording* recording = Recording::current();
    if (recording) return run_child(*recording, thread, frame, throwing);
    if (is_recording()) return terra_frame_run(thread, frame, throwing);
  }
  if (throwing || !captures_frames(frame_mode()) || recursion_is_plain || modes_see_calls() ||
      terra_frame_is_borrowed(frame)) {
    return terra_frame_run(thread, frame, throwing);
  }
  CodeRecord* record = record_of(terra_frame_code(frame));
  if (!record || !record->eligible || terra_thread_is_observed(thread)) return terra_frame_run(thread, frame, 0);
  if (record->state == State::GivenUp) return run_given_up(*record, thread, frame);
  const RecursiveCall call(*record);
  if (recursion_is_plain) return run_unhooked(thread, frame);
  const Step step = decide(*record);
  return step == Step::Run ? profile(*record, thread, frame) : run_parts(*record, step, thread, frame);
}

/// Modes that record or compare everything have to see everything.
void watch(bool all) {
  static bool watching = false;
  terra_hook_watch(all - watching);
  watching = all;
}

void witness(bool yes) {
  static bool is_witness = false;
  witnesses += yes - is_witness;
  is_witness = yes;
}

void apply() {
  witness(compares(settings().mode));
  watch(compares(settings().mode) || records_everything(settings().mode));
  coexec::run(settings().mode == Mode::Coexec, settings().runner);
  apply_hook();
}

void lend(bool yes) {
  lent_by_coexec = yes;
  apply_hook();
}

}  // namespace

void apply_hook() {
  hooks::counters.wake = nullptr;
  if (!captures_frames(frame_mode())) {
    if (terra_hook_is_installed()) terra_hook_uninstall();
  } else {
    if (!terra_hook_install(evaluate, give_way)) give_way();
  }
}

void start() {
  prepare_recorder();
  read_environment();
  coexec::lend_to_frame_tier = lend;
  if (!settings().trace.empty()) start_time_line();
  read_chaos();
  graph::set_interrupt_poll(chaos_is_on() ? poll_for_faults : terra_signal_is_waiting);
  install_host_lock();
  install_build_policy();
  graph::checks_batches = settings().self_check != SelfCheck::Off;
  recursive::on_deferral_error = [](const char* what) {
    log().error("calls that were put off met an internal error, and ran op by op: {}", what);
    totals().internal_errors++;
  };
  graph::on_batch_error = [](const std::string& name) {
    log().error("a batch of '{}' came out otherwise than its runs one by one, which are what counts", name);
    totals().internal_errors++;
  };
  if (settings().batches) graph::make_rows_of_backward = recursive::make_backward_rows;
  on_recursive = [](PyCodeObject* code) {
    CodeRecord* const record = record_of(code);
    if (!record) return;
    record->recursive = record->recorded_alone = true;
    if (record->state == State::GivenUp) record->unseen = 0;
  };
  apply();
}

void notice_foreign_evaluator() {
  if (terra_hook_is_installed() && !terra_hook_is_in_front()) give_way();
}

Mode set_mode(Mode mode) {
  prepare_recorder();
  Mode before = settings().mode;
  settings().mode = mode;
  apply();
  return before;
}

}  // namespace terra::capture
