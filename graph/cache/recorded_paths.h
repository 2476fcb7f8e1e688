// Paths of a region as programs, for runs whose tensors are laid out as when they were recorded, and what runs that may
// take any of them have in common.
#pragma once
#include <memory>
#include <vector>

#include "graph/cache/run.h"
#include "graph/cache/switched.h"
#include "graph/trace/merge.h"
#include "graph/trace/trace.h"

namespace terra::graph {

struct TensorLayout {
  DType dtype;
  Dims sizes, strides;
  int64_t offset;
};
using PathLayout = std::vector<TensorLayout>;  ///< by tensor of the path's runs

struct RecordedPaths {
  std::vector<Path> paths;
  std::vector<PathLayout> layouts;
};
/// `cuts`: with the values of the traces' marks. Throws InternalError for traces that have instances of their own.
RecordedPaths read_paths(const std::vector<const Trace*>& traces, bool cuts);

/// Of a program made from those of several paths; `origin` says how, should it be wrong.
std::unique_ptr<Runner> compile_shared(Program program, const char* origin);

/// One run on its way through such programs.
struct PathWalk {
  PathWalk(const Switched::Caller& caller, std::vector<RunOutput>& outputs, uint32_t& path, size_t paths)
      : caller(caller), outputs(outputs), path(path), inputs(paths, nullptr) {}

  /// Null where its guards don't hold, or a tensor is laid out otherwise.
  const PathInputs* inputs_of(uint32_t asked, const std::vector<PathLayout>& layouts);
  /// What programs before have made follows the inputs of a path.
  void add_made(std::vector<TensorImpl*>& to, std::vector<Scalar>& numbers) const;
  /// Takes the results of a program, but for the last: the truth that decides what is next.
  bool take(const Runner& runner, Runner::Made& made);

  const Switched::Caller& caller;
  std::vector<RunOutput>& outputs;
  uint32_t& path;                         ///< the one that it is on
  std::vector<const PathInputs*> inputs;  ///< by path, where asked for
  std::vector<Tensor> tensors;
  std::vector<Scalar> scalars;
};

}  // namespace terra::graph
