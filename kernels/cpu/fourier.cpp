// Discrete Fourier transforms along dimensions: several lines in the lanes of vectors; few or long lines by Eigen's
// kissfft; lines whose length has a large prime factor by Bluestein's convolution. Factors of normalisation are the
// callers'.
#include <algorithm>
#include <bit>
#include <climits>
#include <complex>
#include <map>
#include <memory>
#include <numbers>
#include <set>
#include <unsupported/Eigen/FFT>
#include <vector>

#include "kernels/abi/dtype_dispatch.h"
#include "kernels/cpu/along.h"
#include "kernels/cpu/copy.h"
#include "kernels/cpu/families.h"
#include "kernels/cpu/fourier_groups.h"

namespace terra::cpu {

namespace {

/// The sum of the prime factors above 5 of a length, beyond which a convolution is faster: they cost kissfft the
/// product with the length.
constexpr int64_t kMostByFactors = 31;
/// An element's share of a line, in quarter nanoseconds, by itself and in a lane.
constexpr int64_t kCost = 40, kLaneCost = 10;
/// Lines as long as that don't fit the caches in lanes; fewer lines than that leave most lanes empty.
constexpr int64_t kLongInLanes = 1 << 14, kFewInLanes = 3;

bool has_large_factors(int64_t n) {
  int64_t cost = 0;
  for (int64_t p = 2; p <= kMostByFactors; ++p)
    for (; n % p == 0; n /= p) cost += p > 5 ? p : 0;
  return n > 1 || cost > kMostByFactors;
}

/// A length of at least that with small factors only.
int64_t smooth_length(int64_t least) {
  int64_t best = INT64_MAX;
  for (const int64_t odd : {1, 3, 5, 9, 15})
    best = std::min(best, odd * static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>((least + odd - 1) / odd))));
  return best;
}

/// kissfft with its plans; it starts anew when they have become too many.
template <class R>
Eigen::FFT<R>& plans_for(int64_t n) {
  struct Plans {
    Eigen::FFT<R> fft{typename Eigen::FFT<R>::impl_type(), Eigen::FFT<R>::Unscaled};
    std::set<int64_t> lengths;
    int64_t points = 0;
  };
  static thread_local std::unique_ptr<Plans> plans;
  if (!plans || (plans->points + n > kMostPlanned && !plans->lengths.contains(n))) plans = std::make_unique<Plans>();
  if (plans->lengths.insert(n).second) plans->points += n;
  return plans->fft;
}

/// Bluestein: with w_j = exp(-i pi j^2 / n), X_k = w_k sum_j (x_j w_j) conj(w_{k-j}), a convolution, which is computed
/// by transforms of a smooth length. In double for either precision.
class Chirp {
 public:
  using Z = std::complex<double>;

  static const Chirp& of(int64_t n) { return kept_for<Chirp>(n); }

  explicit Chirp(int64_t n) : length_(smooth_length(2 * n - 1)), w_(static_cast<size_t>(n)) {
    std::vector<Z> around(static_cast<size_t>(length_));
    for (int64_t j = 0; j < n; ++j) {
      const auto square = static_cast<int64_t>(static_cast<__int128>(j) * j % (2 * n));
      w_[j] = std::polar(1.0, -std::numbers::pi * static_cast<double>(square) / static_cast<double>(n));
      around[j] = std::conj(w_[j]);
      if (j > 0) around[length_ - j] = std::conj(w_[j]);
    }
    spectrum_.resize(around.size());
    plans_for<double>(length_).fwd(spectrum_.data(), around.data(), length_);
  }

  template <class C>
  void forward(C* to, const C* from) const {
    std::vector<Z> turned(spectrum_.size()), product(spectrum_.size());
    for (size_t j = 0; j < w_.size(); ++j) turned[j] = Z(from[j]) * w_[j];
    Eigen::FFT<double>& fft = plans_for<double>(length_);
    fft.fwd(product.data(), turned.data(), length_);
    for (size_t j = 0; j < product.size(); ++j) product[j] *= spectrum_[j];
    fft.inv(turned.data(), product.data(), length_);
    for (size_t k = 0; k < w_.size(); ++k) to[k] = C(turned[k] * w_[k] / static_cast<double>(length_));
  }

 private:
  int64_t length_;
  std::vector<Z> w_, spectrum_;
};

/// to_k = sum_j from_j exp(-+ 2 pi i j k / n).
template <class R>
void transform(std::complex<R>* to, std::complex<R>* from, int64_t n, bool forward) {
  if (n == 1) {
    to[0] = from[0];
  } else if (!has_large_factors(n)) {
    Eigen::FFT<R>& fft = plans_for<R>(n);
    forward ? fft.fwd(to, from, n) : fft.inv(to, from, n);
  } else if (forward) {
    Chirp::of(n).forward(to, from);
  } else {
    for (int64_t j = 0; j < n; ++j) from[j] = std::conj(from[j]);
    Chirp::of(n).forward(to, from);
    for (int64_t k = 0; k < n; ++k) to[k] = std::conj(to[k]);
  }
}

/// The spectrum of real numbers, all of it.
template <class R>
void transform_real(std::complex<R>* to, const R* from, std::complex<R>* scratch, int64_t n) {
  if (n > 1 && !has_large_factors(n)) return plans_for<R>(n).fwd(to, from, n);
  std::copy_n(from, n, scratch);
  transform(to, scratch, n, true);
}

/// The real numbers whose spectrum begins with n / 2 + 1 given ones, the rest being their conjugates.
template <class R>
void transform_to_real(R* to, std::complex<R>* from, std::complex<R>* scratch, int64_t n) {
  if (n > 1 && !has_large_factors(n)) return plans_for<R>(n).inv(to, from, n);
  from[0] = from[0].real();
  for (int64_t k = 1; k <= (n - 1) / 2; ++k) from[n - k] = std::conj(from[k]);
  if (n % 2 == 0) from[n / 2] = from[n / 2].real();
  transform(scratch, from, n, false);
  for (int64_t j = 0; j < n; ++j) to[j] = scratch[j].real();
}

/// kissfft counts in int, and a convolution takes four times the points.
void check_length(int64_t n) {
  if (n > INT_MAX / 4) {
    throw KernelError(KernelError::Kind::Runtime, "a Fourier transform of more than 536870911 points is not supported");
  }
}

/// Memory of a thread for n elements, until it next asks.
template <class T, int kWhich>
T* buffer(int64_t n) {
  static thread_local std::vector<T> memory;
  memory.resize(static_cast<size_t>(n));
  return memory.data();
}

template <class T>
void gather(T* to, const char* from, int64_t stride, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] = *reinterpret_cast<const T*>(from + i * stride);
}
template <class T, class R>
void scatter(char* to, int64_t stride, const T* from, int64_t n, R scale) {
  for (int64_t i = 0; i < n; ++i) *reinterpret_cast<T*>(to + i * stride) = from[i] * scale;
}

/// The precision of a complex or floating dtype as a C++ type.
template <class F>
void with_precision(DType dtype, F&& fn) {
  with_float(real_dtype_of(dtype), fn);
}

bool takes_lanes(const Lines& lines, int64_t n) {
  return n > 1 && n < kLongInLanes && lines.starts.numel >= kFewInLanes && !has_large_factors(n);
}
/// Complex numbers that lie `stride` bytes apart, and real ones: in pairs, or each by itself.
template <class R>
PointSteps complex_steps(int64_t stride) {
  return {stride, sizeof(R)};
}
PointSteps pair_steps(int64_t stride) { return {2 * stride, stride}; }
PointSteps real_steps(int64_t stride) { return {stride, std::nullopt}; }

template <class R>
void transform_in_lanes(const Lines& lines, bool forward, R scale) {
  const int64_t n = lines.lengths[0];
  for_groups(lines, fourier_lanes<R>().lanes, kLaneCost, [&](const LineGroup& group) {
    Lanes<R> lanes(n);
    lanes.read(group, complex_steps<R>(lines.strides[1]), n);
    const LanePlanes<R> done = lanes.transformed(LanePlan<R>::of(n), lanes.first, lanes.second, forward);
    lanes.write(group, complex_steps<R>(lines.strides[0]), done, 0, n, scale);
  });
}
/// Of an even number of real points as half as many complex ones.
template <class R>
void real_in_lanes(const Lines& lines, R scale) {
  const int64_t n = lines.lengths[1], kept = lines.lengths[0], half = n / 2;
  const PointSteps to = complex_steps<R>(lines.strides[0]);
  for_groups(lines, fourier_lanes<R>().lanes, kLaneCost, [&](const LineGroup& group) {
    Lanes<R> lanes(n);
    if (n % 2 != 0) {
      lanes.read(group, real_steps(lines.strides[1]), n);
      return lanes.write(group, to, lanes.transformed(LanePlan<R>::of(n), lanes.first, lanes.second, true), 0, kept,
                         scale);
    }
    lanes.read(group, pair_steps(lines.strides[1]), half);
    const LanePlan<R>& plan = LanePlan<R>::of(half);
    const LanePlanes<R> pairs = lanes.transformed(plan, lanes.first, lanes.second, true);
    const LanePlanes<R> spectrum = pairs.re == lanes.first.re ? lanes.second : lanes.first;
    fourier_lanes<R>().to_real_spectrum(half, plan.turns(), spectrum, pairs);
    lanes.write(group, to, spectrum, 0, std::min(kept, half + 1), scale);
    if (kept > half + 1) lanes.write(group, to, spectrum, half + 1, kept, scale, n);
  });
}
template <class R>
void to_real_in_lanes(const Lines& lines, R scale) {
  const int64_t n = lines.lengths[0], half = n / 2;
  for_groups(lines, fourier_lanes<R>().lanes, kLaneCost, [&](const LineGroup& group) {
    Lanes<R> lanes(n);
    lanes.read(group, complex_steps<R>(lines.strides[1]), half + 1);
    lanes.make_real(0);
    if (n % 2 != 0) {
      lanes.mirror(n);
      const LanePlanes<R> done = lanes.transformed(LanePlan<R>::of(n), lanes.first, lanes.second, false);
      return lanes.write(group, real_steps(lines.strides[0]), done, 0, n, scale);
    }
    lanes.make_real(half);
    const LanePlan<R>& plan = LanePlan<R>::of(half);
    fourier_lanes<R>().from_real_spectrum(half, plan.turns(), lanes.second, lanes.first);
    const LanePlanes<R> done = lanes.transformed(plan, lanes.second, lanes.first, false);
    lanes.write(group, pair_steps(lines.strides[0]), done, 0, half, scale);
  });
}

/// The lines of `in` along a dimension become those of `out`, which may be the same memory.
void transform_lines(const View& out, const View& in, int64_t dim, bool forward, double scale) {
  Lines lines;
  const View views[] = {out, in};
  lines_along(views, wrapped(dim, out.rank), lines);
  with_precision(out.dtype, [&]<class R>(R) {
    using C = std::complex<R>;
    const int64_t n = lines.lengths[0];
    check_length(n);
    if (takes_lanes(lines, n)) return transform_in_lanes(lines, forward, static_cast<R>(scale));
    for_lines(lines, kCost, [&](char* const* at) {
      C *from = buffer<C, 0>(n), *to = buffer<C, 1>(n);
      gather(from, at[1], lines.strides[1], n);
      transform(to, from, n, forward);
      scatter(at[0], lines.strides[0], to, n, static_cast<R>(scale));
    });
  });
}

/// Along several dimensions of complex numbers, the last one scaled.
void transform_all(const View& out, View in, std::span<const int64_t> dims, bool forward, double scale) {
  for (size_t i = 0; i < dims.size(); ++i) {
    transform_lines(out, in, dims[i], forward, i + 1 == dims.size() ? scale : 1.0);
    in = out;
  }
}

/// fft_c2c(self, dim, forward, scale).
void complex_to_complex(const KernelCall& call) {
  const View &out = call.out[0], &in = call.view(0);
  if (out.numel() == 0) return;
  if (call.ints(1).empty()) return copy_elements(out, in);
  transform_all(out, in, call.ints(1), call.flag(2), call.real(3));
}

/// fft_r2c(self, dim, onesided, scale): the last of the dimensions first, of which half is kept if onesided.
void real_to_complex(const KernelCall& call) {
  const View &out = call.out[0], &in = call.view(0);
  if (out.numel() == 0) return;
  const auto dims = call.ints(1);
  const double scale = dims.size() == 1 ? call.real(3) : 1.0;
  Lines lines;
  const View views[] = {out, in};
  lines_along(views, wrapped(dims.back(), in.rank), lines);
  with_precision(in.dtype, [&]<class R>(R) {
    using C = std::complex<R>;
    const int64_t n = lines.lengths[1], kept = lines.lengths[0];
    check_length(n);
    if (takes_lanes(lines, n)) return real_in_lanes(lines, static_cast<R>(scale));
    for_lines(lines, kCost, [&](char* const* at) {
      R* from = buffer<R, 0>(n);
      C *to = buffer<C, 0>(n), *scratch = buffer<C, 1>(n);
      gather(from, at[1], lines.strides[1], n);
      transform_real(to, from, scratch, n);
      scatter(at[0], lines.strides[0], to, kept, static_cast<R>(scale));
    });
  });
  transform_all(out, out, dims.first(dims.size() - 1), true, call.real(3));
}

/// fft_c2r(self, dim, last_size, scale): the last of the dimensions last, back to `last_size` real numbers.
void complex_to_real(const KernelCall& call) {
  const View& out = call.out[0];
  View in = call.view(0);
  if (out.numel() == 0) return;
  const auto dims = call.ints(1);
  std::unique_ptr<char[]> between;
  int64_t strides[kMaxViewRank];
  if (dims.size() > 1) {
    between = std::make_unique_for_overwrite<char[]>(static_cast<size_t>(in.numel()) * size_of(in.dtype));
    for (int64_t d = in.rank - 1, step = 1; d >= 0; step *= in.sizes[d--]) strides[d] = step;
    const View dense{between.get(), in.sizes, strides, in.rank, in.dtype};
    transform_all(dense, in, dims.first(dims.size() - 1), false, 1.0);
    in = dense;
  }
  Lines lines;
  const View views[] = {out, in};
  lines_along(views, wrapped(dims.back(), in.rank), lines);
  with_precision(out.dtype, [&]<class R>(R) {
    using C = std::complex<R>;
    const int64_t n = lines.lengths[0], given = n / 2 + 1;
    check_length(n);
    if (takes_lanes(lines, n)) return to_real_in_lanes(lines, static_cast<R>(call.real(3)));
    for_lines(lines, kCost, [&](char* const* at) {
      R* to = buffer<R, 0>(n);
      C *from = buffer<C, 0>(n + 1), *scratch = buffer<C, 1>(n);
      gather(from, at[1], lines.strides[1], given);
      transform_to_real(to, from, scratch, n);
      scatter(at[0], lines.strides[0], to, n, static_cast<R>(call.real(3)));
    });
  });
}

constexpr Kernel kKernels[] = {
    {.op = "fft_c2c", .run = complex_to_complex, .any_strides = true},
    {.op = "fft_r2c", .run = real_to_complex, .any_strides = true},
    {.op = "fft_c2r", .run = complex_to_real, .any_strides = true},
};

}  // namespace

std::span<const Kernel> fourier_kernels() { return kKernels; }

}  // namespace terra::cpu
