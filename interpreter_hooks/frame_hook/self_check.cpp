#include "interpreter_hooks/frame_hook/self_check.h"

#include "interpreter_hooks/cpython/interruptions.h"
#include "interpreter_hooks/frame_hook/hook.h"
#include "interpreter_hooks/frame_hook/log.h"
#include "interpreter_hooks/recorder/calls/clocks.h"
#include "interpreter_hooks/verify/chaos.h"

#include "engine/memory/allocator.h"
#include "kernels/abi/exact_mode.h"

#include <algorithm>
#include <chrono>
#include <set>

namespace terra::capture {

namespace {

constinit CheckMemory check_memory;

const auto process_start = std::chrono::steady_clock::now();

/// Neither threads that compute for the program nor waiting make it longer.
double elapsed_seconds() {
  const std::chrono::duration<double> on_the_wall = std::chrono::steady_clock::now() - process_start;
  return std::min(on_the_wall.count(), process_time_us() / 1e6);
}

bool checks_all() { return settings().self_check == SelfCheck::All; }

bool checks_in(Mode mode) {
  return settings().self_check != SelfCheck::Off && (mode == Mode::Auto || (checks_all() && mode == Mode::Stress));
}

/// What a rehearsal copies, each storage once.
size_t bytes_of(const std::vector<TensorImpl*>& tensors) {
  size_t bytes = 0;
  std::set<const Storage*> seen;
  for (const TensorImpl* tensor : tensors)
    if (seen.insert(tensor->storage.get()).second) bytes += tensor->storage->bytes();
  return bytes;
}

}  // namespace

size_t most_copied() {
  if (checks_all()) return CheckMemory::most;
  const memory::Statistics now = memory::statistics();
  return check_memory.room(now.live_bytes, now.peak_bytes) / 2;  // the other half is for what the interpreter makes
}

bool takes_check(Entry& entry, Way way, const std::vector<TensorImpl*>& inputs) {
  Checks& checks = entry.checks;
  if (entry.cut || reads_a_clock(entry.entry)) {
    checks.never();
    return false;
  }
  // Asked again at the next replay.
  if (checks_of_thread || terra_signal_is_waiting()) return false;
  const size_t bytes = bytes_of(inputs) + (entry.graph ? entry.graph->footprint().run : 0);
  const bool fits = bytes <= most_copied();
  const auto affords = [&] {
    if (checks_all() || checks.in_doubt(way)) return true;
    return check_account().affords(checks.cost(bytes), elapsed_seconds());
  };
  if (!checks_in(frame_mode()) || chaos_is_on() || !fits || !affords()) {
    checks.put_off(way, entry.hits);
    return false;
  }
  checks.skip(way, entry.hits);
  return true;
}

Check::Check(std::shared_ptr<Entry> entry, Way way)
    : Verification(std::move(entry)), way_(way), peak_before_(memory::statistics().peak_bytes) {
  compare_gradients();
  if (asked_->checks.is_delicate() && !exact_mode()) measure_rounding();
  checks_of_thread++;
  witnesses++;
  terra_hook_watch(1);
}

Check::~Check() {
  terra_hook_watch(-1);
  witnesses--;
  checks_of_thread--;
  check_memory.made(peak_before_, memory::statistics().peak_bytes);
  if (!checks_all()) asked_->guard_memo.forgive();
  const double microseconds = watch_.elapsed();
  asked_->checks.took(microseconds / 1e6);
  check_account().spend(microseconds / 1e6);
  ledger().spend(microseconds);
}

bool Check::convicts(const std::optional<Difference>& difference) {
  Checks& checks = asked_->checks;
  if (disturbed()) {
    checks.put_off(way_, asked_->hits);
    return false;
  }
  if (difference && (exact_mode() || !difference->of_values || checks.doubt(way_))) return true;
  if (difference) {
    log().info("a value may be wrong, or off by rounding: {}", difference->text());
    return false;
  }
  checks.passed(way_, asked_->hits - 1);
  if (checks_all()) checks.again(way_);
  return false;
}

void convict(CodeRecord& record, const std::string& what) {
  totals().wrong++;
  log().error("a captured entry of {} ({}:{}) is wrong: {}", record.name, record.file, record.line, what);
  record.state = State::GivenUp;
  record.entries.clear();
  record.why = {Reason::Differs, what, record.file, record.line};
  if (settings().strict)
    PyErr_Format(PyExc_SystemError, "a captured entry of %s is wrong: %s", record.name.c_str(), what.c_str());
}

PyObject* interpret_and_compare(CodeRecord& record, Verification& verification,
                                const std::function<PyObject*()>& interpret) {
  const long before = totals().wrong;
  PyObject* result = interpret();
  if (!result) {
    // Ctrl-C and its like come from outside, want of memory and stack says nothing of the entry, and an exception of
    // ours is from a frame below.
    const bool of_program = PyErr_ExceptionMatches(PyExc_Exception) && !PyErr_ExceptionMatches(PyExc_MemoryError) &&
                            !PyErr_ExceptionMatches(PyExc_RecursionError);
    if (!of_program || before != totals().wrong) return nullptr;
  }
  const std::optional<Difference> difference = verification.compare(result);
  if (!verification.convicts(difference)) return result;
  if (settings().strict) Py_CLEAR(result);
  convict(record, difference->text());
  return result;
}

}  // namespace terra::capture
