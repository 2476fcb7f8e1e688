// A node that stands for many calls.
#pragma once
#include <atomic>
#include <unordered_map>
#include <vector>

#include "engine/autograd/node.h"

namespace terra::autograd {

/// Where a program looks at what passes between the calls, they are made again, each with a node of its own: it is then
/// unfolded, and those nodes take its place. It keeps numbers for them: behind all nodes that there are when it is
/// made, before all that will be.
class FoldedNode : public Node {
 public:
  static inline std::atomic<int64_t> alive = 0;

  FoldedNode() {
    ++alive;
    take_places();
  }
  ~FoldedNode() override { --alive; }

  /// What stands for memory of the program where calls are made again, and the memory that it stands for.
  using StandIns = std::unordered_map<const Storage*, Ref<Storage>>;

  /// Nodes of calls have taken its place: edge i is the history of result i.
  bool is_replaced() const { return replaced_; }
  /// By result, whether its gradient comes to one of these edges.
  virtual std::vector<bool> lead_to(const std::vector<bool>& edges_wanted) const;

 protected:
  static constexpr uint64_t kPlaces = uint64_t{1} << 28;

  /// Anew: what it hangs on has become more.
  void take_places();
  /// The place with that number of `of` that this node has of its own from here on, and all before it. Those of the
  /// first come first.
  void take_places_of(const FoldedNode& other, uint32_t number, uint32_t of);
  /// The nodes of calls that were made again and lead to these histories, in the order of the calls.
  std::vector<Node*> nodes_behind(const std::vector<Edge>& histories) const;
  /// The nodes of those calls have saved the program's memory, as it is by now.
  void give_back(const std::vector<Edge>& histories, const StandIns& memory) const;
  /// Hooks on result `index` of a node go to the node of the call that made it, where gradients that calls have saved
  /// it for come as well. Their numbers stay.
  static void hand_hooks(Node& from, uint32_t index, const Edge& call);
  /// From here on the gradients of the results are handed on to these, one for each. There is a number free behind that
  /// of each node.
  void replace_by(std::vector<Edge> histories);

 private:
  uint64_t first_place_ = 0, places_ = 0;
  bool replaced_ = false;
};

/// A node that stands for several parts of a tape (Node::come_apart) has one of these.
class PartedNodes {
 public:
  static inline std::atomic<int64_t> alive = 0;

  PartedNodes() { ++alive; }
  ~PartedNodes() { --alive; }
  PartedNodes(const PartedNodes&) = delete;
};

}  // namespace terra::autograd
