#include "graph/trace/elements.h"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

namespace terra::graph {

std::pair<int64_t, int64_t> extent(const TraceInput& in) {
  int64_t first = in.offset, last = in.offset;
  for (size_t d = 0; d < in.meta.sizes.size(); ++d) {
    if (in.meta.sizes[d] == 0) return {in.offset, in.offset};
    const int64_t reach = (in.meta.sizes[d] - 1) * in.strides[d];
    (reach < 0 ? first : last) += reach;
  }
  return {first, last + 1};
}

bool may_share_elements(const Dims& sizes, const Dims& strides) {
  std::vector<std::pair<int64_t, int64_t>> steps;  // stride, size
  for (size_t d = 0; d < sizes.size(); ++d)
    if (sizes[d] > 1) steps.emplace_back(std::abs(strides[d]), sizes[d]);
  std::sort(steps.begin(), steps.end());
  int64_t reach = 0;
  for (const auto& [stride, size] : steps) {
    if (stride <= reach) return true;
    reach += (size - 1) * stride;
  }
  return false;
}

}  // namespace terra::graph
