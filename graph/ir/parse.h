// Reads the text form of a graph back.
#pragma once
#include <map>
#include <string_view>
#include <vector>

#include "graph/ir/graph.h"

namespace terra::graph {

/// What text can't hold: the constants of the graph and of its table (constants_of), and the generator that "generator"
/// names. And how errors name the text.
struct ParseContext {
  std::vector<Tensor> constants;
  Generator* generator = nullptr;
  std::string_view what = "graph text";
  size_t first_line = 1;
};

/// Throws Error(ValueError) with line and column for text that is no graph. The result isn't verified.
Graph parse(std::string_view text, const ParseContext& context = {});

}  // namespace terra::graph
