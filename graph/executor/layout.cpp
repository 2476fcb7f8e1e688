#include "graph/executor/layout.h"

#include "engine/errors/errors.h"
#include "engine/ops/inference.h"
#include "engine/tensor/epoch.h"
#include "graph/ir/arg_list.h"

namespace terra::graph {

int64_t Place::numel() const {
  int64_t n = 1;
  for (int64_t s : sizes) n *= s;
  return n;
}

bool Place::is_contiguous() const {
  const View v{nullptr, sizes.data(), strides.data(), static_cast<int32_t>(sizes.size()), dtype};
  return v.is_contiguous();
}

bool same_place(const Place& a, const Place& b) {
  if (a.buffer != b.buffer || a.offset != b.offset || a.dtype != b.dtype || !(a.sizes == b.sizes)) return false;
  for (size_t d = 0; d < a.sizes.size(); ++d)
    if (a.sizes[d] > 1 && a.strides[d] != b.strides[d]) return false;
  return true;
}

bool place_view(const Op& view, const Place& base, std::span<const NodeArg> attributes, Place& result) {
  // In a graph it is of the elements in row-major order.
  if (view.name == "as_strided" && !base.is_contiguous()) return false;
  // A tensor without memory: view rules read dtype, sizes, strides and offset only.
  Tensor t = Tensor::symbolic({base.dtype, base.sizes, false, {}}, nullptr);
  lay_out(*t, base.strides, 0);
  std::vector<NodeArg> args{Use{0}};
  args.insert(args.end(), attributes.begin(), attributes.end());
  ArgList list(args, [&](ValueId) { return t; });
  std::vector<ResultMeta> metas;
  try {
    Inference inference(view, list.args(), base.dtype, metas);
    view.shape(inference);
  } catch (const Error&) {
    return false;
  }
  result = {base.buffer, base.offset + metas[0].offset * static_cast<int64_t>(size_of(metas[0].dtype)), metas[0].dtype,
            metas[0].sizes, metas[0].strides};
  return true;
}

}  // namespace terra::graph
