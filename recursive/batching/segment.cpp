#include "recursive/batching/segment.h"

#include <algorithm>

#include "graph/gradient/undefined.h"
#include "graph/passes/pipeline.h"

namespace terra::recursive {
namespace {

using graph::Graph;

Graph optimized(Graph part) {
  graph::optimize(part, graph::Phase::Part);
  return part;
}

RowGraph row_graph(const SegmentParts& p) {
  std::shared_ptr<const Graph> second;
  if (p.second) second = std::make_shared<const Graph>(optimized(*p.second));
  return {optimized(p.first), p.rows, std::move(second), p.more_rows};
}

/// Also removes what is no output any more.
bool prune(Graph& part, const std::vector<bool>& flows, const std::vector<bool>& inputs_undefined) {
  std::vector<bool> undefined(part.values.size(), false);
  for (size_t i = 0; i < inputs_undefined.size(); ++i) undefined[part.inputs[i]] = inputs_undefined[i];
  const bool changed = graph::drop_undefined(part, flows, undefined);
  std::erase_if(part.outputs, [&](ValueId id) { return undefined[id]; });
  return changed;
}

}  // namespace

Segment::Segment(SegmentParts parts)
    : graph(row_graph(parts)), inputs(parts.first.inputs), outputs(parts.first.outputs), parts_(std::move(parts)) {}

Segment& Segment::where_undefined(const std::vector<bool>& inputs_undefined) {
  const auto [at, is_new] = others_.try_emplace(inputs_undefined);
  if (is_new) {
    SegmentParts p = parts_;
    if (prune(p.first, p.flows, inputs_undefined)) {
      if (p.second) {
        Graph second = *p.second;
        prune(second, p.flows, inputs_undefined);
        p.second = std::make_shared<const Graph>(std::move(second));
      }
      at->second = std::make_unique<Segment>(std::move(p));
      for (ValueId id : outputs)
        if (std::find(at->second->outputs.begin(), at->second->outputs.end(), id) == at->second->outputs.end())
          at->second->undefined.push_back(id);
    }
  }
  return at->second ? *at->second : *this;
}

}  // namespace terra::recursive
