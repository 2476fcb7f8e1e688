// Capture that does not pay is found out, and recordings are bought when they are likely to pay: by times that the test
// gives.
#include "interpreter_hooks/frame_hook/profitability.h"

#include <catch2/catch.hpp>

#include "interpreter_hooks/frame_hook/ledger.h"

#include <array>

using terra::capture::Ledger;
using terra::capture::Profitability;
using Position = Profitability::Position;
using Sample = Profitability::Sample;
using Verdict = Profitability::Verdict;

namespace {

/// Calls a captured function so often, its times given by number of the sample; returns how many calls ran plainly.
template <class Served, class Plain>
int call(Profitability& profitability, long calls, Served served, Plain plain) {
  int of_served = 0, of_plain = 0;
  for (long i = 1; i <= calls; i++) {
    if (!profitability.is_due(i)) continue;
    if (profitability.sample() == Sample::Served) profitability.served(&profitability, served(of_served++), i);
    if (profitability.sample() == Sample::Plain) profitability.compared(plain(of_plain++));
    profitability.sampled(i);
  }
  return of_plain;
}

auto always(double microseconds) {
  return [=](int) { return microseconds; };
}

/// A function that has run plainly `calls` times.
Profitability profiled(int calls, double microseconds, uint64_t operations, double kernels = 0) {
  Profitability profitability;
  for (int i = 0; i < calls; i++) profitability.ran_plainly(microseconds, operations, kernels);
  return profitability;
}

}  // namespace

TEST_CASE("serving that is slower loses, serving that is faster pays", "[profitability]") {
  Profitability slow, fast, even;
  call(slow, 64 * 40, always(24), always(20));
  call(fast, 64 * 40, always(10), always(20));
  call(even, 64 * 40, always(21), always(20));
  CHECK(slow.verdict() == Verdict::Loses);
  CHECK(fast.verdict() == Verdict::Pays);
  CHECK(even.verdict() == Verdict::Pays);
}

TEST_CASE("what takes twice as long loses after a few calls", "[profitability]") {
  Profitability profitability;
  call(profitability, 64 * 4, always(50), always(20));
  CHECK(profitability.verdict() == Verdict::Loses);
}

TEST_CASE("a few calls say nothing else, and comparing ends with the verdict", "[profitability]") {
  Profitability profitability;
  call(profitability, 64 * 8, always(24), always(20));
  CHECK(profitability.verdict() == Verdict::Open);
  Profitability settled;
  CHECK(call(settled, 64 * 1000, always(10), always(20)) == static_cast<int>(Profitability::enough));
}

TEST_CASE("where the gradient comes later only half of the calls is seen", "[profitability]") {
  Profitability pair, slow;
  pair.has_backward();
  slow.has_backward();
  call(pair, 64 * 40, always(26), always(20));
  call(slow, 64 * 40, always(34), always(20));
  CHECK(pair.verdict() == Verdict::Pays);
  CHECK(slow.verdict() == Verdict::Loses);
}

TEST_CASE("what the machine does in between does not decide", "[profitability]") {
  Profitability profitability;
  call(
      profitability, 64 * 40, [](int i) { return i < 2 ? 900.0 : 10.0; }, always(20));
  CHECK(profitability.verdict() == Verdict::Pays);
}

TEST_CASE("misses count: calls that are served fast only now and then lose", "[profitability]") {
  Profitability profitability;
  call(
      profitability, 64 * 40, [](int i) { return i % 2 ? 10.0 : 60.0; }, always(20));
  CHECK(profitability.verdict() == Verdict::Loses);
}

TEST_CASE("calls whose lengths differ by chance neither gain nor lose by that", "[profitability]") {
  constexpr std::array<double, 4> lengths{10, 14, 30, 90};
  const auto by_chance = [&](double factor, int stride) {
    return [=](int i) { return factor * lengths[(i * stride + i / 4) % 4]; };
  };
  Profitability slower, even = profiled(4, 50, 10);
  call(slower, 64 * 40, by_chance(1.3, 1), by_chance(1, 3));
  call(even, 64 * 40, by_chance(1, 1), by_chance(1, 3));
  CHECK(slower.verdict() == Verdict::Loses);
  CHECK(even.verdict() == Verdict::Pays);
  CHECK(even.saving() == 0);
}

TEST_CASE("a verdict is reconsidered where served calls do something else than before", "[profitability]") {
  Profitability profitability;
  call(profitability, 64 * 40, always(10), always(20));
  CHECK(profitability.verdict() == Verdict::Pays);
  call(profitability, 64 * 40, always(30), always(20));
  CHECK(profitability.verdict() == Verdict::Pays);
  profitability.reopen();
  call(profitability, 64 * 40, always(30), always(20));
  CHECK(profitability.verdict() == Verdict::Loses);
}

TEST_CASE("long calls are run plainly in between only when that seems as fast", "[profitability]") {
  Profitability fast = profiled(3, 8000, 10), slow = profiled(3, 4000, 10), unsure = profiled(3, 4900, 10);
  CHECK(call(fast, 64 * 20, always(5000), always(8000)) == 0);
  CHECK(call(slow, 64 * 20, always(5000), always(4000)) == 5);
  CHECK(slow.verdict() == Verdict::Loses);
  CHECK(call(unsure, 64 * 20, always(5000), always(8000)) == 5);
  CHECK(unsure.verdict() == Verdict::Pays);
}

TEST_CASE("calls of different sizes are compared in pairs of one entry", "[profitability]") {
  Profitability profitability;
  for (int i = 0; i < 8; i++) profitability.ran_plainly(i % 2 ? 200 : 6000, 50, 0);
  profitability.recorded(1000);
  int large = 0, small = 0;  // two entries
  CHECK(profitability.served(&large, 5500, 1) == 0);
  CHECK(profitability.served(&large, 5500, 2) == 0);  // longer than a plain call of one kind, shorter than of the other
  CHECK(profitability.served(&large, 7000, 3) == -1000);
  CHECK(profitability.served(&small, 150, 4) == 50);
  CHECK(profitability.awaited() == &small);
  profitability.compared(300);
  CHECK(profitability.awaited() == nullptr);
  profitability.served(&large, 3000, 5);
  profitability.compared(6000);
  CHECK(profitability.served(&large, 3000, 6) == Approx(3000));
  CHECK(profitability.served(&small, 150, 7) == Approx(150));
}

TEST_CASE("what served calls save is brought back, and those between samples count like them", "[profitability]") {
  Profitability profitability = profiled(3, 100, 10);
  profitability.recorded(1000);
  CHECK(profitability.served(&profitability, 400, 1) == Approx(-300));  // touches its memory for the first time
  CHECK(profitability.cost() == Approx(1300));
  CHECK(profitability.price() == Approx(1300));
  for (long i = 2; i <= 4; i++) profitability.served(&profitability, 40, i);
  CHECK(profitability.brought_back() == Approx(180));
  CHECK(profitability.served(&profitability, 40, 14) == Approx(600));
}

TEST_CASE("what large kernels take is no Python that a recording would watch", "[profitability]") {
  const Profitability python = profiled(8, 6000, 50), kernels = profiled(8, 6000, 50, 5700);
  CHECK(python.price() > 50'000);
  CHECK(kernels.price() == Approx(200 + 60 * 50 + 10 * 150));
  CHECK(python.saving() == Approx(50 + 0.05 * 6000));
  CHECK(kernels.saving() == Approx(50 + 0.05 * 300 + 0.01 * 5700));  // they are the same in a graph
}

TEST_CASE("an outermost function has credit where a recording is cheap, others have to earn it", "[profitability]") {
  const Profitability cheap = profiled(3, 50, 10);
  CHECK(cheap.has_credit(Position::Outermost, 4));
  CHECK(!cheap.has_credit(Position::Unsure, 4));
  CHECK(cheap.has_credit(Position::Unsure, 8));
  CHECK(!cheap.has_credit(Position::Inner, 8));
  CHECK(!profiled(60, 50, 10).has_earned_recording());
  CHECK(profiled(100, 50, 10).has_earned_recording());
  CHECK(!profiled(3, 5000, 500).has_credit(Position::Outermost, 4));
  CHECK(!profiled(60, 5000, 500).has_earned_recording());
  CHECK(profiled(100, 5000, 500).has_earned_recording());
}

TEST_CASE("recordings that have not paid for themselves make the next ones dearer", "[profitability]") {
  Profitability profitability = profiled(3, 50, 10);
  int waited[6] = {};
  for (int& calls : waited) {
    profitability.recorded(800);
    CHECK(profitability.has_credit(Position::Outermost, 100) ==
          (&calls < waited + Profitability::cheap_recordings - 1));
    while (!profitability.has_earned_recording()) profitability.ran_plainly(50, 10, 0), calls++;
  }
  CHECK(waited[5] > 3 * waited[3]);
}

TEST_CASE("a function that saves nothing is not recorded again", "[profitability]") {
  Profitability profitability = profiled(3, 50, 10);
  profitability.recorded(3000);
  for (long i = 1; i <= 4; i++) profitability.served(&profitability, 60, i);
  for (int i = 0; i < 10000; i++) profitability.ran_plainly(50, 10, 0);
  CHECK(!profitability.has_earned_recording());
}

TEST_CASE("searches in vain add up, also those that nobody has timed", "[profitability]") {
  Profitability profitability = profiled(4, 50, 10);
  profitability.recorded(1000);
  CHECK(profitability.searched(20) == Approx(20));
  CHECK(profitability.searched(-1) == Approx(20));
  CHECK(profitability.cost() == Approx(1040));
  CHECK(!profitability.is_a_loss());
  for (int i = 0; i < 200; i++) profitability.searched(-1);
  CHECK(profitability.is_a_loss());
  for (int i = 0; i < 1000; i++) profitability.ran_plainly(50, 10, 0);
  CHECK(!profitability.is_a_loss());
}

TEST_CASE("served calls make up for searches in vain by what they save", "[profitability]") {
  const auto after_turns = [](Profitability profitability, long hits_of_turn) {
    double in_vain = 0;
    for (long turn = 1; turn <= 50; turn++) in_vain = profitability.searches_in_vain(turn * hits_of_turn);
    return in_vain;
  };
  CHECK(after_turns(profiled(16, 100, 40), 1) == 1);
  CHECK(after_turns(profiled(16, 100, 40), 0) == 50);
  CHECK(after_turns(profiled(16, 2, 1), 1) > 30);
  CHECK(after_turns(profiled(16, 2, 1), 20) == 1);
}

TEST_CASE("a phase without hits is forgotten after one with many", "[profitability]") {
  Profitability profitability = profiled(16, 100, 40);
  for (int i = 0; i < 10000; i++) profitability.searches_in_vain(0);
  CHECK(profitability.searches_in_vain(0) == Profitability::most_in_vain);
  CHECK(profitability.searches_in_vain(100) == 1);
}

TEST_CASE("sizes that come back are built for", "[profitability]") {
  Profitability profitability = profiled(16, 1000, 100);
  profitability.recorded(9000);
  for (long i = 1; i <= 4; i++) profitability.served(&profitability, 400, i);
  CHECK(!profitability.is_worth_building(9000, 14));
  CHECK(profitability.is_worth_building(9000, 16));
}

TEST_CASE("the process may lose its grace and a share of its time, and spend part of what came back", "[ledger]") {
  constexpr double begin = Ledger::grace / Ledger::early_share;  // where the grace is granted whole
  constexpr double room = Ledger::grace + Ledger::share * begin;
  Ledger ledger;
  CHECK(!ledger.affords(1000, 0));
  CHECK(!ledger.affords(Ledger::grace, begin / 4));
  CHECK(ledger.affords(room, begin));
  ledger.spend(room);
  CHECK(!ledger.affords(1000, begin));
  CHECK(ledger.affords(1000, begin + 1001 / Ledger::share));
  ledger.bring_back(2001 / Ledger::trust);
  CHECK(ledger.affords(2000, begin));
  ledger.bring_back(-1500);
  CHECK(!ledger.affords(1000, begin));
  CHECK(ledger.worked() == Approx(room));
  CHECK(ledger.spent() == Approx(room + 1500));
}

TEST_CASE("recordings on credit take a small part of that", "[ledger]") {
  Ledger ledger;
  CHECK(!ledger.lends(Ledger::credit + 1, 0));
  CHECK(ledger.lends(Ledger::credit, 0));
  CHECK(!ledger.lends(1000, 999 / Ledger::credit_share));
  CHECK(ledger.lends(1000, 1001 / Ledger::credit_share));
}
