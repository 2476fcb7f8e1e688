// The two halves of a differentiable program, and the programs of its gradients.
#pragma once
#include <deque>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "graph/cache/compiled.h"
#include "graph/cache/run.h"
#include "graph/gradient/partition.h"
#include "graph/trace/build.h"

namespace terra::graph {

class PairBatch;

/// The two halves for one choice of roots that gradients arrive for, the backward half part by part.
struct Halves {
  struct Backward {
    Backward(std::vector<uint32_t> s, Program p, const std::vector<SavedValue>& values);
    ~Backward();

    /// Where gradients have come for these roots only, of those that the halves are for.
    Runner& where_given(const std::vector<uint32_t>& roots);

    const std::vector<uint32_t> saved;       ///< numbers of the values that it reads
    const Program program;                   ///< as it was cut, before it is fused
    const std::unique_ptr<PairBatch> batch;  ///< of many runs
    Runner runner;

   private:
    const std::vector<bool> consumable_;
    std::map<std::vector<uint32_t>, std::unique_ptr<Runner>> partly_;
  };

  Halves(Partition p, size_t parts);

  const std::vector<SavedValue> saved;
  Runner forward;
  std::deque<Backward> backward;  ///< by part
};

using Choice = std::vector<bool>;  ///< of roots

/// What all runs of one pair share. Kept alive by the tape nodes of runs that haven't been differentiated yet.
class PairPrograms {
 public:
  PairPrograms(Program joint, std::shared_ptr<const Trace> t, const BuildRequest& r);

  const Halves& whole() const { return *whole_; }
  Footprint footprint() const;
  double first_run_ms() const;

  /// The halves for what is expected of the next backward. `choice` becomes what they are for.
  Halves& halves(Choice& choice);

  /// The program of a part's gradients themselves; `joint` when they are to have a history.
  Compiled& derivative(uint32_t part, const Tangents& step, bool joint);

  const std::shared_ptr<const Trace> trace;
  const BuildRequest request;
  const std::vector<ProgramRoot> roots;
  const std::vector<ProgramPart> parts;
  const std::vector<Program::FunctionResult> functions;
  /// By part: of the edges along which the addends of each target's gradient go, the first; and the end of all. With
  /// gradients for all roots.
  const std::vector<std::vector<uint32_t>> first_edges;
  Choice expected;  ///< which roots the last backward had gradients for

 private:
  std::map<Choice, std::unique_ptr<Halves>> halves_;
  Halves* whole_ = nullptr;
  std::map<std::tuple<uint32_t, Tangents, bool>, std::shared_ptr<Compiled>> derivatives_;
};

}  // namespace terra::graph
