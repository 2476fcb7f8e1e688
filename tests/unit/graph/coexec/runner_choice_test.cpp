// Which way a loop runs, from times that are made up.
#include <catch2/catch.hpp>

#include <utility>

#include "graph/coexec/runner_choice.h"

using terra::coexec::RunnerChoice;
using Way = RunnerChoice::Way;

namespace {

constexpr int kFirstTrial = 130;  ///< iterations up to its end

struct Times {
  double in_line, beside, frames;
};

/// How many of the iterations ran that way.
int run(RunnerChoice& choice, int iterations, Times us, Way counted) {
  int count = 0;
  for (int i = 0; i < iterations; i++) {
    const Way way = choice.way();
    count += way == counted;
    choice.ended(way == Way::Inline ? us.in_line : way == Way::Beside ? us.beside : us.frames);
  }
  return count;
}

}  // namespace

TEST_CASE("the fastest way runs", "[runner_choice]") {
  const std::pair<Way, Times> cases[] = {
      {Way::Beside, {200, 120, 150}}, {Way::Inline, {200, 201, 202}}, {Way::Frames, {200, 120, 119}}};
  for (const auto& [fastest, times] : cases) {
    RunnerChoice choice;
    CHECK(choice.way() == Way::Frames);
    run(choice, kFirstTrial, times, fastest);
    CHECK(choice.is_settled());
    CHECK(choice.last_outcome() == fastest);
    CHECK(run(choice, 100, times, fastest) == 100);
  }
}

TEST_CASE("long iterations are tried less often", "[runner_choice]") {
  RunnerChoice choice;
  run(choice, 60, {200e3, 120e3, 150e3}, Way::Beside);
  CHECK(choice.is_settled());
  CHECK(choice.way() == Way::Beside);
}

TEST_CASE("a change is noticed", "[runner_choice]") {
  RunnerChoice choice;
  run(choice, kFirstTrial, {200, 120, 200}, Way::Beside);
  run(choice, 2000, {200, 300, 210}, Way::Beside);  // the other core is busy now
  CHECK(run(choice, 100, {200, 300, 210}, Way::Inline) == 100);
}

TEST_CASE("iterations that nobody saw count as well", "[runner_choice]") {
  RunnerChoice choice;
  run(choice, kFirstTrial, {200, 200, 100}, Way::Frames);
  const uint64_t held = choice.holds();
  choice.expired();
  CHECK(!choice.is_settled());
  CHECK(choice.holds() == 2 * held);
  run(choice, kFirstTrial, {50, 200, 100}, Way::Inline);
  CHECK(run(choice, 100, {50, 200, 100}, Way::Inline) == 100);
}

TEST_CASE("ways that have plainly lost have no second block", "[runner_choice]") {
  RunnerChoice all, one;
  CHECK(run(all, kFirstTrial, {110, 100, 105}, Way::Inline) > run(one, kFirstTrial, {300, 100, 105}, Way::Inline));
}

TEST_CASE("beside the program may be fast where inline is slow", "[runner_choice]") {
  RunnerChoice choice;
  run(choice, kFirstTrial, {550, 140, 180}, Way::Beside);
  CHECK(choice.last_outcome() == Way::Beside);
}

TEST_CASE("a trial that was dear is not soon repeated", "[runner_choice]") {
  RunnerChoice choice;
  int others = 0;
  const int before = run(choice, 60, {100e3, 200, 100}, Way::Inline);  // a graph is made each time
  others = run(choice, 20'000, {100e3, 200, 100}, Way::Inline);
  CHECK(before > 8);
  CHECK(others == 0);
}

TEST_CASE("one slow iteration decides nothing", "[runner_choice]") {
  RunnerChoice choice;
  for (int i = 0; i < kFirstTrial; i++) choice.ended(i % 9 == 8 ? 100'000 : choice.way() == Way::Beside ? 90 : 100);
  CHECK(choice.way() == Way::Beside);
}

TEST_CASE("trials become rare", "[runner_choice]") {
  RunnerChoice choice;
  CHECK(run(choice, 200'000, {100, 200, 300}, Way::Inline) > 200'000 - 1500);
}
