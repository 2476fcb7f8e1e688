// When replays are compared with plain execution, and what that may cost; times are given.
#include "interpreter_hooks/entry/checks.h"

#include <catch2/catch.hpp>

#include <vector>

using namespace terra::capture;

namespace {

/// The numbers of the replays that are checked, of the first `count`, all by one way.
std::vector<long> checked(Checks& checks, Way way, long count) {
  std::vector<long> numbers;
  for (long replays = 0; replays < count; replays++) {
    if (!checks.due(way, replays)) continue;
    checks.skip(way, replays);
    checks.passed(way, replays);
    numbers.push_back(replays + 1);
  }
  return numbers;
}

}  // namespace

TEST_CASE("the first replay is checked, one soon after it, and then ever fewer", "[checks]") {
  Checks checks;
  CHECK(checked(checks, Way::Short, 20000) == std::vector<long>{1, 4, 32, 256, 2048, 16384});
}

TEST_CASE("each way is checked when it comes to be used", "[checks]") {
  Checks checks;
  CHECK(checked(checks, Way::Whole, 1) == std::vector<long>{1});
  for (long replays = 1; replays < 100; replays++) CHECK(checks.due(Way::Direct, replays));
  checks.passed(Way::Direct, 100);
  CHECK(!checks.due(Way::Direct, 102));
  CHECK(checks.due(Way::Direct, 103));
  CHECK(checks.due(Way::Merged, 103));
}

TEST_CASE("what can't be checked now is looked at again, and what never can is left alone", "[checks]") {
  Checks checks;
  checks.put_off(Way::Short, 0);
  CHECK(!checks.due(Way::Short, 0));
  CHECK(checks.due(Way::Short, 1));
  checks.put_off(Way::Short, 10);
  CHECK(!checks.due(Way::Short, 19));
  CHECK(checks.due(Way::Short, 20));
  checks.put_off(Way::Short, 100000);
  CHECK(checks.due(Way::Short, 100064));
  checks.never();
  for (const Way way : {Way::Whole, Way::Short, Way::Direct, Way::Merged}) CHECK(!checks.due(way, 1L << 40));
}

TEST_CASE("values that differ are looked at in replays in a row before they are a verdict", "[checks]") {
  Checks checks;
  CHECK(!checks.is_delicate());
  for (int look = 1; look < Checks::looks; look++) {
    CHECK(!checks.doubt(Way::Short));
    CHECK(checks.in_doubt(Way::Short));
    CHECK(!checks.in_doubt(Way::Direct));
    CHECK(checks.due(Way::Short, 5 + look));
  }
  CHECK(checks.doubt(Way::Short));

  Checks settled;
  for (int again = 0; again < 10; again++) {
    CHECK(!settled.doubt(Way::Short));
    settled.passed(Way::Short, 5);
    CHECK(!settled.in_doubt(Way::Short));
  }
  CHECK(settled.is_delicate());
}

TEST_CASE("the run after one that was released is checked in its place", "[checks]") {
  Checks checks;
  for (const Way way : {Way::Whole, Way::Short, Way::Direct}) {
    checks.passed(way, 0);
    checks.passed(way, 3);
  }
  CHECK(!checks.due(Way::Short, 10));
  checks.released(10);
  CHECK(checks.due(Way::Short, 10));
  checks.passed(Way::Short, 10);
  checks.released(11);  // only the first of them
  CHECK(!checks.due(Way::Short, 12));
}

TEST_CASE("a check costs what the one before cost, and the first one what is known of the frame", "[checks]") {
  Checks checks;
  checks.plain_seconds = 0.01;
  CHECK(checks.cost(0) >= 0.03);
  CHECK(checks.cost(100 << 20) >= checks.cost(0) + 0.1);
  checks.took(0.002);
  CHECK(checks.cost(100 << 20) == 0.002);
}

TEST_CASE("checks take a fiftieth of the program's time, and of its first twentieth of a second at once", "[checks]") {
  CheckAccount account;
  CHECK(account.affords(0.0008, 0.001));
  CHECK(!account.affords(0.0012, 0.001));
  account.spend(0.0008);
  CHECK(!account.affords(0.0005, 0.05));
  CHECK(account.affords(0.0005, 0.08));
  CHECK(account.checks() == 1);
}

TEST_CASE("whatever the checks cost, their share stays below a fiftieth", "[checks]") {
  for (const double cost : {1e-4, 3e-3, 0.1, 0.7}) {
    CheckAccount account;
    for (double elapsed = 0; elapsed < 60; elapsed += 0.01)
      if (account.affords(cost, elapsed)) account.spend(cost);
    CHECK(account.spent() <= 0.02 * 60);
    CHECK(account.spent() >= 0.3);
  }
}

TEST_CASE("a check holds what fits below the program's peak, and a little more", "[checks]") {
  constexpr size_t mb = size_t{1} << 20;
  CheckMemory memory;
  CHECK(memory.room(90 * mb, 100 * mb) == 18 * mb);
  CHECK(memory.room(100 * mb, 100 * mb) == CheckMemory::allowance);
  CHECK(memory.room(3200 * mb, 3200 * mb) == 3200 * mb / CheckMemory::allowed_part);
  CHECK(memory.room(64000 * mb, 64000 * mb) == CheckMemory::most);
  CHECK(memory.room(0, 0) == CheckMemory::allowance);
  CHECK(memory.room(10 * mb, 1000 * mb) == CheckMemory::most);
}

TEST_CASE("a peak that a check made is not the program's", "[checks]") {
  constexpr size_t mb = size_t{1} << 20;
  CheckMemory memory;
  memory.made(100 * mb, 108 * mb);
  CHECK(memory.room(108 * mb, 108 * mb) == 0);
  CHECK(memory.room(100 * mb, 108 * mb) == CheckMemory::allowance);
  memory.made(108 * mb, 109 * mb);  // a second one adds nothing to what is allowed
  CHECK(memory.room(100 * mb, 109 * mb) == CheckMemory::allowance);
  CHECK(memory.room(100 * mb, 120 * mb) == 28 * mb);  // the program went further by itself
}
