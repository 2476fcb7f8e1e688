// Runs that let other threads go on: what those may do meanwhile is done here by the poll, which is asked between the
// nodes of the body, and by threads under a lock of the test's own.
#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <mutex>
#include <thread>

#include "engine/autograd/autograd.h"
#include "engine/eager/host_lock.h"
#include "engine/ops/call.h"
#include "engine/random/generator.h"
#include "graph/cache/run.h"
#include "kernels/abi/parallel.h"
#include "tests/unit/graph/support.h"

using namespace terra;
using namespace terra::graph;
using namespace terra::graph::test;

namespace {

/// A lock that counts how often it changes hands, as the interpreter's does.
struct TestLock {
  std::mutex mutex;
  std::thread::id last;
  unsigned long switches = 0;
  static thread_local bool held;

  static TestLock& instance() {
    static TestLock lock;
    return lock;
  }
  void enter() {
    mutex.lock();
    held = true;
    if (last != std::this_thread::get_id()) ++switches;
    last = std::this_thread::get_id();
  }
  void leave() {
    held = false;
    mutex.unlock();
  }
};
thread_local bool TestLock::held = false;

void* drop() {
  if (!TestLock::held) return nullptr;
  TestLock::instance().leave();
  return &TestLock::instance();
}
void take(void*) { TestLock::instance().enter(); }
unsigned long switches() { return TestLock::instance().switches; }

/// For the length of a test every run is released, and the test holds the lock.
struct Releasing {
  Releasing() {
    start();
    release_faults().every_run = true;
    host_lock() = {drop, take, [] { return true; }, switches};
    TestLock::instance().enter();
  }
  ~Releasing() {
    TestLock::instance().leave();
    host_lock() = {};
    release_faults() = {};
    set_interrupt_poll(nullptr);
  }
};

struct Caller final : Release {
  int holds = 0, asked = 0;
  bool all_stands = true;
  void hold() override { ++holds; }
  bool stands() override {
    ++asked;
    return all_stands;
  }
};

std::function<void()> meanwhile;
bool poll_meanwhile() {
  if (meanwhile) std::exchange(meanwhile, nullptr)();
  return false;
}

std::vector<Tensor> state() { return {filled({6, 8}, 1), filled({8, 8}, 2), filled({6, 8}, 3)}; }

/// Two products, so that something can come between them; the third input is written.
Trace two_products() {
  TraceMaker t(state());
  const TraceId h = t.call("matmul", {V{0}, V{1}});
  const TraceId y = t.call("matmul", {V{h}, V{1}});
  t.in_place("add", {V{2}, V{y}});
  t.output(y);
  return std::move(t.trace);
}

RunStatus run(Compiled& compiled, const std::vector<Tensor>& inputs, Release& release,
              std::vector<RunOutput>* outputs = nullptr) {
  std::vector<RunOutput> own;
  return compiled.run(lend(inputs), {}, nullptr, outputs ? *outputs : own, &release).status;
}

void write(const Tensor& t, double factor) {
  const Arg args[] = {Arg(t), Arg(factor)};
  call_in_place(*find_op("mul"), args);
}

}  // namespace

TEST_CASE("a released run does what a run under the lock does", "[release]") {
  const Releasing releasing;
  Caller caller;
  const auto compiled = compile(two_products());
  const std::vector<Tensor> ours = state(), theirs = state();
  std::vector<RunOutput> released, kept;
  REQUIRE(run(*compiled, ours, caller, &released) == RunStatus::Done);
  REQUIRE(compiled->run(lend(theirs), {}, nullptr, kept).status == RunStatus::Done);
  CHECK(outcome_of(ours, released) == outcome_of(theirs, kept));
  CHECK(caller.holds == 1);
  CHECK(caller.asked == 1);
}

TEST_CASE("a run is overtaken by writes to what it reads, and has done nothing", "[release]") {
  const Releasing releasing;
  set_interrupt_poll(poll_meanwhile);
  const auto compiled = compile(two_products());
  Caller caller;
  const auto overtaken_by = [&](const std::function<void(const std::vector<Tensor>&)>& change) {
    const std::vector<Tensor> ours = state(), theirs = state();
    meanwhile = [&] { change(ours); };
    change(theirs);
    const RunStatus status = run(*compiled, ours, caller);
    REQUIRE_FALSE(meanwhile);
    return status == RunStatus::Overtaken && outcome_of(ours, {}) == outcome_of(theirs, {});
  };
  CHECK(overtaken_by([](const auto& in) { write(in[1], 2); }));
  CHECK(overtaken_by([](const auto& in) { write(in[2], 2); }));
  CHECK(overtaken_by([](const auto& in) {
    const Tensor data = Tensor::view_of(Storage::apart(in[1]->storage), DType::F32, in[1].sizes(), in[1].strides(), 0);
    write(data, 2);
  }));
  CHECK(overtaken_by([](const auto& in) { in[1]->storage = Tensor(filled({8, 8}, 9))->storage; }));
  CHECK(run(*compiled, state(), caller) == RunStatus::Done);
}

TEST_CASE("the caller has the last word", "[release]") {
  const Releasing releasing;
  const auto compiled = compile(two_products());
  Caller caller;
  caller.all_stands = false;
  const std::vector<Tensor> inputs = state();
  CHECK(run(*compiled, inputs, caller) == RunStatus::Overtaken);
  CHECK(bits(inputs[2]) == bits(state()[2]));
}

TEST_CASE("two runs change each other's versions only when they commit", "[release]") {
  const Releasing releasing;
  set_interrupt_poll(poll_meanwhile);
  const Trace trace = two_products();
  const auto one = compile(trace), other = compile(trace);
  const std::vector<Tensor> inputs = state();
  Caller caller;
  RunStatus inner = RunStatus::Refused;
  meanwhile = [&] { inner = run(*other, inputs, caller); };
  CHECK(run(*one, inputs, caller) == RunStatus::Overtaken);
  CHECK(inner == RunStatus::Done);
}

TEST_CASE("a body that is under way is nobody else's", "[release]") {
  const Releasing releasing;
  set_interrupt_poll(poll_meanwhile);
  const auto compiled = compile(two_products());
  const std::vector<Tensor> inputs = state();
  Caller caller;
  RunStatus inner = RunStatus::Refused;
  meanwhile = [&] { inner = run(*compiled, state(), caller); };
  CHECK(run(*compiled, inputs, caller) == RunStatus::Done);
  CHECK(inner == RunStatus::UnderWay);
  CHECK(run(*compiled, state(), caller) == RunStatus::Done);
}

TEST_CASE("indices that change after they were checked lead nowhere", "[release]") {
  const Releasing releasing;
  set_interrupt_poll(poll_meanwhile);
  const auto make = [] {
    Tensor where = Tensor::empty(Dims{4}, DType::I64);
    for (int64_t i = 0; i < 4; ++i) where->data_as<int64_t>()[i] = i;
    return std::vector<Tensor>{filled({6, 8}, 1), where};
  };
  TraceMaker t(make());
  const TraceId h = t.call("exp", {V{0}});
  const TraceId s = t.call("matmul", {V{h}, V{t.call("transpose", {V{h}, Arg(0), Arg(1)})}});
  t.output(t.call("index_select", {V{s}, Arg(0), V{1}}));
  const auto compiled = compile(t.trace);
  const std::vector<Tensor> inputs = make();
  Caller caller;
  meanwhile = [&] {  // as numpy would, telling nobody
    for (int64_t i = 0; i < 4; ++i) inputs[1]->data_as<int64_t>()[i] = int64_t{1} << 40;
  };
  std::vector<RunOutput> outputs;
  CHECK(run(*compiled, inputs, caller, &outputs) == RunStatus::Done);
  CHECK(bits(std::get<Tensor>(outputs[0])) == bits(run_once(*compile(t.trace), make())));
}

TEST_CASE("threads share one graph and one parameter", "[release][threads]") {
  const Releasing releasing;
  cpu::set_threads(2);
  constexpr int kThreads = 4, kSteps = 50;
  const auto make = [] { return std::vector<Tensor>{Tensor::empty(Dims{3, 3}, DType::F64)}; };
  const std::vector<Tensor> inputs = make();
  std::memset(inputs[0]->data(), 0, 9 * sizeof(double));
  TraceMaker t(inputs);
  t.in_place("add", {V{0}, Arg(1.0)});
  const auto compiled = compile(t.trace);
  std::atomic<int> wrong = 0;
  TestLock::instance().leave();
  std::vector<std::thread> threads;
  for (int k = 0; k < kThreads; ++k)
    threads.emplace_back([&] {
      for (int done = 0; done < kSteps;) {
        TestLock::instance().enter();
        Caller caller;
        const RunStatus status = run(*compiled, inputs, caller);
        if (status == RunStatus::UnderWay) await_landing();
        if (status != RunStatus::Done && status != RunStatus::UnderWay && status != RunStatus::Overtaken) ++wrong;
        done += status == RunStatus::Done;
        TestLock::instance().leave();
      }
    });
  for (std::thread& thread : threads) thread.join();
  TestLock::instance().enter();
  CHECK(wrong == 0);
  CHECK(inputs[0]->data_as<double>()[4] == kThreads * kSteps);
}

TEST_CASE("a tempo is settled by short bodies and never by long ones", "[release]") {
  Tempo tempo(false);
  CHECK_FALSE(tempo.is_short());
  tempo.took(10 * kLongWork);
  tempo.took(kLongWork / 2);
  CHECK_FALSE(tempo.is_to_be_released());
  CHECK_FALSE(tempo.is_short());
  tempo.took(1000);
  tempo.took(1000);
  CHECK(tempo.is_short());
  Tempo loop(true);
  for (int i = 0; i < 10; ++i) loop.took(1000);
  CHECK_FALSE(loop.is_short());
}

TEST_CASE("a run that is overtaken again and again keeps the lock for a while", "[release]") {
  const Releasing releasing;
  release_faults() = {};
  Tempo tempo(false);
  tempo.took(kLongWork);
  tempo.released(true);
  CHECK(tempo.is_to_be_released());
  tempo.released(true);
  int kept = 0;
  while (!tempo.is_to_be_released()) ++kept;
  CHECK(kept == 4);
  tempo.released(false);
  CHECK(tempo.is_to_be_released());
}

TEST_CASE("the lock is given away where somebody could take it, and the work is long", "[release]") {
  const Releasing releasing;
  CHECK(WithoutHostLock::is_due(kLongWork));
  CHECK_FALSE(WithoutHostLock::is_due(kLongWork - 1));
  host_lock().is_shared = [] { return false; };
  CHECK_FALSE(WithoutHostLock::is_due(kLongWork));
  CHECK(WithoutHostLock::is_due(1000 * kLongWork));
}

TEST_CASE("who waited long for the lock keeps it as long", "[release]") {
  const Releasing releasing;
  host_lock().take = [](void* lock) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    take(lock);
  };
  WithoutHostLock().take_back();
  int kept = 0;
  while (!WithoutHostLock::is_due(1'000'000)) ++kept;
  CHECK(kept >= 5);
  CHECK(kept <= 10);
}
