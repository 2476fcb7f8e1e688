#include "graph/cache/recorded_paths.h"

#include <algorithm>

#include "engine/errors/errors.h"
#include "graph/cache/shaped.h"
#include "graph/ir/verify.h"
#include "graph/passes/pipeline.h"
#include "graph/trace/build.h"

namespace terra::graph {
namespace {

bool fit(const PathLayout& layout, const std::vector<TensorImpl*>& tensors) {
  return std::equal(
      layout.begin(), layout.end(), tensors.begin(), tensors.end(), [](const TensorLayout& l, const TensorImpl* t) {
        return t->dtype == l.dtype && t->offset == l.offset && t->sizes == l.sizes && t->strides == l.strides;
      });
}

}  // namespace

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

std::unique_ptr<Runner> compile_shared(Program program, const char* origin) {
  verify(program.graph, Stage::Captured, origin);
  optimize(program.graph, Phase::Whole);
  optimize(program.graph, Phase::Part);
  return std::make_unique<Runner>(std::move(program));
}

const PathInputs* PathWalk::inputs_of(uint32_t asked, const std::vector<PathLayout>& layouts) {
  if (!inputs[asked]) {
    inputs[asked] = caller.inputs(asked);
    if (inputs[asked] && !fit(layouts[asked], inputs[asked]->tensors)) return nullptr;
  }
  return inputs[asked];
}

void PathWalk::add_made(std::vector<TensorImpl*>& to, std::vector<Scalar>& numbers) const {
  for (const Tensor& t : tensors) to.push_back(t.get());
  numbers.insert(numbers.end(), scalars.begin(), scalars.end());
}

bool PathWalk::take(const Runner& runner, Runner::Made& made) {
  std::vector<RunOutput> results;
  runner.collect(made, results);
  const bool truth = std::get<Scalar>(results.back()).to_bool();
  results.pop_back();
  for (RunOutput& result : results) {
    if (auto* tensor = std::get_if<Tensor>(&result))
      tensors.push_back(std::move(*tensor));
    else
      scalars.push_back(std::get<Scalar>(result));
  }
  return truth;
}

}  // namespace terra::graph
