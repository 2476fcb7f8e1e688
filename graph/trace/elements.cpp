#include "graph/trace/elements.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace terra::graph {
namespace {

/// Calls visit(place in memory) for every element.
template <class F>
void each_place(const Tensor& t, size_t dim, int64_t place, F&& visit) {
  if (dim == t.rank()) return visit(static_cast<size_t>(place));
  for (int64_t i = 0; i < t.sizes()[dim]; ++i) each_place(t, dim + 1, place + i * t.strides()[dim], visit);
}

}  // namespace

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

bool have_common_elements(const std::vector<Tensor>& views) {
  for (const Tensor& view : views)
    if (may_share_elements(view.sizes(), view.strides())) return true;
  if (views.size() < 2) return false;
  std::vector<bool> taken;
  bool common = false;
  for (const Tensor& view : views) {
    each_place(view, 0, view->offset, [&](size_t place) {
      if (place >= taken.size()) taken.resize(place + 1, false);
      common = common || taken[place];
      taken[place] = true;
    });
  }
  return common;
}

}  // namespace terra::graph
