// From the places where ops are called to loops, rounds and iterations.
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "graph/coexec/iterations.h"

using namespace terra::coexec;

namespace {

/// A frame at an op: f(at, loops...) of one function.
struct At {
  uint64_t code;
  int32_t instruction;
  std::vector<LoopId> loops = {};
  uint64_t activation = 0;
};

class Program {
 public:
  /// "3.1" is the second round of loop 3.
  std::string op(const std::vector<At>& frames) {
    std::vector<FramePoint> chain;
    for (const At& at : frames) chain.push_back({at.code, at.activation, at.instruction, at.loops});
    const auto loops = stack_.arrive(chain);
    begins = iterations.arrive(loops);
    std::string text;
    for (const LoopRound& loop : loops)
      text += (text.empty() ? "" : " ") + std::to_string(loop.loop) + "." + std::to_string(loop.round);
    last.assign(loops.begin(), loops.end());
    return text;
  }

  Iterations iterations;
  bool begins = false;
  std::vector<LoopRound> last;

 private:
  LoopStack stack_;
};

}  // namespace

TEST_CASE("rounds end where the program moves back", "[loop stack]") {
  Program p;
  CHECK(p.op({{1, 10}}) == "");
  CHECK(p.op({{1, 20, {3}}}) == "3.0");
  CHECK(p.op({{1, 30, {3}}}) == "3.0");
  CHECK(p.op({{1, 20, {3}}}) == "3.1");
  CHECK(p.op({{1, 20, {3}}}) == "3.2");  // the same op again
  CHECK(p.op({{1, 50}}) == "");
}

TEST_CASE("a loop that is entered again is another run of it", "[loop stack]") {
  Program p;
  CHECK(p.op({{1, 20, {1, 2}}}) == "1.0 2.0");
  CHECK(p.op({{1, 20, {1, 2}}}) == "1.0 2.1");
  const LoopRound inner = p.last[1];
  CHECK(p.op({{1, 10, {1}}}) == "1.1");
  CHECK(p.op({{1, 20, {1, 2}}}) == "1.1 2.0");
  CHECK_FALSE(p.last[1].same_run(inner));
}

TEST_CASE("loops of callers are around the ops of callees", "[loop stack]") {
  Program p;
  CHECK(p.op({{1, 20, {1}, 7}, {2, 5}}) == "1.0");
  CHECK(p.op({{1, 20, {1}, 7}, {2, 6, {4}}}) == "1.0 4.0");
  CHECK(p.op({{1, 20, {1}, 7}, {2, 6, {4}}}) == "1.0 4.1");
  CHECK(p.op({{1, 30, {1}, 7}}) == "1.0");
  CHECK(p.op({{1, 20, {1}, 7}, {2, 5}}) == "1.1");
}

TEST_CASE("a function that is called again from one place is in the next round", "[loop stack]") {
  Program p;
  CHECK(p.op({{1, 20, {1}, 7}, {2, 5, {}, 8}}) == "1.0");
  CHECK(p.op({{1, 20, {1}, 7}, {2, 9, {}, 9}}) == "1.1");  // further down, but another activation
  CHECK(p.op({{1, 20, {1}, 7}, {3, 1, {}, 9}}) == "1.1");  // other functions that one instruction calls
}

TEST_CASE("a function that is called again may have the frame of the call before", "[loop stack]") {
  Program p;
  CHECK(p.op({{1, 20, {3}}, {2, 5}}) == "3.0");
  CHECK(p.op({{1, 20, {3}}, {2, 30, {4}}}) == "3.0 4.0");
  CHECK(p.op({{1, 20, {3}}, {2, 30, {4}}}) == "3.0 4.1");
  CHECK(p.op({{1, 20, {3}}, {2, 50}, {6, 1}}) == "3.0");
  CHECK(p.op({{1, 20, {3}}, {2, 5}}) == "3.1");
  CHECK(p.op({{1, 20, {3}}, {2, 30, {4}}}) == "3.1 4.0");
  CHECK(p.op({{1, 20, {3}}, {2, 5}}) == "3.2");
}

TEST_CASE("call sites make paths", "[location]") {
  CallPaths paths;
  const std::vector<FramePoint> by_one = {{1, 0, 10, {}}, {2, 0, 5, {}}}, by_other = {{1, 0, 12, {}}, {2, 0, 5, {}}};
  std::vector<FramePoint> again = by_one;
  again[1].activation = 77;
  CHECK(paths.number(by_one) != paths.number(by_other));
  CHECK(paths.number(by_one) == paths.number(again));
  CHECK(paths.number({}) == 0);
}

TEST_CASE("rounds that write the same state are iterations", "[iterations]") {
  Program p;
  constexpr uint64_t weight = 100, bias = 101;
  std::vector<bool> begins;
  // for batch in batches: forward; for p in parameters: p.add_(...)
  for (int i = 0; i < 4; i++) {
    p.op({{1, 20, {1}}});
    begins.push_back(p.begins);
    for (uint64_t parameter : {weight, bias}) {
      p.op({{1, 30, {1}}, {2, 10, {2}}});
      CHECK_FALSE(p.begins);
      p.iterations.wrote(parameter);
    }
  }
  CHECK(begins == std::vector<bool>{false, false, true, true});
  CHECK(p.iterations.loop() == LoopId{1});
  CHECK(p.iterations.depth() == 1);
  p.op({{1, 60}});
  CHECK(p.begins);  // behind the last one
  CHECK(p.iterations.loop() == std::nullopt);
}

TEST_CASE("the batch loop inside of a loop of epochs", "[iterations]") {
  Program p;
  for (int epoch = 0; epoch < 2; epoch++) {
    for (int batch = 0; batch < 3; batch++) {
      p.op({{1, 20, {1}}, {2, 10, {2}}});
      if (epoch) CHECK(p.begins);
      p.iterations.wrote(100);
    }
    CHECK(p.iterations.depth() == 2);
  }
}

TEST_CASE("a loop that looks at values has iterations of its own", "[iterations]") {
  Program p;
  p.op({{1, 20, {1}}});
  p.iterations.fetched();
  p.op({{1, 20, {1}}});
  CHECK(p.begins);
  CHECK(p.iterations.loop() == LoopId{1});
  p.op({{1, 40, {2}}});
  CHECK(p.iterations.loop() == std::nullopt);
}

TEST_CASE("a value that is looked at behind a loop is not looked at in it", "[iterations]") {
  Program p;
  for (int i = 0; i < 3; i++) {
    p.op({{1, 20, {1}}, {2, 10, {2}}});
    p.op({{1, 20, {1}}, {2, 10, {2}}});
    p.iterations.fetched();
    p.op({{1, 40, {1}}});
    if (i) CHECK(p.iterations.loop() == LoopId{1});
  }
}

TEST_CASE("rounds that carry nothing are no iterations", "[iterations]") {
  Program p;
  for (int i = 0; i < 5; i++) {
    p.op({{1, 20, {1}}});
    p.iterations.wrote(100 + i);
    CHECK(p.iterations.loop() == std::nullopt);
  }
}
