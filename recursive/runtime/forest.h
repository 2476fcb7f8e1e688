// The calls that structures ask for. What the host alone decides is walked before any tensor work; where a tensor
// decides which way a call goes, the walk goes on from there once it is computed: the *frontier*.
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "graph/ir/handle.h"
#include "recursive/batching/sub_graphs.h"

namespace terra::recursive {

using graph::HostValue;

/// Index of a call in its forest. Callers come before what they call, in the order of the program.
using CallId = uint32_t;
inline constexpr CallId kNoCall = ~0u;

struct Call {
  GraphId callee = kNoId;
  uint32_t path = 0;
  uint32_t row = 0;  ///< among the calls of its path
  CallId caller = kNoCall;
  uint32_t site = 0;    ///< which call of the caller's path it is
  uint32_t root = 0;    ///< of the structure: which one
  uint32_t depth = 0;   ///< calls that it is inside of
  uint32_t called = 0;  ///< in Forest::called: what it calls, in the order of its path
  uint32_t host = 0;    ///< where its slots begin
};

/// The walk is deeper than the host would let the program go.
struct TooDeep {};

class Forest {
 public:
  /// Walks the structure of a call of the root for each list of operands, one by input, as far as the host decides.
  /// Throws what host functions throw, and TooDeep beyond so many calls inside of each other. The graphs have to live
  /// as long as the forest grows.
  Forest(const SubGraphs& graphs, std::span<const std::vector<HostValue>> roots, uint32_t most_depth);

  /// A call that waits for numbers that its caller computes.
  struct Waiting {
    CallId caller;
    uint32_t site;
  };
  /// The number that a call gets for that input, if it has been computed.
  using Item = std::function<std::optional<Scalar>(const Waiting&, uint32_t input, Scalar::Kind)>;

  bool is_complete() const { return frontier_.empty(); }
  /// Walks on from all calls whose numbers are there. Throws as the constructor does.
  void advance(const Item& item);

  size_t size() const { return calls_.size(); }
  /// The host has read a tensor from the structure that requires grad.
  bool reads_gradients() const { return reads_gradients_; }
  const Call& operator[](CallId id) const { return calls_[id]; }
  const SubGraph& graph_of(const Call& call) const { return graphs_->of(call.callee); }
  /// kNoCall: it waits.
  CallId called(const Call& call, uint32_t site) const { return called_[call.called + site]; }
  const std::vector<CallId>& roots() const { return roots_; }
  /// The calls of a path, by row.
  const std::vector<CallId>& of_path(GraphId id, uint32_t path) const { return paths_[id][path]; }
  const HostValue& host(const Call& call, uint32_t slot) const { return host_[call.host + slot]; }

 private:
  class Walk;

  const SubGraphs* graphs_;
  uint32_t most_depth_;
  std::vector<Waiting> frontier_;
  std::vector<Call> calls_;
  std::vector<CallId> called_, roots_;
  std::vector<std::vector<std::vector<CallId>>> paths_;  // by graph and path
  std::vector<HostValue> host_;
  bool reads_gradients_ = false;
};

}  // namespace terra::recursive
