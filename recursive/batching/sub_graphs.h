// What there is to know of graphs that call themselves before any of them runs: the paths through each, and which of
// its inputs are the same in all calls.
//
//   def encode(tree):                          @encode, two paths:
//       if tree.is_leaf:                         0  no call
//           return leaf(words[tree.word])        1  call 0: @encode(tree.left), call 1: @encode(tree.right)
//       return join(encode(tree.left), encode(tree.right))
//
// A branch that goes by what a tensor holds is a graph of its own, which the path calls: its way is known when the
// tensor is.
//
//   def grow(h):                               @grow, one path:
//       if (stop(h) > 0).item():               0  call 0: @grow/0(item, h)
//           return h                           @grow/0, two paths: no call, and call 0: @grow(step(h))
//       return grow(step(h))
#pragma once
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "graph/ir/graph_table.h"

namespace terra::recursive {

using graph::GraphId;
using graph::kNoId;
using graph::ValueId;

/// What an input of a SubGraph is to its calls.
enum class InputKind : uint8_t {
  Host,    ///< known before any call runs: a handle or a number, when the structure has been walked; a tensor
  Shared,  ///< a tensor that every call hands down as it got it: a weight
  Row,     ///< a tensor that is each call's own
};

struct SubGraphInput {
  InputKind kind = InputKind::Row;
  uint32_t root = 0;  ///< Shared: which input of the root it is
};

/// Values that the host decides have slots, which a walk fills.
inline constexpr uint32_t kNoSlot = ~0u;
/// In place of a function: a number that a tensor holds gets its slot, which stays empty.
inline constexpr uint32_t kItem = ~0u;

struct HostStep {
  uint32_t function = 0;                ///< its number, or kItem
  std::vector<uint32_t> args, results;  ///< slots
};

/// What the host decides for a call before its tensor work: straight pieces of host work, a branch behind each.
struct HostBlock {
  std::vector<HostStep> steps;
  uint32_t selector = kNoSlot;  ///< a number that says which of `next` comes; the last one for all others
  std::vector<uint32_t> next;   ///< blocks; none where a path begins
  uint32_t path = 0;            ///< where none comes
};

/// One call with all branches taken: nodes in the order of the program, without switches.
struct Path {
  graph::Graph body;
  std::vector<uint32_t> calls;  ///< which nodes of the body call
  std::vector<uint32_t> slots;  ///< by value of the body
  uint32_t used_slots = 0;
  std::vector<uint32_t> items;  ///< slots of numbers that tensors hold, ascending: no walk fills them

  uint32_t slot(ValueId id) const { return id < slots.size() ? slots[id] : kNoSlot; }
  bool is_item(ValueId id) const { return std::binary_search(items.begin(), items.end(), slot(id)); }
};

/// A graph of the table that takes part in the recursion. Its inputs that the host decides have the first slots.
struct SubGraph {
  GraphId id = kNoId;
  std::string name;
  std::vector<SubGraphInput> inputs;
  std::vector<graph::ValueMeta> results;
  std::vector<HostBlock> blocks;  ///< the first one is where calls begin
  std::vector<Path> paths;
};

/// The root and all that it calls, by GraphId; branches that go by what tensors hold have numbers behind those of the
/// table. Throws Unbatchable where the host is given what tensors hold.
class SubGraphs {
 public:
  /// `own`: inputs of the root that differ from invocation to invocation; none for those behind its end.
  SubGraphs(std::shared_ptr<const graph::GraphTable> table, GraphId root, const std::vector<bool>& own = {});

  const SubGraph& root() const { return *of_[root_]; }
  const SubGraph& of(GraphId id) const { return *of_[id]; }
  bool has(GraphId id) const { return of_[id] != nullptr; }
  GraphId size() const { return static_cast<GraphId>(of_.size()); }
  /// Ways are chosen by what tensors hold.
  bool have_items() const;
  /// The host reads tensors from the structure.
  bool read_tensors() const;

 private:
  void add(GraphId id);
  const graph::Graph& graph(GraphId id) const;
  GraphId branch_of(const graph::Node& choice, const graph::Graph& around, const std::string& caller);
  template <class F>
  bool is_any_path(F&& f) const;
  void find_shared_inputs(const std::vector<bool>& own);

  const std::shared_ptr<const graph::GraphTable> table_;
  const GraphId root_;
  std::vector<std::unique_ptr<SubGraph>> of_;
  std::vector<std::unique_ptr<graph::Graph>> branches_;
  std::map<const graph::Node*, GraphId> numbers_;  ///< of branches
};

/// Why calls can't run many at a time.
struct Unbatchable {
  std::string why;
};

}  // namespace terra::recursive
