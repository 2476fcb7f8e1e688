// cold -> hot -> captured -> (miss: other entry, or relax and record again) -> settled / given up
#include "interpreter_hooks/frame_hook/decide.h"

#include "interpreter_hooks/frame_hook/deferral.h"
#include "interpreter_hooks/frame_hook/hook.h"
#include "interpreter_hooks/frame_hook/ledger.h"
#include "interpreter_hooks/frame_hook/log.h"
#include "interpreter_hooks/frame_hook/mode.h"
#include "interpreter_hooks/verify/chaos.h"

#include "engine/eager/thread_time.h"
#include "graph/cache/build_policy.h"
#include "kernels/abi/exact_mode.h"

#include <algorithm>
#include <utility>

namespace terra::capture {

namespace {

/// Recordings have to be earned: the first ones are free, each further one costs replays.
constexpr long free_recordings = 24, replays_per_recording = 4;
constexpr long most_recordings = 3 * most_entries;
/// Of a function whose calls can't be timed; the process has to have room for further ones.
constexpr long recordings_on_trust = 8;
/// A function that misses this often without a hit is left alone.
constexpr long most_misses_in_a_row = 100;

/// Times of a call say nothing about it where calls of itself run below it, each in its own way, and what they compute
/// may be put off.
bool can_be_timed(const CodeRecord& r) {
  return measures() && !r.recursive && !r.around_recursion && recursion_depth == 0;
}

bool can_be_recorded(const CodeRecord& r) {
  return r.recordings < most_recordings && r.entries.has_room() && !settings().frozen;
}
/// By counts, where times don't decide.
bool may_record(const CodeRecord& r) {
  return can_be_recorded(r) && (can_be_timed(r) || r.recordings < free_recordings + r.hits / replays_per_recording);
}

/// Whether the call that is about to run, or has just run, lies in another one of its function.
bool is_below_itself(const CodeRecord& r) {
  for (TerraFrame* caller = terra_frame_current(PyThreadState_Get()); caller; caller = terra_frame_caller(caller))
    if (find_record(terra_frame_code(caller)) == &r) return true;
  return false;
}

void give_up(CodeRecord& r, Reason reason) {
  r.state = State::GivenUp;
  r.recursive = r.recursive || is_below_itself(r);  // perhaps no recording has seen that
  r.unseen = r.recursive ? 0 : all_calls;
  if (reason != Reason::None) r.why = {reason, r.last_miss, r.file, r.line};
  r.entries.clear();
}

/// Where the frame that is about to run stands among those that call it. A caller counts that may be captured itself,
/// with all that it calls.
Profitability::Position position() {
  Profitability::Position position = Profitability::Position::Outermost;
  for (TerraFrame* caller = terra_frame_current(PyThreadState_Get()); caller; caller = terra_frame_caller(caller)) {
    const CodeRecord* r = find_record(terra_frame_code(caller));
    if (!r || !r->eligible || r->state == State::GivenUp || (r->failures > 0 && r->entries.empty())) continue;
    if (r->calls > 1) return Profitability::Position::Inner;
    position = Profitability::Position::Unsure;
  }
  return position;
}

/// Whether times allow another recording: the process has room for it, and the function has earned it or gets credit. A
/// refusal holds for some calls.
bool may_buy(CodeRecord& r) {
  if (!measures() || (!can_be_timed(r) && r.recordings < recordings_on_trust)) return true;
  if (comparisons_of_thread) return false;
  const Profitability& account = r.profitability;
  const double price = account.price(), now = process_time_us();
  if (ledger().affords(price, now)) {
    if (!can_be_timed(r) || account.has_earned_recording()) return true;
    if (account.has_credit(position(), r.calls) && ledger().lends(price, now)) return true;
  }
  r.next_recording = r.calls + 1 + r.calls / 8;
  return false;
}

/// Whose call is being served.
CodeRecord* serving_record = nullptr;

bool may_build(double microseconds, int times_met) {
  if (!serving_record || !can_be_timed(*serving_record)) return true;
  const Profitability& profitability = serving_record->profitability;
  const double price = microseconds > 0 ? microseconds : profitability.price();
  return profitability.is_worth_building(price, times_met) && ledger().affords(price, process_time_us());
}

void has_built(double microseconds) {
  if (serving_record) serving_record->profitability.built(microseconds);
  ledger().spend(microseconds);
}

/// Searches in vain after which some calls are not even tried, how many for each, and at most.
constexpr double searches_that_matter = 16, untried_for_each = 0.25, most_untried = 64;

/// Where calls differ, a search costs more than the few of them save that an entry serves. Nothing is known of what
/// calls save that can't be timed: for them a hit makes up for all misses before it.
void rest_between_searches(CodeRecord& r) {
  const double in_vain =
      can_be_timed(r) ? r.profitability.searches_in_vain(r.hits) : static_cast<double>(r.misses_in_a_row);
  if (in_vain > searches_that_matter)
    r.next_try = r.calls + static_cast<long>(std::min(in_vain * untried_for_each, most_untried));
}

/// A function that did no tensor work for so many calls is looked at once in a while only.
constexpr long calls_before_leaving_alone = 64;
void leave_alone(CodeRecord& r) {
  r.unseen = 15;
  r.calls += r.unseen;
}

/// No tensor work is worth no entry; only stress mode captures it all the same.
bool is_final(Reason reason) { return reason == Reason::NotEligible || reason == Reason::TooLong; }

}  // namespace

/// What follows a call of a function that calls itself comes once for each structure: it is known to be hot.
static long runs_before_recording(const CodeRecord& r) {
  if (r.is_rest && (r.recursive || r.around_recursion)) return 0;
  return records_everything(settings().mode) ? 1 : profile_runs;
}

Step decide(CodeRecord& r) {
  r.calls += 1 - static_cast<long>(std::exchange(r.unseen, 0));
  if (std::exchange(r.recorded_alone, false)) r.entries.clear(), r.cuts.clear();
  switch (r.state) {
    case State::Cold:
      if (settings().frozen || r.calls <= runs_before_recording(r)) return Step::Run;
      if (!r.tensor_work && !records_everything(settings().mode)) {
        if (r.calls > calls_before_leaving_alone) leave_alone(r);
        return Step::Run;
      }
      r.state = State::Hot;
      [[fallthrough]];
    case State::Hot: return r.calls >= r.next_recording && may_buy(r) ? Step::Record : Step::Run;
    case State::Captured:
    case State::Settled:
      if (r.calls < r.next_try) return Step::Run;
      if (!r.profitability.is_due(r.calls)) return Step::Serve;
      if (!can_be_timed(r)) {
        r.profitability.wait(r.calls);
        return Step::Serve;
      }
      return r.profitability.sample() == Profitability::Sample::Plain ? Step::MeasurePlain : Step::MeasureServed;
    case State::GivenUp: break;
  }
  return Step::Run;
}

void recorded(CodeRecord& r, std::shared_ptr<Entry> entry, const Stop& why, bool again) {
  r.recordings++;
  if (entry && r.entries.make_room()) {
    r.failures = r.aims = 0;
    if (entry->graph && entry->graph->has_backward()) r.profitability.has_backward();
    r.entries.add(std::move(entry));
    r.state = can_be_recorded(r) ? State::Captured : State::Settled;
    drop_idle_entries();
    return;
  }
  r.why = why;
  if (again && r.recordings < most_recordings) {
    if (r.entries.empty()) r.state = State::Hot;
    return;
  }
  r.failures++;
  // A function that works with tensors in other calls is asked once more.
  const int most = most_failures + (why.reason == Reason::NoTensorWork && r.tensor_work);
  if (is_final(why.reason) || r.failures >= most || r.recordings >= most_recordings) {
    if (r.entries.empty()) return give_up(r, Reason::None);
    r.state = State::Settled;
    return;
  }
  r.next_recording = r.calls + calls_behind_failures[std::min(r.failures, most_failures) - 1];
  if (r.entries.empty()) r.state = State::Hot;
}

bool aim(CodeRecord& r, const CutPoint& point) {
  if (!point.valid() || r.aims >= most_aims) return false;
  r.aims++;
  std::erase(r.cuts, point);
  if (r.cuts.size() >= most_entries) r.cuts.erase(r.cuts.begin());
  r.cuts.push_back(point);
  return true;
}

bool missed(CodeRecord& r) {
  r.misses++;
  r.misses_in_a_row++;
  if (can_be_timed(r) && r.profitability.is_a_loss()) {
    give_up(r, Reason::DoesNotPay);
    return false;
  }
  if (measures() && !can_be_timed(r) && r.misses > std::max(most_misses_in_a_row, r.hits)) {
    give_up(r, Reason::KeepsMissing);
    return false;
  }
  if (measures()) rest_between_searches(r);
  if (r.state == State::Captured && may_record(r)) return r.calls >= r.next_recording && may_buy(r);
  if (!can_be_recorded(r)) r.state = State::Settled;
  if (r.misses_in_a_row > most_misses_in_a_row) give_up(r, Reason::KeepsMissing);
  return false;
}

void measured(CodeRecord& r, Step step, double microseconds) {
  if (step == Step::MeasureServed)
    ledger().bring_back(r.profitability.served(r.last_served, microseconds, r.hits - r.hits_again));
  if (step == Step::MeasurePlain) r.profitability.compared(microseconds);
  r.profitability.sampled(r.calls);
  if (r.profitability.verdict() == Profitability::Verdict::Loses && r.state != State::GivenUp)
    give_up(r, Reason::DoesNotPay);
}

void recursion_loses(CodeRecord& r) {
  give_up(r, Reason::DoesNotPay);
  for (const std::shared_ptr<CodeRecord>& rest : r.rests) give_up(*rest, Reason::DoesNotPay);
  for (const std::shared_ptr<CodeRecord>& other : all_records()) other->around_recursion = false;
}

void serves(CodeRecord* record) { serving_record = record; }

void install_build_policy() { graph::set_build_policy({may_build, has_built}); }

bool measures() {
  return frame_mode() == Mode::Auto && settings().thrifty && !settings().frozen && !chaos_is_on() && !exact_mode();
}

void paid_for_recording(CodeRecord& r, double microseconds) {
  r.profitability.recorded(microseconds);
  ledger().spend(microseconds);
}

void broken(CodeRecord& r, const char* what) {
  log().error("capture of {} ({}:{}) met an internal error: {}", r.name, r.file, r.line, what);
  totals().internal_errors++;
  r.state = State::GivenUp;
  r.entries.clear();
  r.why = {Reason::Internal, what, r.file, r.line};
}

}  // namespace terra::capture
