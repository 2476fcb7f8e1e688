// The calls that structures ask for, walked before any tensor work.
#pragma once
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
  /// Walks the structure of a call of the root for each list of operands, one by input. Throws what host functions
  /// throw, and TooDeep beyond so many calls inside of each other.
  Forest(const SubGraphs& graphs, std::span<const std::vector<HostValue>> roots, uint32_t most_depth);

  size_t size() const { return calls_.size(); }
  /// The host read a tensor from the structure that requires grad.
  bool reads_gradients() const { return reads_gradients_; }
  const Call& operator[](CallId id) const { return calls_[id]; }
  CallId called(const Call& call, uint32_t site) const { return called_[call.called + site]; }
  const std::vector<CallId>& roots() const { return roots_; }
  /// The calls of a path, by row.
  const std::vector<CallId>& of_path(GraphId id, uint32_t path) const { return paths_[id][path]; }
  const HostValue& host(const Call& call, uint32_t slot) const { return host_[call.host + slot]; }

 private:
  class Walk;

  std::vector<Call> calls_;
  std::vector<CallId> called_, roots_;
  std::vector<std::vector<std::vector<CallId>>> paths_;  // by graph and path
  std::vector<HostValue> host_;
  bool reads_gradients_ = false;
};

}  // namespace terra::recursive
