// Which way a loop runs, from times that are made up.
#include <catch2/catch.hpp>

#include "graph/coexec/runner_choice.h"

using terra::coexec::RunnerChoice;
using Way = RunnerChoice::Way;

namespace {

/// How many of the iterations ran beside.
int run(RunnerChoice& choice, int iterations, double inline_us, double beside_us) {
  int beside = 0;
  for (int i = 0; i < iterations; i++) {
    const bool is_beside = choice.way() == Way::Beside;
    beside += is_beside;
    choice.ended(is_beside ? beside_us : inline_us);
  }
  return beside;
}

}  // namespace

TEST_CASE("the faster way runs", "[runner_choice]") {
  RunnerChoice faster_beside, faster_inline;
  run(faster_beside, 100, 200, 120);
  run(faster_inline, 100, 200, 201);
  CHECK(run(faster_beside, 100, 200, 120) == 100);
  CHECK(run(faster_inline, 100, 200, 201) == 0);
}

TEST_CASE("a change is noticed", "[runner_choice]") {
  RunnerChoice choice;
  run(choice, 100, 200, 120);
  run(choice, 2000, 200, 300);  // the other core is busy now
  CHECK(run(choice, 100, 200, 300) == 0);
}

TEST_CASE("one slow iteration decides nothing", "[runner_choice]") {
  RunnerChoice choice;
  for (int i = 0; i < 100; i++) choice.ended(i % 9 == 8 ? 100'000 : choice.way() == Way::Beside ? 90 : 100);
  CHECK(choice.way() == Way::Beside);
}

TEST_CASE("trials become rare", "[runner_choice]") {
  RunnerChoice choice;
  CHECK(run(choice, 200'000, 100, 200) < 400);
}
