// A graph that calls itself, run for many calls at once: what the frame tier and C++ programs use.
//
//   Recursion encode(table, table->id_of("encode"));
//   std::vector<Tensor> h = encode.invoke({Handle(tree), W, U});     // results, with a history
//
// See DESIGN section 7; the unit of batching is the call (recursive/README.md).
#pragma once
#include <map>
#include <memory>
#include <vector>

#include "recursive/ir/sub_graph.h"
#include "recursive/runtime/run.h"

namespace terra::recursive {

struct RecursionOptions {
  bool batched = true;        ///< false: one call after the other, for comparison
  uint32_t most_depth = ~0u;  ///< TooDeep beyond so many calls inside of each other
};

/// What has been done so far.
struct RecursionCounts {
  uint64_t invocations = 0, calls = 0, batches = 0;
  std::vector<std::string> one_by_one;  ///< why paths don't run many calls at once
};

class Recursion : public std::enable_shared_from_this<Recursion> {
 public:
  /// Throws Error for graphs that can't be run by calls: that assert, loop, or let the host read what tensors hold.
  static std::shared_ptr<Recursion> make(std::shared_ptr<const graph::GraphTable> table, GraphId root);
  /// Of one that is written by hand. Its operands are the declared ones.
  static std::shared_ptr<Recursion> make(const terra::SubGraph& root);

  /// Operands by input of the root: handles, numbers, tensors. One tensor for each result; where gradients are
  /// recorded and something requires grad, the results have a history. Throws what host functions throw, TooDeep, and
  /// Error for ops that calls can't do (random draws, writes): then nothing has been done.
  std::vector<Tensor> invoke(const std::vector<HostValue>& operands, const RecursionOptions& options = {});
  /// Many invocations at once.
  std::vector<std::vector<Tensor>> invoke_all(std::vector<std::vector<HostValue>> operands,
                                              const RecursionOptions& options = {});

  const SubGraphs& graphs() const { return graphs_; }
  const RecursionCounts& counts() const { return *counts_; }

 private:
  Recursion(std::shared_ptr<const graph::GraphTable> table, GraphId root, const std::vector<bool>& own,
            std::shared_ptr<RecursionCounts> counts)
      : table_(std::move(table)), graphs_(table_, root, own), counts_(std::move(counts)) {}
  Recursion& with_own(const std::vector<bool>& own);
  StagedPath& staged(const SubGraph& of, uint32_t path, const Wanted& wanted, bool batched);

  using Key = std::tuple<GraphId, uint32_t, Wanted, bool>;
  const std::shared_ptr<const graph::GraphTable> table_;
  const SubGraphs graphs_;
  std::vector<Tensor> outside_;                                     // operands behind those of the caller
  std::map<std::vector<bool>, std::shared_ptr<Recursion>> others_;  // by inputs that invocations don't share
  std::map<Key, std::unique_ptr<StagedPath>> staged_;
  const std::shared_ptr<RecursionCounts> counts_;  // of the others as well
};

}  // namespace terra::recursive
