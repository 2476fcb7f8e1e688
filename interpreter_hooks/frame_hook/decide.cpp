// cold -> hot -> captured -> (miss: other entry, or relax and record again) -> settled / given up
#include "interpreter_hooks/frame_hook/decide.h"

#include "interpreter_hooks/frame_hook/chaos.h"
#include "interpreter_hooks/frame_hook/hook.h"
#include "interpreter_hooks/frame_hook/log.h"
#include "interpreter_hooks/frame_hook/mode.h"

#include "kernels/cpu/exact_mode.h"

#include <algorithm>
#include <utility>

namespace terra::capture {

namespace {

/// Recordings have to be earned: the first ones are free, each further one costs replays.
constexpr long free_recordings = 24, replays_per_recording = 4;
constexpr long most_recordings = 3 * most_entries;
/// A function that misses this often without a hit is left alone.
constexpr long most_misses_in_a_row = 100;

bool can_be_recorded(const CodeRecord& r) {
  return r.recordings < most_recordings && r.entries.has_room() && !settings().frozen;
}
bool may_record(const CodeRecord& r) {
  return can_be_recorded(r) && r.recordings < free_recordings + r.hits / replays_per_recording;
}

void give_up(CodeRecord& r, Reason reason) {
  r.state = State::GivenUp;
  r.unseen = all_calls;
  if (reason != Reason::None) r.why = {reason, r.last_miss, r.file, r.line};
  r.entries.clear();
}

/// Exact mode leaves no choice to a measurement, and the modes that test capture want it whether it pays or not.
bool measures() { return settings().mode == Mode::Auto && !settings().frozen && !chaos_is_on() && !cpu::exact_mode(); }

/// A function that did no tensor work for so many calls is looked at once in a while only.
constexpr long calls_before_leaving_alone = 64;
void leave_alone(CodeRecord& r) {
  r.unseen = 15;
  r.calls += r.unseen;
}

/// No tensor work is worth no entry; only stress mode captures it all the same.
bool is_final(Reason reason) { return reason == Reason::NotEligible || reason == Reason::TooLong; }

}  // namespace

Step decide(CodeRecord& r) {
  r.calls += 1 - static_cast<long>(std::exchange(r.unseen, 0));
  switch (r.state) {
    case State::Cold:
      if (settings().frozen || r.calls <= (records_everything(settings().mode) ? 1 : profile_runs)) return Step::Run;
      if (!r.tensor_work && !records_everything(settings().mode)) {
        if (r.calls > calls_before_leaving_alone) leave_alone(r);
        return Step::Run;
      }
      r.state = State::Hot;
      [[fallthrough]];
    case State::Hot: return r.calls >= r.next_recording ? Step::Record : Step::Run;
    case State::Captured:
    case State::Settled:
      switch (r.payoff.due(r.calls)) {
        case Payoff::Sample::None: return Step::Serve;
        case Payoff::Sample::Served: return measures() ? Step::MeasureServed : Step::Serve;
        case Payoff::Sample::Plain: return measures() ? Step::MeasurePlain : Step::Serve;
      }
      break;
    case State::GivenUp: break;
  }
  return Step::Run;
}

void recorded(CodeRecord& r, std::shared_ptr<Entry> entry, const Stop& why, bool again) {
  r.recordings++;
  if (entry && r.entries.make_room()) {
    r.failures = r.aims = 0;
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
  if (is_final(why.reason) || r.failures >= most_failures || r.recordings >= most_recordings) {
    if (r.entries.empty()) return give_up(r, Reason::None);
    r.state = State::Settled;
    return;
  }
  r.next_recording = r.calls + (1L << (2 * r.failures));
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
  if (r.state == State::Captured && may_record(r)) return r.calls >= r.next_recording;
  if (!can_be_recorded(r)) r.state = State::Settled;
  if (r.misses_in_a_row > most_misses_in_a_row) give_up(r, Reason::KeepsMissing);
  return false;
}

void measured(CodeRecord& r, Step step, double microseconds) {
  r.payoff.note(step == Step::MeasurePlain ? Payoff::Sample::Plain : Payoff::Sample::Served, microseconds);
  if (r.payoff.verdict() == Payoff::Verdict::Loses && r.state != State::GivenUp) give_up(r, Reason::DoesNotPay);
}

void broken(CodeRecord& r, const char* what) {
  log().error("capture of {} ({}:{}) met an internal error: {}", r.name, r.file, r.line, what);
  totals().internal_errors++;
  r.state = State::GivenUp;
  r.entries.clear();
  r.why = {Reason::Internal, what, r.file, r.line};
}

}  // namespace terra::capture
