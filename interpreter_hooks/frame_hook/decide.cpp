// cold -> hot -> captured -> (miss: other entry, or relax and record again) -> settled / given up
#include "interpreter_hooks/frame_hook/decide.h"

#include "interpreter_hooks/frame_hook/mode.h"

#include <algorithm>

namespace terra::capture {

namespace {

bool may_record(const CodeRecord& r) {
  return r.recordings < most_recordings && r.entries.size() < most_entries && !settings().frozen;
}

void give_up(CodeRecord& r, Reason reason) {
  r.state = State::GivenUp;
  if (reason != Reason::None) r.why = {reason, r.last_miss, r.file, r.line};
  r.entries.clear();
}

/// No tensor work is worth no entry; only stress mode captures it all the same.
bool is_final(Reason reason) { return reason == Reason::NotEligible || reason == Reason::TooLong; }

}  // namespace

Step decide(CodeRecord& r) {
  r.calls++;
  switch (r.state) {
    case State::Cold:
      if (settings().frozen || r.calls <= (settings().mode == Mode::Stress ? 1 : profile_runs)) return Step::Run;
      if (!r.tensor_work && settings().mode != Mode::Stress) return Step::Run;
      r.state = State::Hot;
      [[fallthrough]];
    case State::Hot: return r.calls >= r.next_recording ? Step::Record : Step::Run;
    case State::Captured:
    case State::Settled: return Step::Serve;
    case State::GivenUp: break;
  }
  return Step::Run;
}

void recorded(CodeRecord& r, std::shared_ptr<Entry> entry, const Stop& why, bool again) {
  r.recordings++;
  if (entry) {
    r.failures = 0;
    r.entries.insert(r.entries.begin(), std::move(entry));
    r.state = may_record(r) ? State::Captured : State::Settled;
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

bool missed(CodeRecord& r) {
  r.misses++;
  r.misses_in_a_row++;
  if (may_record(r) && r.state == State::Captured) return r.calls >= r.next_recording;
  r.state = State::Settled;
  if (r.misses_in_a_row > 100) give_up(r, Reason::KeepsMissing);
  return false;
}

void hit(CodeRecord& r, size_t index) {
  r.hits++;
  r.misses_in_a_row = 0;
  if (index > 0) std::rotate(r.entries.begin(), r.entries.begin() + index, r.entries.begin() + index + 1);
}

}  // namespace terra::capture
