// Graphs whose tensors are on a device that computes later.
#include <catch2/catch.hpp>

#include "engine/errors/errors.h"
#include "graph/executor/planner.h"
#include "graph/ir/print.h"
#include "tests/unit/graph/run_graph.h"

using namespace terra;
using namespace terra::graph;
using namespace terra::graph::test;

namespace {

Graph on_two_devices() {
  return parsed(R"(graph "f"(%0: f32[2], %1: f32[2]@privateuseone:0) {
    %2: f32[2] = neg(%0)
    %3: f32[2]@privateuseone:0 = neg(%1)
    return %2, %3 })");
}

}  // namespace

TEST_CASE("the devices of values are part of a graph's text", "[device]") {
  const std::string text = print(on_two_devices());
  CHECK_THAT(text, Catch::Contains("%1: f32[2]@privateuseone:0"));
  CHECK(print(parse(text)) == text);
  CHECK_THROWS_WITH(parse("graph \"f\"(%0: f32[2]@moon:0) { return %0 }"), Catch::Contains("a device"));
  CHECK_THROWS_WITH(parse("graph \"f\"(%0: f32[2]@cuda:99) { return %0 }"), Catch::Contains("the number of a device"));
}

TEST_CASE("a graph computes on one device", "[device]") {
  PlanRequest request;
  request.roles.resize(2);
  CHECK_THROWS_WITH(make_plan(on_two_devices(), std::move(request)),
                    "a graph computes on one device, not on cpu and privateuseone:0");
}

TEST_CASE("a step that finds values that it can't take ends the run, though they are found later", "[device]") {
  terra::test::null_backend();
  for (const char* op : {"floor_divide(%0, %1)", "index_select(%0, 0, %1)"}) {
    INFO(op);
    BoundGraph program(parsed(std::string(R"(graph "f"(%0: i64[2], %1: i64[2]) { %2: i64[2] = )") + op +
                              " %3: i64[2] = neg(%2) return %3 }"),
                       terra::test::kNullDevice);
    program.compared = true;
    Tensor x = Tensor::empty(Dims{2}, DType::I64), y = Tensor::empty(Dims{2}, DType::I64);
    for (int64_t i : {0, 1}) x->data_as<int64_t>()[i] = 6 + i, y->data_as<int64_t>()[i] = 1 - i;
    if (op[0] == 'i') y->data_as<int64_t>()[0] = 7;
    CHECK_THROWS_AS(program({x, y}), Error);
    for (int64_t i : {0, 1}) y->data_as<int64_t>()[i] = 1;
    CHECK(to_host(program({x, y})[0])->data_as<int64_t>()[1] == -7);
  }
}
