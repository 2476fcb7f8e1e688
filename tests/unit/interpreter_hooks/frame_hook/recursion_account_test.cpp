// When capturing a function that calls itself is found to pay.
#include "interpreter_hooks/frame_hook/recursion_account.h"

#include <catch2/catch.hpp>

namespace terra::capture {
namespace {

using Sample = RecursionAccount::Sample;

/// Calls from outside until so many samples have been taken, which take so many microseconds for each operation.
void sample(RecursionAccount& account, size_t samples, double captured, double plain) {
  for (size_t taken = 0; taken < samples;) {
    const Sample s = account.next();
    if (s == Sample::None) continue;
    account.add(s, 100 * (s == Sample::Plain ? plain : captured), 100);
    ++taken;
  }
}

TEST_CASE("The first calls of a recursive function are no samples, the next ones take turns") {
  RecursionAccount account;
  for (long i = 1; i < RecursionAccount::first; ++i) REQUIRE(account.next() == Sample::None);
  REQUIRE(account.next() == Sample::Captured);
  account.add(Sample::Captured, 1, RecursionAccount::least_operations);
  REQUIRE(account.next() == Sample::Plain);
  account.add(Sample::Plain, 1, 0);  // no operation, nothing to learn
  REQUIRE(account.next() == Sample::Plain);
}

TEST_CASE("Calls of few operations are not compared with calls of many") {
  RecursionAccount account;
  const auto takes = [](Sample sample, int operations) {  // captured less by itself, and more for each operation
    return sample == Sample::Plain ? 10 + 1.5 * operations : 5 + 2.0 * operations;
  };
  for (int i = 0; i < 10000 && !account.loses(); ++i) {
    const int operations = i / 8 % 2 ? 700 : 1;
    const Sample sample = account.next();
    if (sample != Sample::None) account.add(sample, takes(sample, operations), operations);
  }
  REQUIRE(account.loses());
}

TEST_CASE("Few plain calls are made to compare where all of them took more than any captured one") {
  RecursionAccount clear, close;
  sample(clear, 2 * RecursionAccount::few, 1, 2);
  REQUIRE(clear.next() == Sample::None);
  REQUIRE(!clear.loses());
  sample(close, 2 * RecursionAccount::few, 2, 2);
  REQUIRE(close.next() != Sample::None);
}

TEST_CASE("Captured and plain calls that are far apart are compared again much later") {
  const auto calls_until_the_next_sample = [](double plain) {
    RecursionAccount account;
    sample(account, 2 * RecursionAccount::few, 1, plain);
    long calls = 1;
    while (account.next() == Sample::None) ++calls;
    return calls;
  };
  REQUIRE(calls_until_the_next_sample(3) > 4 * calls_until_the_next_sample(1.5));
}

TEST_CASE("Calls for which graphs are built are left out, as long as there are others to come") {
  RecursionAccount account;
  const auto pairs = [&](size_t count, double captured, bool built) {
    for (size_t i = 0; i < count;) {
      const Sample next = account.next();
      if (next == Sample::None) continue;
      const bool is_captured = next == Sample::Captured;
      account.add(next, is_captured ? captured : 2, RecursionAccount::least_operations, is_captured && built);
      i += is_captured;
    }
  };
  pairs(RecursionAccount::most_left_out, 3, true);
  REQUIRE(!account.loses());
  pairs(RecursionAccount::enough + 1, 3, true);
  REQUIRE(account.loses());
}

TEST_CASE("A recursive function loses when its calls take more for each operation than plain ones") {
  RecursionAccount pays, loses;
  sample(pays, 2 * RecursionAccount::enough, 1, 2);
  sample(loses, 2 * RecursionAccount::enough, 2, 1);
  REQUIRE(!pays.loses());
  REQUIRE(loses.loses());
  REQUIRE(pays.next() == Sample::None);
  sample(pays, 2 * RecursionAccount::enough, 3, 2);  // much later it may have changed
  REQUIRE(pays.loses());
}

}  // namespace
}  // namespace terra::capture
