// Images and volumes that lie pixel by pixel.
#pragma once
#include <algorithm>

#include "kernels/abi/exact_mode.h"
#include "kernels/abi/view.h"
#include "kernels/cpu/iteration.h"
#include "kernels/cpu/scratch.h"

namespace terra::cpu {

/// True iff the view has a batch, channels and pixels behind them, and lies without gaps with the channels of each
/// pixel together.
inline bool lies_channels_last(const View& v) {
  if (v.rank < 4) return false;
  int64_t expected = 1;
  const auto follows = [&](int d) {
    const bool as_expected = v.sizes[d] == 1 || v.strides[d] == expected;
    expected *= v.sizes[d];
    return as_expected;
  };
  if (!follows(1)) return false;
  for (int d = v.rank - 1; d >= 2; --d)
    if (!follows(d)) return false;
  return follows(0);
}

/// True iff it doesn't lie row by row as well.
inline bool is_channels_last(const View& v) { return !v.is_contiguous() && lies_channels_last(v); }

/// Whether a kernel computes in channels last. Not in exact mode: its bits follow from the layout, and a graph may have
/// laid out the same elements otherwise.
inline bool computes_channels_last(const View& view) { return !exact_mode() && is_channels_last(view); }

/// The view's elements channels last: its own memory if they lie so, else a copy in the scratch.
template <class T>
const T* channels_last(const View& view, Scratch& scratch) {
  if (lies_channels_last(view)) return view.as<const T>();
  T* copy = scratch.take<T>(view.numel());
  if (scratch.counting()) return copy;
  int64_t sizes[kMaxViewRank], strides[kMaxViewRank];
  std::copy_n(view.sizes, view.rank, sizes);
  std::copy_n(view.strides, view.rank, strides);
  std::rotate(sizes + 1, sizes + 2, sizes + view.rank);
  std::rotate(strides + 1, strides + 2, strides + view.rank);
  pack(View{view.data, sizes, strides, view.rank, view.dtype}, copy);
  return copy;
}

/// The view's elements channels last, or else row by row.
template <class T>
const T* in_order(const View& view, bool last, Scratch& scratch) {
  return last ? channels_last<T>(view, scratch) : scratch.contiguous<T>(view);
}

}  // namespace terra::cpu
