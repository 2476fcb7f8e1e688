#include <catch2/catch.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "kernels/abi/parallel.h"
#include "kernels/cpu/processors.h"

using namespace terra::cpu;

namespace {

/// How often each of [0, n) is visited, by a parallel loop with that grain.
std::vector<int> visits(int64_t n, int64_t grain) {
  std::vector<std::atomic<int>> count(static_cast<size_t>(n));
  parallel_for(n, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) ++count[static_cast<size_t>(i)];
  });
  return {count.begin(), count.end()};
}

}  // namespace

TEST_CASE("a parallel loop visits everything once", "[parallel]") {
  for (const int count : {1, 2, 3, 8}) {
    set_threads(count);
    CHECK(threads() == count);
    for (const int64_t n : {1, 2, 7, 100, 10007}) {
      for (const int64_t grain : {1, 3, 64}) CHECK(visits(n, grain) == std::vector<int>(static_cast<size_t>(n), 1));
    }
  }
  parallel_for(0, 1, [](int64_t, int64_t) { FAIL("nothing to do"); });
}

TEST_CASE("ranges begin at multiples of the grain", "[parallel]") {
  set_threads(3);
  std::atomic<bool> holds = true;
  parallel_for(1000, 7, [&](int64_t begin, int64_t) {
    if (begin % 7 != 0) holds = false;
  });
  CHECK(holds);
}

TEST_CASE("a loop inside a loop runs inline", "[parallel]") {
  set_threads(4);
  std::atomic<int> total = 0;
  parallel_for(16, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const auto self = std::this_thread::get_id();
      parallel_for(10, 1, [&](int64_t b, int64_t e) {
        if (std::this_thread::get_id() == self) total += static_cast<int>(e - b);
      });
    }
  });
  CHECK(total == 160);
}

TEST_CASE("an exception reaches the caller and the pool goes on", "[parallel]") {
  set_threads(4);
  for (int round = 0; round < 50; ++round) {
    CHECK_THROWS_AS(parallel_for(64, 1,
                                 [](int64_t begin, int64_t) {
                                   if (begin >= 5) throw std::out_of_range("x");
                                 }),
                    std::out_of_range);
    CHECK(visits(100, 1) == std::vector<int>(100, 1));
  }
}

TEST_CASE("several threads may ask at once", "[parallel]") {
  set_threads(3);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> callers;
  for (int t = 0; t < 4; ++t) {
    callers.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        if (visits(50, 1) != std::vector<int>(50, 1)) ++wrong;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  CHECK(wrong == 0);
}

TEST_CASE("the number of threads may change while others work", "[parallel]") {
  std::atomic<bool> stop = false;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> callers;
  for (int t = 0; t < 2; ++t) {
    callers.emplace_back([&] {
      while (!stop) {
        if (visits(50, 1) != std::vector<int>(50, 1)) ++wrong;
      }
    });
  }
  for (int round = 0; round < 50; ++round) {
    set_threads(1 + round % 4);
    visits(50, 1);
  }
  stop = true;
  for (std::thread& caller : callers) caller.join();
  CHECK(wrong == 0);
}

#ifndef __SANITIZE_THREAD__  // which forbids new threads in the child
TEST_CASE("a child process has a pool of its own", "[parallel]") {
  set_threads(3);
  visits(100, 1);
  const pid_t child = fork();
  if (child == 0) _exit(visits(1000, 1) == std::vector<int>(1000, 1) ? 0 : 1);
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(visits(100, 1) == std::vector<int>(100, 1));
}
#endif

TEST_CASE("the number of processors is sensible", "[parallel]") {
  CHECK(usable_processors() >= 1);
  set_threads(usable_processors());
}
