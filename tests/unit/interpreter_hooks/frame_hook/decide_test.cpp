// The ladder of a code object: cold, hot, captured, settled, given up.
#include "tests/unit/interpreter_hooks/support.h"

#include "interpreter_hooks/frame_hook/decide.h"
#include "interpreter_hooks/frame_hook/hook.h"
#include "interpreter_hooks/frame_hook/mode.h"

#include <set>

using namespace terra::capture;

namespace {

/// Settings for a test, put back after it.
struct With {
  explicit With(Mode mode) : before(settings()) {
    settings() = Settings();
    settings().mode = mode;
    settings().thrifty = false;
  }
  ~With() { settings() = before; }
  const Settings before;
};

std::shared_ptr<Entry> entry() { return std::make_shared<Entry>(); }
const Stop opaque{Reason::UnmodelledCall, "f", "file", 1};

/// Calls until one is to be recorded; 0: none of the first thousand.
int calls_to_recording(CodeRecord& record) {
  for (int call = 1; call <= 1000; call++)
    if (decide(record) == Step::Record) return call;
  return 0;
}

}  // namespace

TEST_CASE("a function that does tensor work is recorded after its profile, another one never", "[decide]") {
  Names names;
  const With with(Mode::Auto);
  CodeRecord works, idle;
  works.tensor_work = true;
  CHECK(calls_to_recording(works) == profile_runs + 1);
  CHECK(calls_to_recording(idle) == 0);
  CHECK(idle.state == State::Cold);
  CHECK(idle.unseen > 0);
}

TEST_CASE("stress records everything at the second call", "[decide]") {
  Names names;
  const With with(Mode::Stress);
  CodeRecord record;
  CHECK(calls_to_recording(record) == 2);
}

TEST_CASE("frozen, nothing is recorded", "[decide]") {
  Names names;
  const With with(Mode::Auto);
  settings().frozen = true;
  CodeRecord record;
  record.tensor_work = true;
  CHECK(calls_to_recording(record) == 0);
}

TEST_CASE("an entry makes the function captured, and calls are served", "[decide]") {
  Names names;
  const With with(Mode::Verify);  // measures nothing
  CodeRecord record;
  record.tensor_work = true;
  REQUIRE(calls_to_recording(record));
  recorded(record, entry(), {}, false);
  CHECK(record.state == State::Captured);
  CHECK(record.entries.size() == 1);
  for (int i = 0; i < 200; i++) CHECK(decide(record) == Step::Serve);
}

TEST_CASE("recordings that fail are made again at calls of each kind", "[decide]") {
  for (long turns : {2, 3}) {
    std::set<long> kinds = {0};
    long calls = 0;
    for (long more : calls_behind_failures) kinds.insert((calls += more) % turns);
    CHECK(kinds.size() == static_cast<size_t>(turns));
  }
}

TEST_CASE("recordings that fail come ever more rarely, and three in a row are enough", "[decide]") {
  Names names;
  const With with(Mode::Auto);
  CodeRecord record;
  record.tensor_work = true;
  int last_wait = 0;
  for (int failure = 1; failure <= most_failures; failure++) {
    const int wait = calls_to_recording(record);
    REQUIRE(wait > 0);
    if (failure > 1) CHECK(wait > last_wait);
    last_wait = failure > 1 ? wait : 0;
    recorded(record, nullptr, opaque, false);
  }
  CHECK(record.state == State::GivenUp);
  CHECK(record.why.reason == Reason::UnmodelledCall);
  CHECK(record.unseen == all_calls);
  CHECK(decide(record) == Step::Run);
}

TEST_CASE("a relaxed fact is worth another recording at once", "[decide]") {
  Names names;
  const With with(Mode::Auto);
  CodeRecord record;
  record.tensor_work = true;
  REQUIRE(calls_to_recording(record));
  recorded(record, nullptr, opaque, true);
  CHECK(record.state == State::Hot);
  CHECK(decide(record) == Step::Record);
  CHECK(record.failures == 0);
}

TEST_CASE("misses are recorded until recordings have to be earned by hits", "[decide]") {
  Names names;
  const With with(Mode::Auto);
  CodeRecord record;
  record.tensor_work = true;
  REQUIRE(calls_to_recording(record));
  recorded(record, entry(), {}, false);
  int more = 0;
  while (missed(record) && more < 1000) {
    recorded(record, entry(), {}, false);
    record.entries.clear();
    more++;
  }
  CHECK(more == 23);
  for (int i = 0; i < 8; i++) hit(record);
  CHECK(missed(record));
}

TEST_CASE("a function that only misses is left alone", "[decide]") {
  Names names;
  const With with(Mode::Auto);
  CodeRecord record;
  record.tensor_work = true;
  REQUIRE(calls_to_recording(record));
  recorded(record, entry(), {}, false);
  record.recordings = 1000;
  int misses = 0;
  while (record.state != State::GivenUp && misses < 1000) missed(record), misses++;
  CHECK(misses == 101);
  CHECK(record.why.reason == Reason::KeepsMissing);
  CHECK(record.entries.empty());
}

TEST_CASE("an error of the engine's own ends capture of that function", "[decide]") {
  Names names;
  const With with(Mode::Auto);
  CodeRecord record;
  recorded(record, entry(), {}, false);
  const long before = totals().internal_errors;
  broken(record, "test");
  CHECK(record.state == State::GivenUp);
  CHECK(record.entries.empty());
  CHECK(record.why.reason == Reason::Internal);
  CHECK(totals().internal_errors == before + 1);
}

TEST_CASE("cuts are aimed at a few times in a row, each place once", "[decide]") {
  CodeRecord record;
  CutPoint point;
  CHECK_FALSE(aim(record, point));
  int aimed = 0;
  for (int i = 1; i < 100; i++) {
    point.offset = i;
    aimed += aim(record, point);
  }
  CHECK(aimed == most_aims);
  CHECK(record.cuts.size() == static_cast<size_t>(most_aims));
}
