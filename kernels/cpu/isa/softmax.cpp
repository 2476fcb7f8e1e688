// Softmax and log-softmax of one row, or of columns side by side, and their gradients.
#include "kernels/cpu/isa/reduce.h"
#include "kernels/cpu/isa/rows.h"

namespace terra::cpu::TERRA_ISA {

namespace {

template <class T>
T maximum(const T* in, int64_t n) {
  const T lowest = -static_cast<T>(__builtin_inff());
  Vec<T> best = broadcast(lowest);
  for_each_vector<T>(n, [&](int64_t i, int64_t count) {
    const Vec<T> x = read(in + i, count, lowest);
    best = x > best ? x : best;
  });
  return max_lanes<T>(best);
}

template <class T>
void softmax(T* out, const T* in, int64_t n) {
  const T top = maximum(in, n);
  const T lowest = -static_cast<T>(__builtin_inff());
  const T sum = static_cast<T>(sum_run<T>(n, [&](int64_t i, int64_t count) {
    const Vec<T> e = v_exp(read(in + i, count, lowest) - top);
    write<T>(out + i, e, count);
    return count == kLanes<T> ? e : only<T>(e, count);  // a row of -inf: the padding must not count as NaN
  }));
  for_each_vector<T>(n, [&](int64_t i, int64_t count) { write<T>(out + i, read(out + i, count) / sum, count); });
}

/// The logarithms of as many rows as a vector has lanes are taken at once, but no more than stay in the cache.
template <class T>
void log_softmax(T* out, const T* in, int64_t n, int64_t rows) {
  constexpr int64_t kNear = 4096;
  const T lowest = -static_cast<T>(__builtin_inff());
  const int64_t fit = kNear / n, together = fit < 1 ? 1 : fit < kLanes<T> ? fit : kLanes<T>;
  for (int64_t first = 0; first < rows; first += together) {
    const int64_t some = rows - first < together ? rows - first : together;
    Vec<T> sums = broadcast(T(1));
    T tops[kLanes<T>];
    for (int64_t r = 0; r < some; ++r) {
      const T* const row = in + (first + r) * n;
      const T top = maximum(row, n);
      tops[r] = top;
      sums[r] = static_cast<T>(
          sum_run<T>(n, [&](int64_t i, int64_t count) { return v_exp(read(row + i, count, lowest) - top); }));
    }
    const Vec<T> log_sums = v_log(sums);
    for (int64_t r = 0; r < some; ++r) {
      const T* const row = in + (first + r) * n;
      T* const to = out + (first + r) * n;
      const T top = tops[r], log_sum = log_sums[r];
      for_each_vector<T>(
          n, [&](int64_t i, int64_t count) { write<T>(to + i, read(row + i, count) - top - log_sum, count); });
    }
  }
}

template <class T>
void softmax_backward(T* out, const T* grad, const T* result, int64_t n) {
  const T dot = static_cast<T>(
      sum_run<T>(n, [&](int64_t i, int64_t count) { return read(grad + i, count) * read(result + i, count); }));
  for_each_vector<T>(n, [&](int64_t i, int64_t count) {
    write<T>(out + i, (read(grad + i, count) - dot) * read(result + i, count), count);
  });
}

template <class T>
void log_softmax_backward(T* out, const T* grad, const T* result, int64_t n) {
  const T sum = static_cast<T>(sum_run<T>(n, [&](int64_t i, int64_t count) { return read(grad + i, count); }));
  for_each_vector<T>(n, [&](int64_t i, int64_t count) {
    write<T>(out + i, read(grad + i, count) - v_exp(read(result + i, count)) * sum, count);
  });
}

// ---- columns: a lane of a vector for each ----

/// Vectors of neighbouring columns that are taken together: what a row has for them is a few lines of the cache.
constexpr int kTogether = 4;

/// Calls body.template operator()<vectors>(first, count) for groups of columns; but for the last one each has
/// vectors * lanes of them.
template <class T, class Body>
void for_groups(int64_t columns, const Body& body) {
  int64_t first = 0;
  for (; first + kTogether * kLanes<T> <= columns; first += kTogether * kLanes<T>)
    body.template operator()<kTogether>(first, kTogether * kLanes<T>);
  for (; first < columns; first += kLanes<T>)
    body.template operator()<1>(first, columns - first < kLanes<T> ? columns - first : kLanes<T>);
}

/// Calls visit(vector, place, count) for the vectors of one row of a group.
template <class T, int vectors, class Visit>
void for_vectors(int64_t at, int64_t count, const Visit& visit) {
  for (int v = 0; v < vectors; ++v) visit(v, at + v * kLanes<T>, vectors == 1 ? count : kLanes<T>);
}

/// Adds up value(place, count) over the rows of a group, runs of rows first.
template <class T, int vectors, class Value>
void sum_rows(Vec<T>* sums, int64_t n, int64_t stride, int64_t first, int64_t count, const Value& value) {
  constexpr int64_t kRun = 256;
  for (int64_t begin = 0; begin < n; begin += kRun) {
    Vec<T> run[vectors] = {};
    for (int64_t i = begin; i < n && i < begin + kRun; ++i)
      for_vectors<T, vectors>(i * stride + first, count,
                              [&](int v, int64_t at, int64_t m) { run[v] += value(v, at, m); });
    for (int v = 0; v < vectors; ++v) sums[v] += run[v];
  }
}

template <class T, int vectors>
void find_maxima(Vec<T>* tops, const T* in, int64_t n, int64_t stride, int64_t first, int64_t count) {
  const T lowest = -static_cast<T>(__builtin_inff());
  for (int v = 0; v < vectors; ++v) tops[v] = broadcast(lowest);
  for (int64_t i = 0; i < n; ++i)
    for_vectors<T, vectors>(i * stride + first, count, [&](int v, int64_t at, int64_t m) {
      const Vec<T> x = read(in + at, m);
      tops[v] = x > tops[v] ? x : tops[v];
    });
}

/// out = value(vector, place, count), for all rows of a group.
template <class T, int vectors, class Value>
void write_rows(T* out, int64_t n, int64_t stride, int64_t first, int64_t count, const Value& value) {
  for (int64_t i = 0; i < n; ++i)
    for_vectors<T, vectors>(i * stride + first, count,
                            [&](int v, int64_t at, int64_t m) { write<T>(out + at, value(v, at, m), m); });
}

template <class T>
void softmax_columns(T* out, const T* in, int64_t n, int64_t stride, int64_t columns) {
  for_groups<T>(columns, [&]<int vectors>(int64_t first, int64_t count) {
    Vec<T> tops[vectors], sums[vectors] = {};
    find_maxima<T, vectors>(tops, in, n, stride, first, count);
    sum_rows<T, vectors>(sums, n, stride, first, count, [&](int v, int64_t at, int64_t m) {
      const Vec<T> e = v_exp(read(in + at, m) - tops[v]);
      write<T>(out + at, e, m);
      return e;
    });
    write_rows<T, vectors>(out, n, stride, first, count,
                           [&](int v, int64_t at, int64_t m) { return read(out + at, m) / sums[v]; });
  });
}

template <class T>
void log_softmax_columns(T* out, const T* in, int64_t n, int64_t stride, int64_t columns) {
  for_groups<T>(columns, [&]<int vectors>(int64_t first, int64_t count) {
    Vec<T> tops[vectors], sums[vectors] = {};
    find_maxima<T, vectors>(tops, in, n, stride, first, count);
    sum_rows<T, vectors>(sums, n, stride, first, count,
                         [&](int v, int64_t at, int64_t m) { return v_exp(read(in + at, m) - tops[v]); });
    for (Vec<T>& sum : sums) sum = v_log(sum);
    write_rows<T, vectors>(out, n, stride, first, count,
                           [&](int v, int64_t at, int64_t m) { return read(in + at, m) - tops[v] - sums[v]; });
  });
}

template <class T>
void softmax_backward_columns(T* out, const T* grad, const T* result, int64_t n, int64_t stride, int64_t columns) {
  for_groups<T>(columns, [&]<int vectors>(int64_t first, int64_t count) {
    Vec<T> dots[vectors] = {};
    sum_rows<T, vectors>(dots, n, stride, first, count,
                         [&](int, int64_t at, int64_t m) { return read(grad + at, m) * read(result + at, m); });
    write_rows<T, vectors>(out, n, stride, first, count, [&](int v, int64_t at, int64_t m) {
      return (read(grad + at, m) - dots[v]) * read(result + at, m);
    });
  });
}

template <class T>
void log_softmax_backward_columns(T* out, const T* grad, const T* result, int64_t n, int64_t stride, int64_t columns) {
  for_groups<T>(columns, [&]<int vectors>(int64_t first, int64_t count) {
    Vec<T> sums[vectors] = {};
    sum_rows<T, vectors>(sums, n, stride, first, count, [&](int, int64_t at, int64_t m) { return read(grad + at, m); });
    write_rows<T, vectors>(out, n, stride, first, count, [&](int v, int64_t at, int64_t m) {
      return read(grad + at, m) - v_exp(read(result + at, m)) * sums[v];
    });
  });
}

template <class T>
void cross_entropy_backward(T* out, T grad, int64_t place, const T* result, int64_t n) {
  const Vec<T> at_place = grad - v_exp(read(result + place, 1)) * grad;
  for_each_vector<T>(
      n, [&](int64_t i, int64_t count) { write<T>(out + i, T{0} - v_exp(read(result + i, count)) * grad, count); });
  write<T>(out + place, at_place, 1);
}

}  // namespace

SoftmaxRows<float> softmax_rows(float) {
  return {softmax<float>,
          log_softmax<float>,
          softmax_backward<float>,
          log_softmax_backward<float>,
          softmax_columns<float>,
          log_softmax_columns<float>,
          softmax_backward_columns<float>,
          log_softmax_backward_columns<float>,
          cross_entropy_backward<float>};
}
SoftmaxRows<double> softmax_rows(double) {
  return {softmax<double>,
          log_softmax<double>,
          softmax_backward<double>,
          log_softmax_backward<double>,
          softmax_columns<double>,
          log_softmax_columns<double>,
          softmax_backward_columns<double>,
          log_softmax_backward_columns<double>,
          cross_entropy_backward<double>};
}

}  // namespace terra::cpu::TERRA_ISA
