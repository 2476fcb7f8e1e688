// Sums of weighted elements, along a dimension or of images, and their gradients. Each sum adds its taps in order
// wherever it lies.
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "kernels/abi/dtype_dispatch.h"
#include "kernels/abi/parallel.h"
#include "kernels/abi/rounding.h"
#include "kernels/cpu/channels_last.h"
#include "kernels/cpu/families.h"
#include "kernels/cpu/indirect.h"
#include "kernels/cpu/isa/grid_taps.h"
#include "kernels/cpu/isa/rows.h"
#include "kernels/cpu/subview.h"
#include "kernels/cpu/written.h"

namespace terra::cpu {
namespace {

/// Lines along a dimension, in the order of memory: `outer` of them, of rows of `inner` elements.
struct Lines {
  int64_t outer = 1, inner = 1;

  Lines(const View& v, int dim, bool channels_last) {
    const bool of_channels = channels_last && dim == 1;
    for (int d = 0; d < v.rank; ++d) {
      if (d == dim) continue;
      const bool before = channels_last && d == 1 ? false : of_channels || d < dim;
      (before ? outer : inner) *= v.sizes[d];
    }
  }
};

/// Whether a kernel from `in` to `out` computes where images lie channels last.
bool goes_channels_last(const View& in, const View& out) {
  return lies_channels_last(out) && (is_channels_last(in) || is_channels_last(out));
}

/// The places in `index`, row by row, all of which are of `size` along dim.
const int64_t* places_in(const View& index, int dim, int64_t size, Scratch& scratch) {
  int64_t* places = scratch.take<int64_t>(index.numel());
  if (scratch.counting()) return places;
  pack(index, places);
  check_indices(places, index.numel(), {dim, size, false, KernelError::Kind::Index, out_of_range_in_self});
  return places;
}

/// The taps in parameters `first` and first + 1, of lines of `size` elements.
template <class T>
Taps<T> taps_of(const KernelCall& call, int first, int dim, int64_t size, Scratch& scratch) {
  const View& index = call.view(first);
  return {places_in(index, dim, size, scratch), scratch.contiguous<T>(call.view(first + 1)), index.sizes[0],
          index.sizes[1]};
}

/// (self, dim, index, weight)
void resample_in(const KernelCall& call, Scratch& scratch) {
  const View &self = call.view(0), &out = call.out[0];
  const int dim = wrapped(call.integer(1), self.rank);
  with_float(out.dtype, [&]<class T>(T) {
    const bool last = goes_channels_last(self, out);
    const T* in = in_order<T>(self, last, scratch);
    const Written<T> written(out, last, scratch);
    const Taps<T> taps = taps_of<T>(call, 2, dim, self.sizes[dim], scratch);
    if (scratch.counting()) return;
    const Lines lines(out, dim, last);
    const ResampleLines<T> loops = TERRA_ROWS(resample_lines, ResampleLines, T);
    const int64_t from = self.sizes[dim] * lines.inner, to = taps.size * lines.inner;
    const int64_t grain = std::max<int64_t>(1, grain_for_cost(2) / std::max<int64_t>(1, taps.taps * lines.inner));
    parallel_for(lines.outer * taps.size, grain, [&](int64_t begin, int64_t end) {
      while (begin < end) {
        const int64_t line = begin / taps.size, first = begin % taps.size;
        const int64_t some = std::min(taps.size - first, end - begin);
        loops.sums(taps, in + line * from, lines.inner, first, first + some, written.data + line * to);
        begin += some;
      }
    });
    written.finish();
  });
}

/// (grad, dim, size, index, weight)
void resample_backward_in(const KernelCall& call, Scratch& scratch) {
  const View &gradient = call.view(0), &out = call.out[0];
  const int dim = wrapped(call.integer(1), gradient.rank);
  with_float(out.dtype, [&]<class T>(T) {
    const bool last = goes_channels_last(gradient, out);
    const T* grad = in_order<T>(gradient, last, scratch);
    const Written<T> written(out, last, scratch);
    const Taps<T> taps = taps_of<T>(call, 3, dim, out.sizes[dim], scratch);
    if (scratch.counting()) return;
    const Lines lines(out, dim, last);
    const ResampleLines<T> loops = TERRA_ROWS(resample_lines, ResampleLines, T);
    const int64_t from = taps.size * lines.inner, to = out.sizes[dim] * lines.inner;
    const int64_t grain = std::max<int64_t>(1, grain_for_cost(2) / std::max<int64_t>(1, taps.taps * from));
    parallel_for(lines.outer, grain, [&](int64_t begin, int64_t end) {
      std::fill(written.data + begin * to, written.data + end * to, T{0});
      for (int64_t line = begin; line < end; ++line)
        loops.add_to(taps, grad + line * from, lines.inner, written.data + line * to);
    });
    written.finish();
  });
}

// ---- images ----------------------------------------------------------------------------------------------------

/// Images [n, c, pixels] and their taps [n, taps, places].
struct Sampling {
  int64_t images, channels, pixels, taps, places;
  const int64_t* index;

  /// `channels`: the view of something that has all of them.
  Sampling(const View& channels, const View& index, int64_t pixels, Scratch& scratch)
      : images(index.sizes[0]),
        channels(channels.sizes[1]),
        pixels(pixels),
        taps(index.sizes[1]),
        places(index.sizes[2]),
        index(places_in(index, 2, pixels, scratch)) {}
  int64_t first_tap(int64_t image) const { return image * taps * places; }
  /// Calls body(number) for the `count` pieces of images, of so many elements of work each.
  void for_each(int64_t count, int64_t work, const auto& body) const {
    parallel_for(count, std::max<int64_t>(1, grain_for_cost(4) / std::max<int64_t>(1, work)),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i) body(i);
                 });
  }
};

/// Calls body(image, first place, number of places) for blocks of places, of so many elements of work each.
void for_place_blocks(const Sampling& s, int64_t work, const auto& body) {
  constexpr int64_t kPlaces = 1024;
  const int64_t blocks = (s.places + kPlaces - 1) / kPlaces;
  s.for_each(s.images * blocks, work * std::min(kPlaces, s.places), [&](int64_t number) {
    const int64_t first = number % blocks * kPlaces;
    body(number / blocks, first, std::min(kPlaces, s.places - first));
  });
}

/// (images, index, weight)
void sample_in(const KernelCall& call, Scratch& scratch) {
  const View &images = call.view(0), &out = call.out[0];
  with_float(out.dtype, [&]<class T>(T) {
    const T *in = scratch.contiguous<T>(images), *weight = scratch.contiguous<T>(call.view(2));
    const Sampling s(images, call.view(1), images.sizes[2], scratch);
    if (scratch.counting()) return;
    const auto sums = TERRA_ROWS(sample_loops, SampleLoops, T).sums;
    if (s.taps == 0) std::fill_n(out.as<T>(), out.numel(), T{0});
    for_place_blocks(s, s.taps * s.channels, [&](int64_t image, int64_t first, int64_t count) {
      const int64_t tap = s.first_tap(image) + first, plane = image * s.channels;
      sums({s.index + tap, weight + tap, s.taps, s.places}, count, in + plane * s.pixels, s.pixels, s.channels,
           out.as<T>() + plane * s.places + first);
    });
  });
}

/// (grad, index, weight, pixels)
void sample_image_gradient_in(const KernelCall& call, Scratch& scratch) {
  const View &gradient = call.view(0), &out = call.out[0];
  with_float(out.dtype, [&]<class T>(T) {
    const T *grad = scratch.contiguous<T>(gradient), *weight = scratch.contiguous<T>(call.view(2));
    const Sampling s(gradient, call.view(1), out.sizes[2], scratch);
    if (scratch.counting()) return;
    s.for_each(s.images * s.channels, s.taps * s.places + s.pixels, [&](int64_t plane) {
      const int64_t first = s.first_tap(plane / s.channels);
      T* pixels = out.as<T>() + plane * s.pixels;
      const T* from = grad + plane * s.places;
      std::fill_n(pixels, s.pixels, T{0});
      for (int64_t t = 0; t < s.taps; ++t) {
        const int64_t* index = s.index + first + t * s.places;
        const T* factor = weight + first + t * s.places;
        for (int64_t p = 0; p < s.places; ++p) pixels[index[p]] += factor[p] * from[p];
      }
    });
  });
}

/// (grad, images, index)
void sample_weight_gradient_in(const KernelCall& call, Scratch& scratch) {
  const View &gradient = call.view(0), &images = call.view(1), &out = call.out[0];
  with_float(out.dtype, [&]<class T>(T) {
    const T *grad = scratch.contiguous<T>(gradient), *in = scratch.contiguous<T>(images);
    const Sampling s(images, call.view(2), images.sizes[2], scratch);
    if (scratch.counting()) return;
    const auto weights = TERRA_ROWS(sample_loops, SampleLoops, T).weights;
    for_place_blocks(s, s.taps * s.channels, [&](int64_t image, int64_t first, int64_t count) {
      const int64_t tap = s.first_tap(image) + first, plane = image * s.channels;
      weights({s.index + tap, nullptr, s.taps, s.places}, count, grad + plane * s.places + first, in + plane * s.pixels,
              s.pixels, s.channels, out.as<T>() + tap);
    });
  });
}

/// Numbers converted to T and back, if they are others.
template <class T, class From>
const T* converted(const From* from, int64_t n, Scratch& scratch) {
  if constexpr (std::is_same_v<T, From>) {
    return from;
  } else {
    T* const to = scratch.take<T>(n);
    for (int64_t i = 0; !scratch.counting() && i < n; ++i) to[i] = T(from[i]);
    return to;
  }
}

/// (grid, size, mode, padding, corners, orders, rounded?)
void grid_taps_in(const KernelCall& call, Scratch& scratch) {
  const View &grid = call.view(0), &index = call.out[0], &weight = call.out[1];
  const auto run = [&]<class T, class Place>(T, Place, const auto& taps) {
    const Place* const places = converted<Place>(scratch.contiguous<T>(grid), grid.numel(), scratch);
    constexpr bool rounds = !std::is_same_v<T, Place>;
    Place* rounded = rounds ? scratch.take<Place>(weight.numel()) : nullptr;
    if (scratch.counting()) return;
    if constexpr (!rounds) rounded = weight.as<T>();
    GridRule rule{.mode = static_cast<GridRule::Mode>(call.integer(2)),
                  .padding = static_cast<GridRule::Padding>(call.integer(3)),
                  .corners = call.flag(4),
                  .axes = static_cast<int>(call.ints(1).size())};
    int64_t step = 1;
    for (size_t axis = call.ints(1).size(); axis-- > 0; step *= rule.sizes[axis]) {
      rule.sizes[axis] = call.ints(1)[axis];
      rule.steps[axis] = step;
      rule.orders[axis] = std::min<int64_t>(call.ints(5)[axis], 4);  // those that follow are 0 as well
    }
    const int64_t n = grid.sizes[1], all = index.sizes[1] * n;
    constexpr int64_t kPlaces = 1024;
    const int64_t blocks = (n + kPlaces - 1) / kPlaces;
    parallel_for(grid.sizes[0] * blocks, std::max<int64_t>(1, grain_for_cost(40) / kPlaces),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i) {
                     const int64_t image = i / blocks, first = i % blocks * kPlaces, at = image * all + first;
                     taps(rule, places + (image * n + first) * rule.axes, std::min(kPlaces, n - first),
                          index.as<int64_t>() + at, rounded + at, n);
                   }
                 });
    if constexpr (rounds)
      for (int64_t i = 0; i < weight.numel(); ++i) weight.as<T>()[i] = static_cast<T>(rounded[i]);
  };
  const auto run_rounding = [&]<class Half>(Half) {
    run(float{}, Rounding<Half>(), TERRA_ISA::grid_taps<Rounding<Half>>);
  };
  if (call.has(6)) return call.args[6].dtype == DType::F16 ? run_rounding(Half()) : run_rounding(BFloat16());
  with_float(grid.dtype, [&]<class T>(T) { run(T{}, T{}, TERRA_ROWS(sample_loops, SampleLoops, T).grid_taps); });
}

constexpr Kernel kKernels[] = {
    scratch_kernel<grid_taps_in>("grid_taps"),
    scratch_kernel<sample_in>("sample"),
    scratch_kernel<sample_image_gradient_in>("sample_image_gradient"),
    scratch_kernel<sample_weight_gradient_in>("sample_weight_gradient"),
    strided_kernel<resample_in>("resample"),
    strided_kernel<resample_backward_in>("resample_backward"),
};

}  // namespace

std::span<const Kernel> resample_kernels() { return kKernels; }

}  // namespace terra::cpu
