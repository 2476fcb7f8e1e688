// Capture that does not pay is found out, by times that the test gives.
#include "interpreter_hooks/frame_hook/payoff.h"

#include <catch2/catch.hpp>

using terra::capture::Payoff;

namespace {

/// Calls a function so often, its times given by number of the sample; returns how many calls ran plainly.
template <class Served, class Plain>
int call(Payoff& payoff, long calls, Served served, Plain plain) {
  int of_served = 0, of_plain = 0;
  for (long i = 1; i <= calls; i++) {
    const Payoff::Sample sample = payoff.due(i);
    if (sample == Payoff::Sample::Served) payoff.note(sample, served(of_served++));
    if (sample == Payoff::Sample::Plain) payoff.note(sample, plain(of_plain++));
  }
  return of_plain;
}

auto always(double microseconds) {
  return [=](int) { return microseconds; };
}

}  // namespace

TEST_CASE("serving that is slower loses, serving that is faster pays", "[payoff]") {
  Payoff slow, fast, even;
  call(slow, 64 * 20, always(30), always(20));
  call(fast, 64 * 20, always(10), always(20));
  call(even, 64 * 20, always(21), always(20));
  CHECK(slow.verdict() == Payoff::Verdict::Loses);
  CHECK(fast.verdict() == Payoff::Verdict::Pays);
  CHECK(even.verdict() == Payoff::Verdict::Pays);
}

TEST_CASE("a few calls say nothing, and sampling ends with the verdict", "[payoff]") {
  Payoff payoff;
  CHECK(call(payoff, 61, always(30), always(20)) == 0);
  call(payoff, 64 * 15, always(30), always(20));
  CHECK(payoff.verdict() == Payoff::Verdict::Open);
  Payoff settled;
  CHECK(call(settled, 64 * 1000, always(10), always(20)) == static_cast<int>(Payoff::wanted));
}

TEST_CASE("what the machine does in between does not decide", "[payoff]") {
  Payoff payoff;
  call(
      payoff, 64 * 20, [](int i) { return i < 2 ? 900.0 : 10.0; }, always(20));
  CHECK(payoff.verdict() == Payoff::Verdict::Pays);
}

TEST_CASE("misses count: calls that are served fast only now and then lose", "[payoff]") {
  Payoff payoff;
  call(
      payoff, 64 * 20, [](int i) { return i % 2 ? 10.0 : 60.0; }, always(20));
  CHECK(payoff.verdict() == Payoff::Verdict::Loses);
}

TEST_CASE("long calls are not run plainly in between", "[payoff]") {
  Payoff payoff;
  CHECK(call(payoff, 64 * 20, always(5000), always(4000)) == 0);
  CHECK(payoff.verdict() == Payoff::Verdict::Pays);
}
