// Paths of one region as one graph: what they share runs once, then the truth of a tensor chooses the rest.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "graph/cache/compiled.h"

namespace terra::graph {

/// The inputs of a run of one path, in the order of its trace.
struct PathInputs {
  std::vector<TensorImpl*> tensors;  ///< lent
  std::vector<Scalar> scalars;
};

class Switched {
 public:
  /// What the caller knows of the path that a run takes.
  struct Caller {
    /// The inputs of a path, or null when its guards don't hold: then the run is Refused. Asked at most once for each
    /// path; the pointer stays good to the end of the run.
    std::function<const PathInputs*(uint32_t path)> inputs;
    /// As in Compiled::run; `path` is the one that the run has taken.
    std::function<bool(uint32_t path)> before_commit;
    /// Having come along `from` to assert number `place`, the run goes on along `path`, whose scalars may be others
    /// from here on. False: Refused. Null: they stay what they are.
    std::function<bool(uint32_t from, uint32_t path, uint32_t place)> arrives = nullptr;
  };

  virtual ~Switched() = default;
  /// `likely` is the path whose inputs are asked for first. `path` becomes the one that was taken, or, of a run that
  /// isn't Done, one to which `failed_assert` belongs. Inputs that aren't laid out as when they were recorded are
  /// Refused.
  virtual RunResult run(uint32_t likely, const Caller& caller, std::vector<RunOutput>& outputs, uint32_t& path) = 0;
  /// The graphs from the outermost inwards, each indented by its depth.
  virtual std::string text() const = 0;
  virtual size_t node_count() const = 0;
};

/// The same where paths meet again behind a branch: ways are served that no path went as a whole, and a run asks for
/// the inputs of every path that it goes along with. Null where they don't meet (graph/trace/join.h).
std::shared_ptr<Switched> compile_joined(const std::vector<const Trace*>& paths);

/// Throws InternalError when the traces aren't different paths of one region, or one of them can't be merged.
std::shared_ptr<Switched> compile_switch(const std::vector<const Trace*>& paths);

}  // namespace terra::graph
