// Pixels whose channels lie together: sums and scaling of channels, and pools, vectors of channels at a time.
#include "kernels/cpu/isa/reduce.h"
#include "kernels/cpu/isa/rows.h"

namespace terra::cpu::TERRA_ISA {

namespace {

/// So many numbers of a channel are summed in T before the sum goes to f64.
constexpr int64_t kRun = 64;

/// Adds to sums, one for each channel, value(row * n + channel, count) of all rows.
template <class T, class Value>
void add_sums(int64_t rows, int64_t n, double* sums, const Value& value) {
  for (int64_t begin = 0; begin < rows; begin += kRun) {
    const int64_t end = begin + kRun < rows ? begin + kRun : rows;
    for_each_vector<T>(n, [&](int64_t c, int64_t count) {
      Vec<T> even = {}, odd = {};
      int64_t r = begin;
      for (; r + 2 <= end; r += 2) {
        even += value(r * n + c, c, count);
        odd += value((r + 1) * n + c, c, count);
      }
      if (r < end) even += value(r * n + c, c, count);
      const Vec<T> sum = even + odd;
      for (int64_t k = 0; k < count; ++k) sums[c + k] += static_cast<double>(sum[k]);
    });
  }
}

template <class T>
void sums(const T* x, int64_t rows, int64_t n, double* sums) {
  add_sums<T>(rows, n, sums, [&](int64_t i, int64_t, int64_t count) { return read(x + i, count); });
}

template <class T>
void sums_of_squares(const T* x, const T* centers, int64_t rows, int64_t n, double* sums) {
  add_sums<T>(rows, n, sums, [&](int64_t i, int64_t c, int64_t count) {
    const Vec<T> d = read(x + i, count) - read(centers + c, count);
    return d * d;
  });
}

template <class T>
void sums_with_gradient(const T* grad, const T* x, const T* centers, int64_t rows, int64_t n, double* sums) {
  add_sums<T>(rows, n, sums, [&](int64_t i, int64_t, int64_t count) { return read(grad + i, count); });
  add_sums<T>(rows, n, sums + n, [&](int64_t i, int64_t c, int64_t count) {
    return read(grad + i, count) * (read(x + i, count) - read(centers + c, count));
  });
}

template <class T>
void scale_shift(T* out, const T* x, const T* scale, const T* shift, int64_t rows, int64_t n) {
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < n; ++c) out[r * n + c] = x[r * n + c] * scale[c] + shift[c];
}

template <class T>
void combine(T* out, const T* a, const T* scale_a, const T* b, const T* scale_b, const T* shift, int64_t rows,
             int64_t n) {
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < n; ++c) out[r * n + c] = a[r * n + c] * scale_a[c] + b[r * n + c] * scale_b[c] + shift[c];
}

// ---- pools ----------------------------------------------------------------------------------------------------------

/// Whole numbers of the width of T.
template <class T>
struct IndexOf {
  using type = int32_t;
};
template <>
struct IndexOf<double> {
  using type = int64_t;
};

template <class T>
void largest(const PixelWindow& w, const T* image, int64_t n, T* out, int64_t* indices) {
  using Index = typename IndexOf<T>::type;
  for_each_vector<T>(n, [&](int64_t c, int64_t count) {
    Vec<T> best = broadcast(-T(__builtin_inf()));
    Vec<Index> place = broadcast(Index(w.first));
    for (int64_t y = w.y0; y < w.y1; y += w.y_step) {
      for (int64_t x = w.x0; x < w.x1; x += w.x_step) {
        const int64_t pixel = y * w.width + x;
        const Vec<T> v = read(image + pixel * n + c, count);
        const auto beats = (v > best) | (v != v);
        best = beats ? v : best;
        place = beats ? broadcast(Index(pixel)) : place;
      }
    }
    write<T>(out + c, best, count);
    for (int64_t k = 0; k < count; ++k) indices[c + k] = place[k];
  });
}

template <class T>
void mean(const PixelWindow& w, const T* image, int64_t n, T* out, T divisor) {
  for_each_vector<T>(n, [&](int64_t c, int64_t count) {
    double total[kLanes<T>] = {};
    Vec<T> sum = {};
    int64_t held = 0;
    const auto flush = [&] {
      for (int64_t k = 0; k < kLanes<T>; ++k) total[k] += static_cast<double>(sum[k]);
      sum = Vec<T>{};
      held = 0;
    };
    bool flushed = false;
    for (int64_t y = w.y0; y < w.y1; ++y) {
      for (int64_t x = w.x0; x < w.x1; ++x) {
        if (held == kRun) flush(), flushed = true;
        sum += read(image + (y * w.width + x) * n + c, count);
        ++held;
      }
    }
    if (flushed) {
      flush();
      for (int64_t k = 0; k < kLanes<T>; ++k) sum[k] = static_cast<T>(total[k]);
    }
    write<T>(out + c, sum / divisor, count);
  });
}

template <class T>
void spread(const PixelWindow& w, const T* grad, int64_t n, T* image, T divisor) {
  for_each_vector<T>(n, [&](int64_t c, int64_t count) {
    const Vec<T> share = read(grad + c, count) / divisor;
    for (int64_t y = w.y0; y < w.y1; ++y) {
      for (int64_t x = w.x0; x < w.x1; ++x) {
        T* const at = image + (y * w.width + x) * n + c;
        write<T>(at, read(at, count) + share, count);
      }
    }
  });
}

template <class T>
ChannelRows<T> table() {
  return {sums<T>, sums_of_squares<T>, sums_with_gradient<T>, scale_shift<T>, combine<T>, largest<T>,
          mean<T>, spread<T>};
}

}  // namespace

ChannelRows<float> channel_rows(float) { return table<float>(); }
ChannelRows<double> channel_rows(double) { return table<double>(); }

}  // namespace terra::cpu::TERRA_ISA
