// The stream (mt19937) and the distributions that take their numbers from it one by one.
#include "kernels/cpu/random.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <type_traits>
#include <vector>

#include "kernels/cpu/draw_loops.h"

namespace terra::random {
namespace {

constexpr int kWords = cpu::kStreamWords;

constexpr uint32_t temper(uint32_t y) {
  y ^= y >> 11;
  y ^= (y << 7) & 0x9d2c5680u;
  y ^= (y << 15) & 0xefc60000u;
  return y ^ (y >> 18);
}

void refill(RandomState& s) {
  cpu::stream_loops().refill(s.words);
  s.left = kWords + 1;
  s.next = 0;
}

/// Calls take(words, count) with runs of raw words, n in all.
template <class Take>
void consume(RandomState& s, int64_t n, const Take& take) {
  while (n > 0) {
    if (s.left == 1) refill(s);
    const int64_t run = std::min<int64_t>(n, s.left - 1);
    take(s.words + s.next, run);
    s.next += static_cast<uint32_t>(run);
    s.left -= static_cast<uint32_t>(run);
    n -= run;
  }
}

/// Calls take(words, count) with raw words of count numbers, two each, n numbers in all: through a buffer that both
/// halves of a pair surely fit in.
template <class Take>
void consume_pairs(RandomState& s, int64_t n, const Take& take) {
  constexpr int64_t kPairs = 512;
  uint32_t buffer[2 * kPairs];
  while (n > 0) {
    const int64_t run = std::min(n, kPairs);
    uint32_t* end = buffer;
    consume(s, 2 * run, [&](const uint32_t* words, int64_t count) { end = std::copy_n(words, count, end); });
    take(buffer, run);
    n -= run;
  }
}

constexpr double to_uniform53(uint64_t x) { return static_cast<double>(x & ((uint64_t{1} << 53) - 1)) * 0x1p-53; }
constexpr float to_uniform24(uint32_t x) { return static_cast<float>(x & ((1u << 24) - 1)) * 0x1p-24f; }

/// The pair recipe, for mean 0 and deviation 1.
double normal_of_pair(RandomState& s) {
  if (s.has_cached_normal) {
    s.has_cached_normal = false;
    return s.cached_normal;
  }
  const double first = uniform53(s);
  const double second = uniform53(s);
  const double radius = std::sqrt(-2.0 * std::log1p(-second));
  const double angle = 2.0 * std::numbers::pi * first;
  s.cached_normal = radius * std::sin(angle);
  s.has_cached_normal = true;
  return radius * std::cos(angle);
}

/// The largest N such that every integer of [0, N] is a T.
template <class T>
constexpr uint64_t kLargestExact = std::is_floating_point_v<T> ? uint64_t{1} << std::numeric_limits<T>::digits
                                                               : uint64_t{0} + std::numeric_limits<T>::max();

}  // namespace

void seed(RandomState& s, uint64_t value) {
  s.seed = value;
  s.words[0] = static_cast<uint32_t>(value);
  for (uint32_t i = 1; i < kWords; ++i) s.words[i] = 1812433253u * (s.words[i - 1] ^ (s.words[i - 1] >> 30)) + i;
  s.left = 1;
  s.next = 0;
  s.has_cached_normal = false;
  s.cached_normal = 0;
}

uint32_t next32(RandomState& s) {
  if (s.left == 1) refill(s);
  --s.left;
  return temper(s.words[s.next++]);
}

uint64_t next64(RandomState& s) {
  const uint64_t high = next32(s);
  return high << 32 | next32(s);
}

double uniform53(RandomState& s) { return to_uniform53(next64(s)); }

// As PyTorch's compilers make it of u * (high - low) + low: rounded once.

template <>
void uniform<float>(RandomState& s, float* out, int64_t n, double low, double high) {
  const float base = static_cast<float>(low);
  const float width = static_cast<float>(high) - base;
  consume(s, n, [&, uniforms = cpu::draw_loops<float>().uniforms](const uint32_t* words, int64_t count) {
    uniforms(words, out, count, width, base);
    out += count;
  });
}

template <>
void uniform<double>(RandomState& s, double* out, int64_t n, double low, double high) {
  consume_pairs(s, n, [&, uniforms = cpu::draw_loops<double>().uniforms](const uint32_t* pairs, int64_t count) {
    uniforms(pairs, out, count, high - low, low);
    out += count;
  });
}

template <class T>
void normal(RandomState& s, T* out, int64_t n, double mean, double deviation, bool blocked) {
  if (n < 16 || !blocked) {
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(normal_of_pair(s) * deviation + mean);
    return;
  }
  const T m = static_cast<T>(mean), d = static_cast<T>(deviation);
  uniform<T>(s, out, n, 0, 1);
  const auto normal_blocks = cpu::draw_loops<T>().normal_blocks;
  normal_blocks(out, n / 16, m, d);
  if (n % 16 != 0) {
    uniform<T>(s, out + n - 16, 16, 0, 1);
    normal_blocks(out + n - 16, 1, m, d);
  }
}

template <class T>
void randint(RandomState& s, T* out, int64_t n, int64_t low, int64_t high) {
  const uint64_t range = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  const uint64_t base = static_cast<uint64_t>(low);
  if (range >= uint64_t{1} << 32) {
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(static_cast<int64_t>(next64(s) % range + base));
    return;
  }
  const uint32_t narrow = static_cast<uint32_t>(range);
  consume(s, n, [&](const uint32_t* words, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      out[i] = static_cast<T>(static_cast<int64_t>(temper(words[i]) % narrow + base));
    }
    out += count;
  });
}

template <class T>
void random_full_range(RandomState& s, T* out, int64_t n) {
  if constexpr (std::is_same_v<T, bool>) {
    for (int64_t i = 0; i < n; ++i) out[i] = (next32(s) & 1u) != 0;
  } else if constexpr (std::is_same_v<T, int64_t> || std::is_same_v<T, double>) {
    constexpr uint64_t kCount = kLargestExact<T> + 1;
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(next64(s) % kCount);
  } else {
    constexpr uint64_t kCount = kLargestExact<T> + 1;
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(next32(s) % kCount);
  }
}

void randperm(RandomState& s, int64_t* out, int64_t n) {
  std::iota(out, out + n, int64_t{0});
  for (int64_t i = 0; i + 1 < n; ++i) std::swap(out[i], out[i + static_cast<int64_t>(next32(s) % (n - i))]);
}

// u = k / 2**53 with an integer k is below p where k is below p * 2**53, a product without rounding.
template <class T>
void bernoulli_scaled(RandomState& s, T* out, int64_t n, double p, T scale) {
  using Bits = std::conditional_t<
      sizeof(T) == 1, uint8_t,
      std::conditional_t<sizeof(T) == 2, uint16_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;
  const uint64_t bound = p > 0 ? static_cast<uint64_t>(std::ceil(std::min(p, 1.0) * 0x1p53)) : 0;
  const auto bits = std::bit_cast<Bits>(scale);
  Bits* elements = reinterpret_cast<Bits*>(out);
  consume_pairs(s, n, [&, loop = cpu::stream_loops().bernoulli<Bits>()](const uint32_t* words, int64_t count) {
    loop(words, elements, count, bound, bits);
    elements += count;
  });
}

template <class T>
void bernoulli(RandomState& s, T* out, int64_t n, double p) {
  bernoulli_scaled(s, out, n, p, T{1});
}

template <>
void bernoulli_each<float>(RandomState& s, float* out, const float* p, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = to_uniform24(next32(s)) < p[i] ? 1.0f : 0.0f;
}

template <>
void bernoulli_each<double>(RandomState& s, double* out, const double* p, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = uniform53(s) < p[i] ? 1.0 : 0.0;
}

template <class T>
void exponential(RandomState& s, T* out, int64_t n, double lambda) {
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(-1.0 / lambda * std::log1p(-uniform53(s)));
}

template <class T>
const char* multinomial_error(const T* weights, int64_t n, bool replacement) {
  T sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (!std::isfinite(weights[i]) || weights[i] < 0) {
      if (!replacement) return "probability tensor contains either `inf`, `nan` or element < 0";
      return weights[i] >= 0 ? "invalid multinomial distribution (encountering probability entry = infinity or NaN)"
                             : "invalid multinomial distribution (encountering probability entry < 0)";
    }
    sum += weights[i];
  }
  return sum > 0 ? nullptr : "invalid multinomial distribution (sum of probabilities <= 0)";
}

template <class T>
void multinomial(RandomState& s, int64_t* out, const T* weights, int64_t rows, int64_t n, int64_t samples,
                 bool replacement) {
  if (replacement && samples > 1) {
    std::vector<T> cumulative(static_cast<size_t>(n));
    for (int64_t row = 0; row < rows; ++row, weights += n) {
      T sum = 0;
      for (int64_t i = 0; i < n; ++i) cumulative[i] = sum += weights[i];
      for (T& c : cumulative) c /= sum;
      for (int64_t k = 0; k < samples; ++k) {
        const double u = uniform53(s);
        *out++ = std::lower_bound(cumulative.begin(), cumulative.end() - 1, u) - cumulative.begin();
      }
    }
    return;
  }
  std::vector<T> keys(static_cast<size_t>(rows * n));
  exponential(s, keys.data(), rows * n, 1.0);
  for (int64_t i = 0; i < rows * n; ++i) keys[i] = weights[i] / keys[i];
  std::vector<int64_t> order(static_cast<size_t>(n));
  for (int64_t row = 0; row < rows; ++row) {
    const T* key = keys.data() + row * n;
    std::iota(order.begin(), order.end(), int64_t{0});
    std::partial_sort(order.begin(), order.begin() + samples, order.end(),
                      [key](int64_t a, int64_t b) { return key[a] > key[b] || (key[a] == key[b] && a < b); });
    out = std::copy_n(order.begin(), samples, out);
  }
}

#define TERRA_FOR_FLOATS(T)                                                 \
  template void normal<T>(RandomState&, T*, int64_t, double, double, bool); \
  template void exponential<T>(RandomState&, T*, int64_t, double);          \
  template const char* multinomial_error<T>(const T*, int64_t, bool);       \
  template void multinomial<T>(RandomState&, int64_t*, const T*, int64_t, int64_t, int64_t, bool);
#define TERRA_FOR_NUMBERS(T)                                             \
  template void randint<T>(RandomState&, T*, int64_t, int64_t, int64_t); \
  template void random_full_range<T>(RandomState&, T*, int64_t);         \
  template void bernoulli<T>(RandomState&, T*, int64_t, double);         \
  template void bernoulli_scaled<T>(RandomState&, T*, int64_t, double, T);
TERRA_FOR_FLOATS(float)
TERRA_FOR_FLOATS(double)
TERRA_FOR_NUMBERS(float)
TERRA_FOR_NUMBERS(double)
TERRA_FOR_NUMBERS(int64_t)
TERRA_FOR_NUMBERS(int32_t)
TERRA_FOR_NUMBERS(int16_t)
TERRA_FOR_NUMBERS(int8_t)
TERRA_FOR_NUMBERS(uint8_t)
template void random_full_range<bool>(RandomState&, bool*, int64_t);
template void bernoulli<bool>(RandomState&, bool*, int64_t, double);
template void bernoulli_scaled<bool>(RandomState&, bool*, int64_t, double, bool);
#undef TERRA_FOR_FLOATS
#undef TERRA_FOR_NUMBERS

}  // namespace terra::random
