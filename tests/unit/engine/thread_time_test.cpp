#include "engine/eager/thread_time.h"

#include <catch2/catch.hpp>

using namespace terra;

namespace {

/// A thread whose clocks are set by hand, in microseconds.
struct Thread {
  ThreadClock clock;
  double wall = 0, processor = 0;
  int readings = 0;

  double time() {
    return clock.at(wall, [this] {
      readings++;
      return processor;
    });
  }
  void runs(double microseconds) { wall += microseconds, processor += microseconds; }
  void waits(double microseconds) { wall += microseconds; }
};

}  // namespace

TEST_CASE("a reading of the thread's clock stands for a while", "[thread_time]") {
  Thread thread;
  thread.runs(1000);
  const double begin = thread.time();
  for (int i = 0; i < 10; i++) {
    thread.runs(4);
    CHECK(thread.time() == begin + 4 * (i + 1));
  }
  CHECK(thread.readings == 1);
  thread.runs(ThreadClock::holds);
  CHECK(thread.time() == thread.processor);
  CHECK(thread.readings == 2);
}

TEST_CASE("a wait counts as long as a reading stands at the most, and not for good", "[thread_time]") {
  Thread thread;
  thread.runs(1000);
  const double begin = thread.time();
  thread.waits(1e6);
  CHECK(thread.time() == begin);
  thread.waits(ThreadClock::holds);
  const double told = thread.time();
  CHECK(told - begin <= ThreadClock::holds);
  thread.waits(1e6);
  CHECK(thread.time() == told);
  thread.runs(10 * ThreadClock::holds);
  CHECK(thread.time() == thread.processor);
}

TEST_CASE("time never runs backwards, but begins anew in a child process", "[thread_time]") {
  Thread thread;
  double before = 0;
  for (int i = 0; i < 1000; i++) {
    if (i % 3) thread.runs(i % 70);
    if (i % 5 == 0) thread.waits(i % 90);
    const double now = thread.time();
    CHECK(now >= before);
    before = now;
  }
  thread.processor = 5;
  thread.wall += 1000;
  CHECK(thread.time() == 5);
}
