// The two halves of a differentiable program, and the programs of its gradients.
#pragma once
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "graph/cache/compiled.h"
#include "graph/cache/run.h"
#include "graph/gradient/partition.h"
#include "graph/trace/build.h"

namespace terra::graph {

class PairBatch;

/// What the tape of a pair is divided into.
class PairParts {
 public:
  /// For all of them together, where a number of one is asked for.
  static constexpr uint32_t kAll = ~0u;

  explicit PairParts(const Program& joint);

  /// All can be one: nothing of the program stands between them.
  bool can_fold() const { return all_.has_value(); }
  const ProgramPart& operator[](uint32_t part) const { return part == kAll ? *all_ : each[part]; }
  /// Of the edges along which the addends of each target's gradient go, the first; and the end of all. With gradients
  /// for all roots.
  const std::vector<uint32_t>& first_edges(uint32_t part) const {
    return part == kAll ? first_edges_of_all_ : first_edges_[part];
  }
  /// By root of all: between the parts somebody might look for the whole of its gradient.
  const std::vector<bool>& inside() const { return inside_; }

  const std::vector<ProgramRoot> roots;
  const std::vector<ProgramPart> each;

 private:
  std::optional<ProgramPart> all_;
  std::vector<bool> inside_;
  std::vector<std::vector<uint32_t>> first_edges_;
  std::vector<uint32_t> first_edges_of_all_;
};

/// The two halves for one choice of roots that gradients arrive for. The backward half is that of all parts together,
/// or of each by itself; both read the same saved values.
class Halves {
 public:
  struct Backward {
    /// `where`: the program where gradients have come for some roots only.
    Backward(std::vector<uint32_t> s, Program p, const std::vector<SavedValue>& values,
             std::function<Program(const std::vector<uint32_t>&)> where);
    ~Backward();

    /// Where gradients have come for all roots that the halves are for. Compiled when the first gradients come: much
    /// is computed that nobody differentiates.
    Runner& runner();
    /// Where they have come for these roots only.
    Runner& runner_where_given(const std::vector<uint32_t>& roots);

    const std::vector<uint32_t> saved;       ///< numbers of the values that it reads
    const Program program;                   ///< as it was cut, before it is fused
    const std::unique_ptr<PairBatch> batch;  ///< of many runs

   private:
    friend class Halves;

    const std::vector<bool> consumable_;
    const std::function<Program(const std::vector<uint32_t>&)> where_;
    std::unique_ptr<Runner> runner_;
    std::map<std::vector<uint32_t>, std::unique_ptr<Runner>> partly_;
  };

  /// `parts` stay. `part`: the first that will be asked for, or PairParts::kAll.
  Halves(Partition p, const PairParts& parts, uint32_t part);

  /// Made when it is first asked for.
  Backward& backward(uint32_t part);
  /// Those that are compiled: the forward half, then backward halves.
  std::vector<const Runner*> runners() const;

  const std::vector<SavedValue> saved;
  Runner forward;

 private:
  const PairParts& parts_;
  const Program cut_;  ///< the backward half of all parts, each with gradients of its own
  std::map<uint32_t, Backward> backward_;
};

using Choice = std::vector<bool>;  ///< of roots

/// What all runs of one pair share. Kept alive by the tape nodes of runs that haven't been differentiated yet.
class PairPrograms {
 public:
  PairPrograms(Program joint, std::shared_ptr<const Trace> t, const BuildRequest& r);

  const Halves& whole() const { return *whole_; }
  /// Whether the next run leaves one node for all parts. Not in exact mode: there, the pass over the program's tape
  /// adds up what comes to a result from behind the region and from within.
  bool folds_next();
  /// The program has looked between parts, and may again: a number of runs leave a node for each of them, twice as many
  /// each time.
  void come_apart() {
    if (apart_ == 0) apart_ = std::exchange(next_apart_, std::min(2 * next_apart_, kMostApart));
  }
  /// Of later runs: gradients come to these roots of a part; parts that none come to may get some as before. `keep`:
  /// roots that did before may as well.
  void expect(uint32_t part, const Choice& given, bool keep);
  Footprint footprint() const;
  double first_run_ms() const;

  /// The halves for what is expected of the next backward. `choice` becomes what they are for.
  Halves& halves(Choice& choice);

  /// The program of a part's gradients themselves; `joint` when they are to have a history.
  Compiled& derivative(uint32_t part, const Tangents& step, bool joint);

  const std::shared_ptr<const Trace> trace;
  const BuildRequest request;
  const PairParts parts;
  const std::vector<Program::FunctionResult> functions;
  /// Numbers of those tensors among a run's inputs that calls have saved, in order.
  const std::vector<uint32_t> saved_inputs;

 private:
  std::unique_ptr<Halves> cut(Program joint) const;
  bool can_fold() const;

  Choice expected_;  ///< which roots the last backward had gradients for
  static constexpr uint32_t kMostApart = 1 << 16;
  uint32_t apart_ = 0, next_apart_ = 16;  ///< runs
  std::map<Choice, std::unique_ptr<Halves>> halves_;
  Halves* whole_ = nullptr;
  std::map<std::tuple<uint32_t, Tangents, bool>, std::shared_ptr<Compiled>> derivatives_;
};

}  // namespace terra::graph
