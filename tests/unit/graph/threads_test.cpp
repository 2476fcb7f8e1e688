// Several threads that build, run and differentiate graphs of their own at once; for the thread sanitizer, and because
// they share the pool, the allocator, op records, passes and the interrupt poll.
#include <catch2/catch.hpp>

#include <atomic>
#include <thread>

#include "engine/autograd/autograd.h"
#include "engine/ops/call.h"
#include "kernels/abi/parallel.h"
#include "tests/unit/graph/support.h"

using namespace terra;
using namespace terra::graph;
using namespace terra::graph::test;

namespace {

constexpr int kThreads = 4;

/// Runs work(thread) in each thread. Catch is asked nothing meanwhile, for it belongs to one thread.
template <class F>
void in_threads(F work) {
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) threads.emplace_back([&, t] { work(t); });
  for (std::thread& t : threads) t.join();
}

std::vector<Tensor> state() { return {filled({64, 96}, 1), leaf(filled({80, 96}, 2)), leaf(filled({80}, 3))}; }

Trace forward_trace() {
  TraceMaker t(state());
  const TraceId h = t.call("tanh", {V{t.call("linear", {V{0}, V{1}, V{2}})}});
  t.output(t.call("mul", {V{h}, V{h}}));
  return std::move(t.trace);
}

void backward(const Tensor& y) {
  std::vector<Tensor> loss;
  const Arg argument(y);
  call(*find_op("sum"), {&argument, 1}, loss);
  autograd::backward(loss, {}, false, false);
}

}  // namespace

TEST_CASE("threads run graphs of their own at once", "[threads]") {
  start();
  cpu::set_threads(3);
  const Trace trace = forward_trace();
  const std::string expected = bits(run_once(*compile(trace), state()));
  std::atomic<int> wrong = 0;
  in_threads([&](int) {
    const std::shared_ptr<Compiled> own = compile(trace);
    const std::vector<Tensor> inputs = state();  // a history of its own: those belong to one thread at a time
    for (int round = 0; round < 20; ++round) {
      if (bits(run_once(*own, inputs)) != expected) ++wrong;
    }
  });
  CHECK(wrong == 0);
}

TEST_CASE("threads differentiate pairs of their own at once", "[threads]") {
  start();
  cpu::set_threads(2);
  const Trace trace = forward_trace();
  const auto gradients = [&] {
    const std::shared_ptr<Compiled> own = compile(trace);
    const std::vector<Tensor> inputs = state();
    for (int round = 0; round < 5; ++round) backward(run_once(*own, inputs));
    return bits(autograd::grad(inputs[1])) + bits(autograd::grad(inputs[2]));
  };
  const std::string expected = gradients();
  std::atomic<int> wrong = 0;
  in_threads([&](int) {
    if (gradients() != expected) ++wrong;
  });
  CHECK(wrong == 0);
}

TEST_CASE("what one thread computed another may drop", "[threads]") {
  start();
  const Trace trace = forward_trace();
  std::vector<Tensor> made(kThreads);
  for (int round = 0; round < 20; ++round) {
    in_threads([&](int t) { made[static_cast<size_t>(t)] = run_once(*compile(trace), state()); });
    in_threads([&](int t) { made[static_cast<size_t>((t + 1) % kThreads)] = Tensor(); });
  }
  for (const Tensor& t : made) CHECK(!t.defined());
}
