#include "graph/cache/recorded_paths.h"

#include <algorithm>

#include "engine/errors/errors.h"
#include "graph/cache/shaped.h"
#include "graph/trace/build.h"

namespace terra::graph {

bool fit(const PathLayout& layout, const std::vector<TensorImpl*>& tensors) {
  return std::equal(
      layout.begin(), layout.end(), tensors.begin(), tensors.end(), [](const TensorLayout& l, const TensorImpl* t) {
        return t->dtype == l.dtype && t->offset == l.offset && t->sizes == l.sizes && t->strides == l.strides;
      });
}

RecordedPaths read_paths(const std::vector<const Trace*>& traces, bool cuts) {
  RecordedPaths out;
  for (const Trace* trace : traces)
    if (has_free_shapes(*trace)) throw InternalError("paths of varying sizes have an instance for each, one by one");
  BuildRequest request;
  request.cuts = cuts;
  for (const Trace* trace : traces) {
    Path& path = out.paths.emplace_back(Path{build(*trace, request)});
    PathLayout& layout = out.layouts.emplace_back();
    for (const TraceInput& in : trace->inputs) {
      if (in.kind == TraceInput::Kind::Tensor)
        layout.push_back({in.meta.dtype, in.meta.sizes, in.strides, in.offset});
      else
        ++path.scalars;
    }
    path.tensors = static_cast<uint32_t>(layout.size());
    const auto read = std::count_if(path.program.inputs.begin(), path.program.inputs.end(),
                                    [](const InputBinding& in) { return in.kind == InputBinding::Kind::Scalar; });
    if (read != path.scalars) throw InternalError("a number that differs between runs is built into a path");
  }
  return out;
}

}  // namespace terra::graph
