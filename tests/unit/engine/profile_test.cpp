// Scopes: what a profile sees of nested calls, of several threads, and of other profiles.
#include <catch2/catch.hpp>

#include <thread>

#include "engine/eager/eager.h"
#include "engine/ops/call.h"
#include "engine/profile/scope.h"

using namespace terra;

namespace {

profile::Subject subject(std::string name) { return {std::move(name)}; }

std::vector<std::string> names_of(const std::vector<profile::Event>& events) {
  std::vector<std::string> names;
  for (const profile::Event& e : events) names.push_back(e.of.name);
  return names;
}

}  // namespace

TEST_CASE("scopes nest as calls do, and have times and shapes", "[profile]") {
  eager::start();
  const Tensor a = (*find_op("full"))(Dims{2, 3}, 1.0, DType::F32);
  const uint64_t number = profile::start({.shapes = true, .memory = true});
  {
    const profile::Scope outer([] { return subject("outer"); });
    (*find_op("add"))(a, a);
    const profile::Scope none([] { return subject(""); });
  }
  (*find_op("add")).in_place(a, a);
  const std::vector<profile::Event> events = profile::stop(number);
  REQUIRE(names_of(events) == std::vector<std::string>{"outer", "aten::add", "aten::add_"});
  CHECK(events[0].outer == -1);
  CHECK(events[1].outer == 0);
  CHECK(events[2].outer == -1);
  CHECK(events[1].of.shapes.at(0) == Dims{2, 3});
  for (const profile::Event& e : events) CHECK(e.begin <= e.end);
  CHECK(events[0].begin <= events[1].begin);
  CHECK(events[1].end <= events[0].end);
}

TEST_CASE("nothing is seen without a profile, nor of a scope that was entered before it", "[profile]") {
  bool asked = false;
  const profile::Scope before([&] {
    asked = true;
    return subject("before");
  });
  CHECK_FALSE(asked);
  const uint64_t number = profile::start({});
  const profile::Opened left_open = profile::open(subject("left open"));
  const std::vector<profile::Event> events = profile::stop(number);
  REQUIRE(names_of(events) == std::vector<std::string>{"left open"});
  CHECK(events[0].end >= events[0].begin);
  profile::close(left_open);
  CHECK(profile::open(subject("late")) == profile::kNone);
}

TEST_CASE("a profile inside of another one sees what runs while it does", "[profile]") {
  const uint64_t outer = profile::start({});
  const profile::Scope around([] { return subject("around"); });
  const uint64_t inner = profile::start({});
  {
    const profile::Scope within([] { return subject("within"); });
  }
  const std::vector<profile::Event> seen = profile::stop(inner);
  {
    const profile::Scope behind([] { return subject("behind"); });
  }
  const std::vector<profile::Event> all = profile::stop(outer);
  CHECK(names_of(seen) == std::vector<std::string>{"within"});
  CHECK(seen[0].outer == -1);
  REQUIRE(names_of(all) == std::vector<std::string>{"around", "within", "behind"});
  CHECK(all[1].outer == 0);
  CHECK(all[2].outer == 0);
}

TEST_CASE("threads have scopes of their own", "[profile]") {
  const uint64_t number = profile::start({});
  const profile::Scope here([] { return subject("here"); });
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([] {
      for (int k = 0; k < 100; ++k) {
        const profile::Scope outer([] { return subject("outer"); });
        const profile::Scope inner([] { return subject("inner"); });
      }
    });
  for (std::thread& t : threads) t.join();
  const std::vector<profile::Event> events = profile::stop(number);
  REQUIRE(events.size() == 801);
  for (const profile::Event& e : events) {
    if (e.of.name != "inner") {
      CHECK(e.outer == -1);
      continue;
    }
    REQUIRE(e.outer >= 0);
    CHECK(events[static_cast<size_t>(e.outer)].of.name == "outer");
    CHECK(events[static_cast<size_t>(e.outer)].thread == e.thread);
  }
}
