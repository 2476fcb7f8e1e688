// Moving the elements of one row, as bits.
#pragma once
#include <xmmintrin.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace terra::cpu {

/// After the first `period` bytes they begin anew, until there are `bytes`. As wide moves as the processor has, from
/// what a first-level cache still holds.
inline void repeat(void* to, int64_t period, int64_t bytes) {
  constexpr int64_t kAtOnce = 4096;
  const int64_t most = period < kAtOnce ? kAtOnce / period * period : period;
  char* const start = static_cast<char*>(to);
  for (int64_t done = period; done < bytes;) {
    const int64_t more = std::min({done, most, bytes - done});
    std::memcpy(start + done, start, static_cast<size_t>(more));
    done += more;
  }
}

/// n elements become the same one.
template <class Bits>
void fill_row(Bits* out, Bits value, int64_t n) {
  constexpr int64_t kFilled = 128, kSize = sizeof(Bits);
  std::fill_n(out, std::min(n, kFilled), value);
  repeat(out, kFilled * kSize, n * kSize);
}

/// Strides in bytes.
template <class Bits>
void copy_row(char* out, int64_t out_stride, const char* in, int64_t in_stride, int64_t n) {
  if (out_stride == sizeof(Bits) && in_stride == sizeof(Bits)) {
    std::memcpy(out, in, static_cast<size_t>(n) * sizeof(Bits));
  } else if (out_stride == sizeof(Bits) && in_stride == 0) {
    fill_row(reinterpret_cast<Bits*>(out), *reinterpret_cast<const Bits*>(in), n);
  } else if (out_stride == sizeof(Bits) && in_stride == -static_cast<int64_t>(sizeof(Bits))) {
    Bits* const to = reinterpret_cast<Bits*>(out);
    const Bits* const from = reinterpret_cast<const Bits*>(in);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) to[i] = from[-i];
  } else {
    for (int64_t i = 0; i < n; ++i) {
      *reinterpret_cast<Bits*>(out + i * out_stride) = *reinterpret_cast<const Bits*>(in + i * in_stride);
    }
  }
}

/// Dense rows, without a call for those of whole vectors.
inline void copy_short(char* out, const char* in, int64_t bytes) {
  constexpr int64_t kVector = sizeof(__m128);
  if (bytes % kVector != 0) {
    std::memcpy(out, in, static_cast<size_t>(bytes));
    return;
  }
  for (int64_t i = 0; i < bytes; i += kVector)
    _mm_storeu_ps(reinterpret_cast<float*>(out + i), _mm_loadu_ps(reinterpret_cast<const float*>(in + i)));
}

}  // namespace terra::cpu
