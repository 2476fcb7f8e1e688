// Fourier transforms of groups of lines, each in a lane of a vector (fourier_lanes.h): their plans, and how lines of
// memory get into lanes and back.
#pragma once
#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <optional>
#include <vector>

#include "kernels/cpu/along.h"
#include "kernels/cpu/fourier_lanes.h"

namespace terra::cpu {

template <class R>
const FourierLanes<R>& fourier_lanes() {
  if constexpr (sizeof(R) == sizeof(float))
    return *TERRA_PICK(fourier_lanes_f32);
  else
    return *TERRA_PICK(fourier_lanes_f64);
}

/// Points whose plans a thread keeps: at most so many of each kind.
inline constexpr int64_t kMostPlanned = 1 << 20;

/// What transforms of n points need beside their input, kept in each thread.
template <class Made>
const Made& kept_for(int64_t n) {
  static thread_local std::map<int64_t, Made> kept;
  static thread_local int64_t points = 0;
  if (const auto known = kept.find(n); known != kept.end()) return known->second;
  if (points + n > kMostPlanned) {
    kept.clear();
    points = 0;
  }
  points += n;
  return kept.try_emplace(n, n).first->second;
}

/// The passes of n points, whose prime factors have a radix.
template <class R>
class LanePlan {
 public:
  static const LanePlan& of(int64_t n) { return kept_for<LanePlan>(n); }

  explicit LanePlan(int64_t n) : points_(n) {
    int64_t rest = n, stride = 1;
    for (const int64_t radix : radices_of(n)) {
      FourierPass pass{radix, rest / radix, stride, static_cast<int64_t>(factors_.size()), 0};
      for (int64_t i = 0; i < pass.count; ++i)
        for (int64_t k = 1; k < radix; ++k) add_turn(i * k, rest);
      pass.roots = static_cast<int64_t>(factors_.size());
      for (int64_t k = 0; radix > 5 && k < radix; ++k) add_turn(k, radix);
      passes_.push_back(pass);
      rest /= radix;
      stride *= radix;
    }
    turns_ = static_cast<int64_t>(factors_.size());
    for (int64_t k = 0; k <= n; ++k) add_turn(k, 2 * n);
  }

  FourierPasses<R> passes() const {
    return {passes_.data(), static_cast<int64_t>(passes_.size()), points_, factors_.data()};
  }
  /// exp(-pi i k / n) for k <= n.
  const R* turns() const { return factors_.data() + turns_; }

 private:
  static std::vector<int64_t> radices_of(int64_t n) {
    std::vector<int64_t> radices;
    for (const int64_t radix : {int64_t{4}, int64_t{2}, int64_t{3}, int64_t{5}})
      for (; n % radix == 0; n /= radix) radices.push_back(radix);
    for (int64_t radix = 7; n > 1; radix += 2)
      for (; n % radix == 0; n /= radix) radices.push_back(radix);
    return radices;
  }
  void add_turn(int64_t k, int64_t of) {
    const double angle = -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(of);
    factors_.push_back(static_cast<R>(std::cos(angle)));
    factors_.push_back(static_cast<R>(std::sin(angle)));
  }

  int64_t points_, turns_ = 0;
  std::vector<FourierPass> passes_;
  std::vector<R> factors_;
};

/// As many lines of a result and of an operand as there are lanes, or fewer.
struct LineGroup {
  static constexpr int64_t kMostLanes = 16;
  char *out[kMostLanes], *in[kMostLanes];
  int64_t count = 0;
};

/// Calls body(group) for all lines of two views, in parallel; an element costs `quarter_ns` quarter nanoseconds.
template <class Body>
void for_groups(const Lines& lines, int64_t lanes, int64_t quarter_ns, Body body) {
  const Iteration& it = lines.starts;
  const int64_t longest = std::max(lines.lengths[0], lines.lengths[1]);
  const int64_t grain = grain_for_cost(quarter_ns) / (longest * lanes);
  parallel_for((it.numel + lanes - 1) / lanes, std::max<int64_t>(grain, 1), [&](int64_t begin, int64_t end) {
    LineGroup group;
    for_rows(it, begin * lanes, std::min(end * lanes, it.numel), [&](char* const* at, int64_t n) {
      for (int64_t i = 0; i < n; ++i) {
        group.out[group.count] = at[0] + i * it.strides[0][it.rank - 1];
        group.in[group.count] = at[1] + i * it.strides[1][it.rank - 1];
        if (++group.count < lanes) continue;
        body(group);
        group.count = 0;
      }
    });
    if (group.count > 0) body(group);
  });
}

/// Where the points of a line lie: a real part every `step` bytes, the imaginary part `imag` bytes behind it (0 where
/// one element stands for all). Real numbers have none.
struct PointSteps {
  int64_t step;
  std::optional<int64_t> imag;
};

/// The planes of a group of lines in the memory of a thread.
template <class R>
class Lanes {
 public:
  explicit Lanes(int64_t points) : lanes_(fourier_lanes<R>().lanes), plane_((points + 1) * lanes_) {
    static thread_local std::vector<R> memory;
    memory.resize(static_cast<size_t>(4 * plane_));
    first = {memory.data(), memory.data() + plane_};
    second = {first.im + plane_, first.im + 2 * plane_};
  }

  /// n points of each line; numbers in lanes without one are zeros.
  void read(const LineGroup& group, PointSteps steps, int64_t n) {
    if (group.count < lanes_ || !steps.imag) {
      std::fill_n(first.im, n * lanes_, R(0));
      std::fill_n(first.re, n * lanes_, R(0));
    }
    each_point(group.in, group.count, n, [&](const char* line, int64_t j, int64_t lane) {
      const char* at = line + j * steps.step;
      first.re[j * lanes_ + lane] = *reinterpret_cast<const R*>(at);
      if (steps.imag) first.im[j * lanes_ + lane] = *reinterpret_cast<const R*>(at + *steps.imag);
    });
  }
  /// Points [begin, end) of each line: point j of these planes, or the conjugate of point mirror - j.
  void write(const LineGroup& group, PointSteps steps, LanePlanes<R> planes, int64_t begin, int64_t end, R scale,
             int64_t mirror = 0) const {
    const R sign = mirror > 0 ? -scale : scale;
    each_point(group.out, group.count, end - begin, [&](char* line, int64_t place, int64_t lane) {
      const int64_t j = begin + place, from = (mirror > 0 ? mirror - j : j) * lanes_ + lane;
      char* at = line + j * steps.step;
      *reinterpret_cast<R*>(at) = planes.re[from] * scale;
      if (steps.imag) *reinterpret_cast<R*>(at + *steps.imag) = planes.im[from] * sign;
    });
  }
  /// The imaginary parts of a point become zeros.
  void make_real(int64_t j) { std::fill_n(first.im + j * lanes_, lanes_, R(0)); }
  /// Points behind the first half become the conjugates of those, in reverse.
  void mirror(int64_t n) {
    for (int64_t k = 1; k <= (n - 1) / 2; ++k)
      for (int64_t lane = 0; lane < lanes_; ++lane) {
        first.re[(n - k) * lanes_ + lane] = first.re[k * lanes_ + lane];
        first.im[(n - k) * lanes_ + lane] = -first.im[k * lanes_ + lane];
      }
  }
  /// The inverse transform is the transform with real and imaginary parts in each other's place.
  LanePlanes<R> transformed(const LanePlan<R>& plan, LanePlanes<R> from, LanePlanes<R> other, bool forward) const {
    const auto run = fourier_lanes<R>().transform;
    if (forward) return run(plan.passes(), from, other);
    const LanePlanes<R> done = run(plan.passes(), {from.im, from.re}, {other.im, other.re});
    return {done.im, done.re};
  }

  LanePlanes<R> first, second;

 private:
  /// In the order of memory where lines lie side by side, else line by line, few points at a time: each lane of a block
  /// of the planes is met while the block is in the first cache.
  template <class Line, class Body>
  static void each_point(Line* const* lines, int64_t count, int64_t n, Body body) {
    const bool beside = count > 1 && std::abs(lines[1] - lines[0]) <= static_cast<int64_t>(2 * sizeof(R));
    if (beside) {
      for (int64_t j = 0; j < n; ++j)
        for (int64_t lane = 0; lane < count; ++lane) body(lines[lane], j, lane);
      return;
    }
    constexpr int64_t kBlock = 64;
    for (int64_t begin = 0; begin < n; begin += kBlock)
      for (int64_t lane = 0; lane < count; ++lane)
        for (int64_t j = begin; j < std::min(n, begin + kBlock); ++j) body(lines[lane], j, lane);
  }

  int64_t lanes_, plane_;
};

}  // namespace terra::cpu
