// What one iteration did, in order.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "graph/coexec/location.h"
#include "graph/coexec/loop_stack.h"

namespace terra::coexec {

/// What a record is, by number. Two records are the same when their type, their attributes and the places that they are
/// called from are, in the same loop.
using IdentityId = uint32_t;

/// Numbers what records are.
class Identities {
 public:
  /// `type`: the op, or what else happened to a tensor. `attributes`: its arguments that aren't tensors.
  IdentityId number(std::string type, std::string attributes, CallPath place) {
    const auto next = static_cast<IdentityId>(numbers_.size());
    return numbers_.try_emplace({place, std::move(type), std::move(attributes)}, next).first->second;
  }

 private:
  std::map<std::tuple<CallPath, std::string, std::string>, IdentityId> numbers_;
};

/// Where a record's operand comes from: a result of an earlier record of the iteration, or outside of it.
struct Operand {
  static constexpr uint32_t kOutside = ~0u;
  uint32_t record = kOutside;  ///< by position in the trace
  uint32_t result = 0;
};

struct Record {
  IdentityId identity = 0;
  std::vector<LoopRound> loops;  ///< inside of the iteration
  std::vector<Operand> operands;
};

using LinearTrace = std::vector<Record>;

}  // namespace terra::coexec
