// Runs on copies, and what a run would take over from the ones before it.
#include "graph/cache/rehearsal.h"

#include <catch2/catch.hpp>
#include <cstring>

#include "engine/tensor/epoch.h"
#include "tests/unit/graph/support.h"

using namespace terra;
using namespace terra::graph;
using namespace terra::graph::test;

namespace {

/// y = a * b, and b += 1.
std::shared_ptr<Compiled> product(const std::vector<Tensor>& inputs) {
  TraceMaker t(inputs);
  t.output(t.call("mul", {V{0}, V{1}}));
  t.in_place("add", {V{1}, Arg(1)});
  return compile(t.trace);
}

}  // namespace

TEST_CASE("a rehearsal finds what a run has bound and is not there any more", "[rehearsal]") {
  const std::vector<Tensor> inputs = {filled({4}, 1), filled({4}, 2)};
  const auto compiled = product(inputs);
  std::vector<RunOutput> outputs;
  const auto run = [&](const SameTensors& same) {
    return compiled->run(lend(inputs), {}, nullptr, outputs, nullptr, same).status;
  };
  const auto rehearse = [&](const SameTensors& same) {
    return Rehearsal(inputs).run(*compiled, {}, nullptr, outputs, same).status;
  };
  const SameTensors same{7, {}};
  CHECK(rehearse(same) == RunStatus::Done);  // nothing is bound
  REQUIRE(run(same) == RunStatus::Done);
  CHECK(rehearse(same) == RunStatus::Done);
  REQUIRE(run(same) == RunStatus::Done);
  inputs[0]->storage = filled({4}, 3)->storage;
  CHECK_THROWS_WITH(rehearse(same), Catch::Contains("has moved"));
  CHECK(rehearse({8, {}}) == RunStatus::Done);  // nothing is taken over with another token
  const std::vector<uint32_t> first = {0};
  REQUIRE(run({9, first}) == RunStatus::Done);
  inputs[0]->storage = filled({4}, 4)->storage;
  CHECK(rehearse({9, first}) == RunStatus::Done);  // that one is bound at each run
  REQUIRE(run({10, {}}) == RunStatus::Done);
  ++tensor_epoch;
  inputs[0]->storage = filled({4}, 5)->storage;
  CHECK(rehearse({10, {}}) == RunStatus::Done);  // somebody was told
}

TEST_CASE("a rehearsal leaves its inputs as they are", "[rehearsal]") {
  const std::vector<Tensor> inputs = {filled({4}, 1), filled({4}, 2)};
  const std::string before = bits(inputs[1]);
  const auto compiled = product(inputs);
  Rehearsal rehearsal;
  rehearsal.add({inputs[0]});
  rehearsal.add({inputs[1]});
  CHECK(rehearsal.bytes() == 32);
  std::vector<RunOutput> outputs;
  REQUIRE(rehearsal.run(*compiled, {}, nullptr, outputs).status == RunStatus::Done);
  CHECK(bits(inputs[1]) == before);
  CHECK(bits(rehearsal.copies()[1]) != before);
  CHECK(rehearsal.copy_of(inputs[1].get()).get() == rehearsal.copies()[1].get());
  CHECK(rehearsal.original(rehearsal.copies()[0]).get() == inputs[0].get());
}

TEST_CASE("copies that are shaken are off by one unit in the last place", "[rehearsal]") {
  for (const DType dtype : {DType::F32, DType::F64, DType::F16, DType::BF16, DType::I64}) {
    const Tensor numbers = filled({64}, 1, dtype);
    const size_t bytes = size_of(dtype);
    std::memset(numbers->data(), 0, bytes);
    Rehearsal rehearsal({numbers});
    rehearsal.shake();
    int up = 0, down = 0;
    for (size_t i = 0; i < 64; ++i) {
      int64_t a = 0, b = 0;
      std::memcpy(&a, static_cast<char*>(numbers->data()) + i * bytes, bytes);
      std::memcpy(&b, static_cast<char*>(rehearsal.copies()[0]->data()) + i * bytes, bytes);
      up += b == a + 1;
      down += b == a - 1;
      if (i == 0 || !is_floating(dtype)) CHECK(a == b);
    }
    CHECK(up + down == (is_floating(dtype) ? 63 : 0));
    if (is_floating(dtype)) CHECK((up > 10 && down > 10));
  }
}
