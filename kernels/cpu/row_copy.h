// Moving the elements of one row, as bits.
#pragma once
#include <xmmintrin.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace terra::cpu {

/// memcpy, in pieces that it copies by vectors where ends lie differently: its one instruction for long runs is then up
/// to twenty times as slow.
inline void copy_bytes(void* to, const void* from, int64_t bytes) {
  constexpr int64_t kPiece = 2048, kLine = 64;
  char* out = static_cast<char*>(to);
  const char* in = static_cast<const char*>(from);
  if ((reinterpret_cast<intptr_t>(out) - reinterpret_cast<intptr_t>(in)) % kLine != 0)
    for (; bytes > kPiece; bytes -= kPiece, out += kPiece, in += kPiece) std::memcpy(out, in, kPiece);
  std::memcpy(out, in, static_cast<size_t>(bytes));
}

/// After the first `period` bytes they begin anew, until there are `bytes`. As wide moves as the processor has, from
/// what a first-level cache still holds.
inline void repeat(void* to, int64_t period, int64_t bytes) {
  constexpr int64_t kAtOnce = 4096;
  const int64_t most = period < kAtOnce ? kAtOnce / period * period : period;
  char* const start = static_cast<char*>(to);
  for (int64_t done = period; done < bytes;) {
    const int64_t more = std::min({done, most, bytes - done});
    copy_bytes(start + done, start, more);
    done += more;
  }
}

/// Bytes of the widest moves that every processor has.
inline constexpr int64_t kMove = sizeof(__m128);

/// Fewer bytes than two words have, by two moves that may overlap.
template <class Word>
void copy_two(char* out, const char* in, int64_t bytes) {
  Word first, last;
  std::memcpy(&first, in, sizeof first);
  std::memcpy(&last, in + bytes - sizeof last, sizeof last);
  std::memcpy(out, &first, sizeof first);
  std::memcpy(out + bytes - sizeof last, &last, sizeof last);
}

/// Rows of at most so many bytes are copied without a call for each.
inline constexpr int64_t kShortRowBytes = 1024;

/// A dense row, without a call. The last move ends where the row does, over what is there already.
inline void copy_short(char* out, const char* in, int64_t bytes) {
  if (bytes < kMove) {
    if (bytes >= 8) return copy_two<uint64_t>(out, in, bytes);
    if (bytes >= 4) return copy_two<uint32_t>(out, in, bytes);
    for (int64_t i = 0; i < bytes; ++i) out[i] = in[i];
    return;
  }
  const auto move = [out, in](int64_t i) {
    _mm_storeu_ps(reinterpret_cast<float*>(out + i), _mm_loadu_ps(reinterpret_cast<const float*>(in + i)));
  };
  for (int64_t i = 0; i + kMove <= bytes; i += kMove) move(i);
  if (bytes % kMove != 0) move(bytes - kMove);
}

/// n elements become the same one, likewise.
template <class Bits>
void fill_short(char* out, Bits value, int64_t n) {
  constexpr int64_t kElements = kMove / sizeof(Bits);
  const auto put = [out](int64_t i, const auto& bits) { std::memcpy(out + i * sizeof(Bits), &bits, sizeof bits); };
  if (n < kElements) {
    for (int64_t i = 0; i < n; ++i) put(i, value);
  } else if constexpr (kElements == 1) {
    for (int64_t i = 0; i < n; ++i) put(i, value);
  } else {
    typedef Bits Move __attribute__((vector_size(kMove)));
    const Move move = Move{} + value;
    for (int64_t i = 0; i + kElements <= n; i += kElements) put(i, move);
    if (n % kElements != 0) put(n - kElements, move);
  }
}

/// The same for a row of any length.
template <class Bits>
void fill_row(Bits* out, Bits value, int64_t n) {
  constexpr int64_t kFilled = 128, kSize = sizeof(Bits);
  unsigned char bytes[kSize];
  std::memcpy(bytes, &value, sizeof bytes);
  if (n > kFilled && std::all_of(bytes, bytes + kSize, [&](unsigned char byte) { return byte == bytes[0]; })) {
    std::memset(static_cast<void*>(out), bytes[0], static_cast<size_t>(n * kSize));
    return;
  }
  fill_short(reinterpret_cast<char*>(out), value, std::min(n, kFilled));
  repeat(out, kFilled * kSize, n * kSize);
}

/// Strides in bytes.
template <class Bits>
void copy_row(char* out, int64_t out_stride, const char* in, int64_t in_stride, int64_t n) {
  if (out_stride == sizeof(Bits) && in_stride == sizeof(Bits)) {
    copy_bytes(out, in, n * static_cast<int64_t>(sizeof(Bits)));
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

}  // namespace terra::cpu
