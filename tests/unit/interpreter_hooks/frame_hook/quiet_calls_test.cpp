// When calls of a function that was given up run without the hook.
#include "interpreter_hooks/frame_hook/idle_unhook.h"

#include <catch2/catch.hpp>

namespace terra::capture {
namespace {

/// How many of the next calls run without the hook, when those with it are so.
int unhooked(QuietCalls& calls, int of, bool quiet) {
  int count = 0;
  for (int i = 0; i < of; ++i) {
    const bool out = calls.next_runs_unhooked();
    count += out;
    if (!out) calls.looked_at(quiet);
  }
  return count;
}

TEST_CASE("Calls run without the hook when some in a row were quiet, but for one now and then") {
  QuietCalls calls;
  REQUIRE(unhooked(calls, QuietCalls::enough, true) == 0);
  constexpr int rounds = 10;
  REQUIRE(unhooked(calls, rounds * QuietCalls::look_at_each, true) == rounds * (QuietCalls::look_at_each - 1));
}

TEST_CASE("One call that had something for capture brings the hook back") {
  QuietCalls calls;
  unhooked(calls, 100, true);
  calls.looked_at(false);
  REQUIRE(unhooked(calls, QuietCalls::enough, true) == 0);
  REQUIRE(unhooked(calls, 1, true) == 1);
}

TEST_CASE("The hook stays where calls now and then have something for capture") {
  QuietCalls calls;
  for (int i = 0; i < 100; ++i) {
    REQUIRE(unhooked(calls, QuietCalls::enough - 1, true) == 0);
    REQUIRE(unhooked(calls, 1, false) == 0);
  }
}

}  // namespace
}  // namespace terra::capture
