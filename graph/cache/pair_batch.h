// The backward of many runs of a pair at once.
//
//   for x in xs:
//       h = step(h, x)                    # runs one by one, since values decide
//       if score(h).item() < 0: h = start
//   loss.backward()                       # their backward halves wait for no value
//
// Gradients reach many nodes of one pair before any of them has to go on. What differs from run to run becomes the rows
// of a batch, what all have in common (weights) stays as it is. Products for the gradient of a weight are left to the
// pass, which makes one of many rows.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/autograd/batched_backward.h"
#include "graph/cache/halves.h"

namespace terra::graph {

/// A backward half that computes many rows, made by the recursive tier's rules.
class RowsOfBackward {
 public:
  virtual ~RowsOfBackward() = default;

  /// How a gradient comes out.
  enum class Form : uint8_t {
    None,     ///< it is undefined
    Rows,     ///< one for each run: [runs, ...]
    Sum,      ///< the sum over all runs
    Product,  ///< of a matrix: two matrices, left and right, of which left.T @ right is the sum
  };
  virtual Form form(size_t gradient) const = 0;
  /// Inputs as those of the graph: what all share as it is, anything else [runs, ...] and row by row. What is made
  /// stands gradient by gradient, a product as two tensors.
  virtual std::vector<Tensor> run(std::span<const Tensor> inputs, int64_t runs) = 0;
};

/// What the runs of a batch have in common.
struct SharedByRuns {
  std::vector<bool> inputs;     ///< by graph input: it is the same tensor for all
  std::vector<bool> undefined;  ///< by graph input: a gradient that hasn't come to any
  std::vector<bool> gradients;  ///< by gradient: only the sum of all is asked for
  friend auto operator<=>(const SharedByRuns&, const SharedByRuns&) = default;
};
/// Null where the program can't compute many rows. Of the recursive tier; null: there is none.
inline std::unique_ptr<RowsOfBackward> (*make_rows_of_backward)(const Program& backward,
                                                                const SharedByRuns& shared) = nullptr;

/// Is told that a batch came out otherwise than its runs one by one, which are what the pass goes on with. May be null.
inline void (*on_batch_error)(const std::string& name) = nullptr;

/// How many runs have gone backward in batches, and in how many.
struct PairBatchCounts {
  uint64_t runs = 0, batches = 0;
};
inline constinit PairBatchCounts pair_batch_counts;

class PairNode;

/// Of the nodes of one part of a pair.
class PairBatch final : public autograd::BatchedBackward {
 public:
  /// `backward`: as it was cut, before it is fused.
  explicit PairBatch(const Program& backward);

  Made apply(std::span<autograd::Node* const> nodes, std::span<const std::vector<Tensor>> grads) override;
  /// False: its nodes are better applied one by one.
  bool pays() const { return pays_; }
  /// Nodes of this pair have often been passed.
  bool is_busy() const;

 private:
  struct Row {
    PairNode* node;
    size_t number;               ///< among the nodes
    std::vector<Tensor> grads;   ///< by root
    std::vector<Tensor> inputs;  ///< by graph input
  };
  struct Rows {
    std::unique_ptr<RowsOfBackward> graph;  ///< null: it can't be made
    uint64_t runs = 0;
  };
  using Product = std::pair<autograd::Edge, autograd::WeightRows>;

  static void apply_alone(std::span<const Row> rows, Made& made);
  bool run(std::span<const Row> rows, Made& made);
  std::map<SharedByRuns, Rows>::value_type* rows_graph(std::span<const Row> rows);
  SharedByRuns shared_by(std::span<const Row> rows) const;
  std::vector<const void*> common_to(const Row& row) const;
  Tensor gathered(std::span<const Row> rows, size_t input, bool shared) const;
  void hand_out(const RowsOfBackward& graph, std::span<const Tensor> found, std::span<const Row> rows,
                Made& made) const;
  Tensor arranged(size_t gradient, const Tensor& made, int64_t row, bool own) const;
  static bool is_right(std::span<const Row> rows, std::span<const Product> products, const Made& made);

  const Program& backward_;
  bool pays_ = true;
  uint64_t passed_ = 0;  ///< nodes
  std::map<SharedByRuns, Rows> made_;
  const SharedByRuns* last_ = nullptr;
};

}  // namespace terra::graph
