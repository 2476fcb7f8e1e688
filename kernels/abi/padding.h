// Where elements that a tensor is padded with from within come from.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string_view>

namespace terra {

/// How a dimension goes on beyond its ends: as in a mirror at the last element, with the last element, or round.
enum class PaddingRule : uint8_t { Reflect, Replicate, Circular };

inline PaddingRule padding_rule(std::string_view mode) {
  return mode == "reflect"     ? PaddingRule::Reflect
         : mode == "replicate" ? PaddingRule::Replicate
                               : PaddingRule::Circular;
}

/// The place in a dimension of n > 0 elements that place i of the padded one shows. Negative padding crops; a circle is
/// what that leaves.
inline int64_t place_within(PaddingRule rule, int64_t n, int64_t before, int64_t after, int64_t i) {
  if (rule == PaddingRule::Circular) {
    const int64_t first = std::max<int64_t>(0, -before), left = n - first - std::max<int64_t>(0, -after);
    const int64_t from_first = i + std::min<int64_t>(0, -before);
    return first + (from_first % left + left) % left;
  }
  const int64_t place = i - before, mirrored = place < 0 ? -place : place;
  return rule == PaddingRule::Replicate ? std::clamp<int64_t>(place, 0, n - 1)
                                        : std::min(mirrored, 2 * (n - 1) - mirrored);
}

}  // namespace terra
