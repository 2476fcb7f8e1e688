#include "graph/gradient/flow.h"

#include <catch2/catch.hpp>

using namespace terra::graph;

TEST_CASE("the maximum flow is the capacity of a minimum cut", "[flow]") {
  // 0 -> 1 -> 3 and 0 -> 2 -> 3, with a way from 1 to 2.
  FlowNetwork net(4);
  net.add_edge(0, 1, 10);
  net.add_edge(0, 2, 4);
  net.add_edge(1, 2, 3);
  net.add_edge(1, 3, 5);
  net.add_edge(2, 3, 9);
  CHECK(net.maximise(0, 3) == 12);
  CHECK(net.sink_side(3) == std::vector<bool>{false, false, true, true});  // cut: 0 -> 2, 1 -> 2, 1 -> 3
}

TEST_CASE("of several minimum cuts the one nearest to the sink is taken", "[flow]") {
  FlowNetwork net(5);
  for (size_t node = 0; node < 4; ++node) net.add_edge(node, node + 1, node == 3 ? 9 : 7);
  CHECK(net.maximise(0, 4) == 7);
  CHECK(net.sink_side(4) == std::vector<bool>{false, false, false, true, true});
}

TEST_CASE("what can't be cut makes the flow infinite", "[flow]") {
  FlowNetwork net(2);
  net.add_edge(0, 1, FlowNetwork::kInfinite);
  CHECK(net.maximise(0, 1) >= FlowNetwork::kInfinite);
}
