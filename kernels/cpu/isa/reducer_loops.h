// From the algebra of a fold to its loops.
//
// A fold says: In, Lane (what one pass accumulates in), Acc (what passes accumulate in), Out; start, lane(x), lanes(v)
// where those of a vector aren't the vector itself, take(lane, lane), widen(lane), merge(acc, acc). Lanes are
// independent, so the inner loops vectorize without reassociation. `take` of vectors of accumulators is `merge`.
#pragma once
#include "kernels/cpu/isa/loop.h"
#include "kernels/cpu/isa/reduce.h"
#include "kernels/cpu/reducer.h"

namespace terra::cpu::TERRA_ISA {

/// Elements folded in the precision of Lane before they join an Acc: f32 sums stay accurate to about 1e-7.
inline constexpr int64_t kPass = 4096;
inline constexpr int64_t kRowsPerPass = 64;

template <class T>
constexpr bool kIsReal = __is_same(T, float) || __is_same(T, double);
template <class T>
constexpr bool kIsWord = kIsReal<T> || __is_same(T, int32_t) || __is_same(T, int64_t);

template <class F>
struct ReducerLoops {
  using In = typename F::In;
  using Lane = typename F::Lane;
  using Acc = typename F::Acc;

  /// Words that accumulate in as many bytes fill vectors, four at a time; other lanes are left to the vectorizer.
  static constexpr bool kInRegisters = kIsWord<In> && sizeof(Lane) == sizeof(In);
  static constexpr int kWide = 64;
  /// Shorter runs take four lanes.
  static constexpr int64_t kLeast = kInRegisters ? kLanes<In> : 128;

  /// Narrower rows that lie behind each other are folded several at a time.
  static constexpr int64_t kTogether = 128;

  static void start(void* acc, int64_t n) {
    for (int64_t j = 0; j < n; ++j) static_cast<Acc*>(acc)[j] = F::widen(F::start());
  }

  /// The fold of a run, in kWidth lanes side by side, of which halves are then merged.
  template <int kWidth>
  static Acc fold_lanes_of(const In* x, int64_t n) {
    alignas(64) Lane lanes[kWidth];
    for (int k = 0; k < kWidth; ++k) lanes[k] = F::start();
    int64_t i = 0;
    for (; i + kWidth <= n; i += kWidth) {
      for (int k = 0; k < kWidth; ++k) lanes[k] = F::take(lanes[k], F::lane(element(x[i + k])));
    }
    for (int k = 0; i < n; ++i, ++k) lanes[k] = F::take(lanes[k], F::lane(element(x[i])));
    alignas(64) Acc accs[kWidth / 2];
    for (int k = 0; k < kWidth / 2; ++k) accs[k] = F::merge(F::widen(lanes[k]), F::widen(lanes[k + kWidth / 2]));
#pragma GCC unroll 8
    for (int half = kWidth / 4; half > 0; half /= 2) {
      for (int k = 0; k < half; ++k) accs[k] = F::merge(accs[k], accs[k + half]);
    }
    return accs[0];
  }

  static auto lanes_of(auto x) {
    if constexpr (requires { F::lanes(x); })
      return F::lanes(x);
    else
      return __builtin_bit_cast(Vec<Lane>, x);
  }

  /// The same of less than a vector.
  static Acc fold_part(const In* x, int64_t n) {
    const Vec<Lane> none = broadcast(F::start());
    const auto lanes = lanes_of(load_some(x, n, In(0)));
    return merged(F::take(none, lane_numbers<In>() < static_cast<Word<In>>(n) ? lanes : none));
  }

  /// The same of a vector at least, through four held in registers.
  static Acc fold_vectors(const In* x, int64_t n) {
    constexpr int64_t kLane = kLanes<In>;
    const auto lanes_at = [&](int64_t i) { return lanes_of(load(x + i)); };
    const Vec<Lane> none = broadcast(F::start());
    Vec<Lane> v0 = none, v1 = none, v2 = none, v3 = none;
    int64_t i = 0;
    for (; i + 4 * kLane <= n; i += 4 * kLane) {
      v0 = F::take(v0, lanes_at(i));
      v1 = F::take(v1, lanes_at(i + kLane));
      v2 = F::take(v2, lanes_at(i + 2 * kLane));
      v3 = F::take(v3, lanes_at(i + 3 * kLane));
    }
    const int64_t left = (n - i) / kLane;
    if (left > 0) v0 = F::take(v0, lanes_at(i));
    if (left > 1) v1 = F::take(v1, lanes_at(i + kLane));
    if (left > 2) v2 = F::take(v2, lanes_at(i + 2 * kLane));
    i += left * kLane;
    if (i < n) {  // the last vector, without what has been taken
      const auto taken = lane_numbers<In>() < static_cast<Word<In>>(kLane - (n - i));
      v3 = F::take(v3, taken ? none : lanes_at(n - kLane));
    }
    return merged(F::take(F::take(v0, v1), F::take(v2, v3)));
  }

  /// All lanes of a vector.
  static Acc merged(auto lanes) {
    const auto take = [](auto a, auto b) { return F::take(a, b); };
    if constexpr (sizeof(Acc) == sizeof(Lane)) {
      return fold_lanes<Lane>(lanes, take);
    } else {
      typedef Lane Half __attribute__((vector_size(kVectorBytes / 2)));
      Half halves[2];
      __builtin_memcpy(halves, &lanes, sizeof lanes);
      return fold_lanes<Acc>(
          F::take(__builtin_convertvector(halves[0], Vec<Acc>), __builtin_convertvector(halves[1], Vec<Acc>)), take);
    }
  }

  /// Of kPass elements at most.
  static Acc pass(const In* x, int64_t n) {
    if constexpr (kInRegisters && kHasMasks<In>)
      if (n < kLeast) return fold_part(x, n);
    if (n < kLeast) return fold_lanes_of<4>(x, n);
    if constexpr (kInRegisters)
      return fold_vectors(x, n);
    else
      return fold_lanes_of<kWide>(x, n);
  }

  static void row(void* acc, const void* x, int64_t n) {
    Acc& a = *static_cast<Acc*>(acc);
    const In* from = static_cast<const In*>(x);
    for (int64_t i = 0; i < n; i += kPass) {
      a = F::merge(a, pass(from + i, n - i < kPass ? n - i : kPass));
    }
  }

  static void rows(void* out, const void* x, int64_t stride, int64_t rows, int64_t n) {
    for (int64_t r = 0; r < rows; ++r) {
      Acc acc = F::widen(F::start());
      row(&acc, static_cast<const char*>(x) + r * stride, n);
      finish(static_cast<typename F::Out*>(out) + r, &acc, 1);
    }
  }

  [[gnu::noinline]] static void fold_columns(void* acc, const void* x, int64_t stride, int64_t rows, int64_t columns) {
    Acc* a = static_cast<Acc*>(acc);
    Lane lanes[kColumns];
    for (int64_t r0 = 0; r0 < rows; r0 += kRowsPerPass) {
      const int64_t r1 = rows - r0 < kRowsPerPass ? rows : r0 + kRowsPerPass;
      for (int64_t j = 0; j < columns; ++j) lanes[j] = F::start();
      for (int64_t r = r0; r < r1; ++r) {
        const In* from = reinterpret_cast<const In*>(static_cast<const char*>(x) + r * stride);
        for (int64_t j = 0; j < columns; ++j) lanes[j] = F::take(lanes[j], F::lane(element(from[j])));
      }
      for (int64_t j = 0; j < columns; ++j) a[j] = F::merge(a[j], F::widen(lanes[j]));
    }
  }

  static void columns(void* acc, const void* x, int64_t stride, int64_t rows, int64_t columns) {
    const int64_t together = kTogether / columns;
    if (together > 1 && rows >= 4 * together && stride == columns * stride_of<In>) {
      Acc wide[kTogether];
      const int64_t folded = rows / together * together;
      start(wide, together * columns);
      fold_columns(wide, x, together * stride, rows / together, together * columns);
      for (int64_t k = 0; k < together; ++k) merge(acc, wide + k * columns, columns);
      x = static_cast<const char*>(x) + folded * stride;
      rows -= folded;
    }
    fold_columns(acc, x, stride, rows, columns);
  }

  static void merge(void* acc, const void* other, int64_t n) {
    for (int64_t j = 0; j < n; ++j) {
      static_cast<Acc*>(acc)[j] = F::merge(static_cast<Acc*>(acc)[j], static_cast<const Acc*>(other)[j]);
    }
  }

  static void finish(void* out, const void* acc, int64_t n) {
    using Out = typename F::Out;
    for (int64_t j = 0; j < n; ++j) static_cast<Out*>(out)[j] = static_cast<Out>(static_cast<const Acc*>(acc)[j]);
  }
};

template <class F>
consteval Reducer reducer() {
  using Loops = ReducerLoops<F>;
  static_assert(sizeof(typename F::Acc) <= kMaxAccBytes);
  return {sizeof(typename F::Acc),
          dtype_of<typename F::Out>(),
          Loops::start,
          Loops::row,
          Loops::rows,
          Loops::columns,
          Loops::merge,
          Loops::finish};
}

template <bool kFirst, class A, class B>
struct Choose {
  using type = A;
};
template <class A, class B>
struct Choose<false, A, B> {
  using type = B;
};

/// Integers wrap around, so they accumulate unsigned. Narrow ones don't in one pass.
template <class T>
struct SumFold {
  using In = T;
  using Lane = typename Choose<kIsReal<T>, T, typename Choose<(sizeof(T) < 4), int32_t, uint64_t>::type>::type;
  using Acc = typename Choose<kIsReal<T>, double, uint64_t>::type;
  using Out = typename Choose<kIsReal<T>, T, int64_t>::type;
  static Lane start() { return Lane(0); }
  static Lane lane(T x) { return static_cast<Lane>(x); }
  template <class V>
  static V take(V lane, V x) {
    return lane + x;
  }
  static Acc widen(Lane lane) { return static_cast<Acc>(lane); }
  static Acc merge(Acc a, Acc b) { return a + b; }
};

template <class T>
struct ProdFold : SumFold<T> {
  using Lane = typename Choose<kIsReal<T>, T, uint64_t>::type;
  using typename SumFold<T>::Acc;
  static Lane start() { return Lane(1); }
  static Lane lane(T x) { return static_cast<Lane>(x); }
  static Acc widen(Lane lane) { return static_cast<Acc>(lane); }
  template <class V>
  static V take(V lane, V x) {
    return lane * x;
  }
  static Acc merge(Acc a, Acc b) { return a * b; }
};

template <class T>
struct SquareFold : SumFold<T> {
  static T lane(T x) { return x * x; }
  static Vec<T> lanes(Vec<T> x) { return x * x; }
};

/// The sum of what isn't NaN.
template <class T>
struct NumberFold : SumFold<T> {
  static T lane(T x) { return x == x ? x : T(0); }
  static Vec<T> lanes(Vec<T> x) { return x == x ? x : Vec<T>{}; }
};

/// The reducer of a fold that floats alone have.
template <template <class> class F, class T>
consteval Reducer float_reducer() {
  if constexpr (kIsReal<T>)
    return reducer<F<T>>();
  else
    return {};
}

/// A NaN wins.
template <class T>
struct MaxFold {
  using In = T;
  using Lane = T;
  using Acc = T;
  using Out = T;
  static T lowest() {
    if constexpr (kIsReal<T>)
      return -static_cast<T>(__builtin_inf());
    else if constexpr (T(-1) < T(0))
      return static_cast<T>(T(1) << (8 * sizeof(T) - 1));
    else
      return T(0);
  }
  static T start() { return lowest(); }
  template <class V>
  static V take(V best, V x) {
    return (best < x) | (x != x) ? x : best;
  }
  static T lane(T x) { return x; }
  static T widen(T x) { return x; }
  static T merge(T a, T b) { return take(a, b); }
};

template <class T>
struct MinFold : MaxFold<T> {
  static T start() {
    if constexpr (kIsReal<T>)
      return static_cast<T>(__builtin_inf());
    else if constexpr (T(-1) < T(0))
      return static_cast<T>(~MaxFold<T>::lowest());
    else
      return static_cast<T>(-1);
  }
  template <class V>
  static V take(V best, V x) {
    return (x < best) | (x != x) ? x : best;
  }
  static T merge(T a, T b) { return take(a, b); }
};

template <class T>
struct AnyFold {
  using In = T;
  using Lane = uint8_t;
  using Acc = uint8_t;
  using Out = bool;
  static Lane start() { return 0; }
  static Lane lane(T x) { return x != T(0); }
  static Lane take(Lane a, Lane b) { return a | b; }
  static Acc widen(Lane lane) { return lane; }
  static Acc merge(Acc a, Acc b) { return a | b; }
};

template <class T>
struct AllFold : AnyFold<T> {
  using Lane = uint8_t;
  static Lane start() { return 1; }
  static Lane take(Lane a, Lane b) { return a & b; }
  static Lane merge(Lane a, Lane b) { return a & b; }
};

/// In the order of Fold.
template <class T>
inline constexpr Reducer kReducers[kFoldCount] = {
    reducer<SumFold<T>>(), reducer<ProdFold<T>>(), reducer<MaxFold<T>>(),          reducer<MinFold<T>>(),
    reducer<AnyFold<T>>(), reducer<AllFold<T>>(),  float_reducer<SquareFold, T>(), float_reducer<NumberFold, T>()};

}  // namespace terra::cpu::TERRA_ISA
