#include "graph/file/round_trip.h"

#include <algorithm>
#include <stdexcept>

#include "engine/errors/errors.h"
#include "graph/cache/compile_program.h"
#include "graph/file/shapes.h"
#include "graph/file/text.h"
#include "graph/ir/print.h"
#include "graph/ir/verify.h"

namespace terra::graph {
namespace {

/// Passes have made it faster, and nothing else any more.
bool has_fused(const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const Node& n) {
    return n.kind == NodeKind::Fused ||
           std::any_of(n.bodies.begin(), n.bodies.end(), [](const auto& body) { return has_fused(*body); });
  });
}

void check_round_trip(const Program& program) {
  const std::string text = print(program);
  try {
    const Program back = parse_program(text, constants_of(program.graph));
    verify(back.graph, Stage::Optimized, "read back");
    if (const std::string problem = find_shape_violation(back.graph); !problem.empty() && !has_fused(back.graph))
      throw std::runtime_error("a program has values of other shapes than its ops make: " + problem + "\n" + text);
    if (const std::string again = print(back); again != text)
      throw std::runtime_error("a program is read back as another one:\n" + text + "\nis not\n" + again);
  } catch (const Error& e) {
    throw std::runtime_error("a program can't be read back: " + std::string(e.what()) + "\n" + text);
  }
}

}  // namespace

void check_round_trips() { program_check() = check_round_trip; }

}  // namespace terra::graph
