// A region whose tape is walked part by part.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/autograd/node.h"
#include "graph/trace/program.h"

namespace terra::graph {

/// Divides what a region records on the symbolic tape into parts, in the order of time. For the parts behind a division
/// each tensor with a history is a leaf: a pass over one part ends there, and passes over earlier parts begin with what
/// it delivered. So whoever wants to see the whole gradient of a tensor on its way, a function of the program or a
/// hook, finds it between two parts, and all sums are added up in the order in which one pass would have added them.
class Parts {
 public:
  /// A tensor whose history is that of a result, in the part that it was computed in.
  struct Root {
    Tensor tensor;
    uint32_t part = 0;
    uint32_t spec = ProgramRoot::kInside;
    Tensor value = tensor;  ///< itself, whatever history it has by now
  };
  struct Target {
    Tensor leaf;  ///< that the part reads
    GradientTarget goes;
  };
  /// What one pass walks over, first part first.
  struct Part {
    std::vector<uint32_t> roots;  ///< numbers among all roots, in the order in which they were computed
    std::vector<Target> targets;
  };
  /// A result that other results of its part follow from.
  struct Interior {
    uint64_t made, read;  ///< sequence numbers of its node and of the first that reads it
  };

  Parts();
  ~Parts();
  Parts(const Parts&) = delete;

  /// The next part begins; `live` are the tensors that may be used in it.
  void divide(std::span<const Tensor> live);
  /// After a division: a tensor without history that is a result of a function of the program from here on.
  void follow_function(const Tensor& result);
  uint32_t count() const { return static_cast<uint32_t>(seams_.size()) + 1; }

  /// Where the history of a tensor lies; no tensor: with a function of the program.
  Root origin(const Tensor& t) const;
  /// The history that one in a later part stands for; none: that of a function of the program.
  autograd::Edge origin(autograd::Edge history) const;

  /// The history through which gradients come to a leaf that stands for what earlier parts made.
  std::optional<autograd::Edge> entrance(const Tensor& leaf) const;

  /// Finds all roots that passes over the parts begin at, given those of results (others are appended), and where each
  /// part hands its gradients on. `inputs`: leaves that ask for gradients, in the order of the targets, with their
  /// numbers. `spec_of`: numbers of the specs of what functions made.
  std::vector<Part> connect(std::vector<Root>& roots, std::span<const std::pair<Tensor, uint32_t>> inputs,
                            const std::map<const TensorImpl*, uint32_t>& spec_of);
  /// Found by connect().
  const std::vector<Interior>& interior() const { return interior_; }

 private:
  struct Passage;
  using Seam = std::vector<std::unique_ptr<Passage>>;

  Passage* passage_behind(const autograd::Node* node) const;
  void add_passage(const Tensor& t, bool of_function);

  std::vector<Seam> seams_;  ///< seams_[i] lies between parts i and i + 1
  std::map<const autograd::Node*, Passage*> by_node_;
  std::map<const TensorImpl*, Passage*> by_leaf_;
  std::vector<Interior> interior_;
};

}  // namespace terra::graph
