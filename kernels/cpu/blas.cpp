// Splits products among threads and gives each piece to the library that is fastest for its class of shapes.
#include "kernels/cpu/blas.h"

#include <oneapi/dnnl/dnnl.h>
#include <openblas-serial/cblas.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <climits>
#include <complex>
#include <mutex>
#include <type_traits>
#include <vector>

#include "kernels/abi/exact_mode.h"
#include "kernels/abi/kernel_error.h"
#include "kernels/abi/parallel.h"
#include "kernels/cpu/blas_core.h"
#include "kernels/cpu/fork_locks.h"
#include "kernels/cpu/held_signals.h"
#include "kernels/cpu/single_thread.h"

// The serial OpenBLAS hands out its packing buffers without a lock: two threads that ask at once get the same one, and
// their products are wrong. The linker sends its requests here (LINKER:--wrap in kernels/CMakeLists.txt).
extern "C" {
void* __real_blas_memory_alloc(int position);
void __real_blas_memory_free(void* buffer);

void* __wrap_blas_memory_alloc(int position) {
  const std::lock_guard lock(terra::cpu::fork_locks().product_buffers);
  return __real_blas_memory_alloc(position);
}
void __wrap_blas_memory_free(void* buffer) {
  const std::lock_guard lock(terra::cpu::fork_locks().product_buffers);
  __real_blas_memory_free(buffer);
}
}

namespace terra::cpu::blas {
namespace {

/// One call of a library: a product with its operands in the form that BLAS wants.
template <class T>
struct Product {
  int m, n, k;
  T alpha;
  const T* a;
  bool a_transposed;
  int lda;
  const T* b;
  bool b_transposed;
  int ldb;
  T beta;
  T* c;
  int ldc;
};

CBLAS_TRANSPOSE flag(bool transposed) { return transposed ? CblasTrans : CblasNoTrans; }

void by_openblas(const Product<float>& p) {
  cblas_sgemm(CblasRowMajor, flag(p.a_transposed), flag(p.b_transposed), p.m, p.n, p.k, p.alpha, p.a, p.lda, p.b, p.ldb,
              p.beta, p.c, p.ldc);
}

void by_openblas(const Product<double>& p) {
  cblas_dgemm(CblasRowMajor, flag(p.a_transposed), flag(p.b_transposed), p.m, p.n, p.k, p.alpha, p.a, p.lda, p.b, p.ldb,
              p.beta, p.c, p.ldc);
}

void by_openblas(const Product<std::complex<float>>& p) {
  cblas_cgemm(CblasRowMajor, flag(p.a_transposed), flag(p.b_transposed), p.m, p.n, p.k, &p.alpha, p.a, p.lda, p.b,
              p.ldb, &p.beta, p.c, p.ldc);
}

void by_openblas(const Product<std::complex<double>>& p) {
  cblas_zgemm(CblasRowMajor, flag(p.a_transposed), flag(p.b_transposed), p.m, p.n, p.k, &p.alpha, p.a, p.lda, p.b,
              p.ldb, &p.beta, p.c, p.ldc);
}

void by_onednn(const Product<float>& p) {
  const SingleThread single;
  const HeldSignals held;
  dnnl_sgemm(p.a_transposed ? 'T' : 'N', p.b_transposed ? 'T' : 'N', p.m, p.n, p.k, p.alpha, p.a, p.lda, p.b, p.ldb,
             p.beta, p.c, p.ldc);
}

/// C^T = B^T A^T with C's rows as columns: for a C of one row or column this is matrix times vector.
void by_vector(const Product<float>& p) {
  if (p.m == 1) {
    const int rows = p.b_transposed ? p.n : p.k, cols = p.b_transposed ? p.k : p.n;
    cblas_sgemv(CblasRowMajor, flag(!p.b_transposed), rows, cols, p.alpha, p.b, p.ldb, p.a, p.a_transposed ? p.lda : 1,
                p.beta, p.c, 1);
  } else {
    const int rows = p.a_transposed ? p.k : p.m, cols = p.a_transposed ? p.m : p.k;
    cblas_sgemv(CblasRowMajor, flag(p.a_transposed), rows, cols, p.alpha, p.a, p.lda, p.b, p.b_transposed ? 1 : p.ldb,
                p.beta, p.c, p.ldc);
  }
}

using Implementation = void (*)(const Product<float>&);
constexpr Implementation kImplementations[] = {by_openblas, by_onednn, by_vector};
constexpr uint8_t kUndecided = 0;  ///< table entries are 1 + index into kImplementations

/// Shapes that are measured together: each of m, n, k by its power of two up to 4096, and the two transpositions.
constexpr int kBuckets = 13;
std::atomic<uint8_t> choices[kBuckets][kBuckets][kBuckets][4];

int bucket(int size) { return std::min<int>(std::bit_width(static_cast<unsigned>(size)), kBuckets) - 1; }

double seconds_of(Implementation implementation, const Product<float>& p, int repetitions) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < repetitions; ++i) implementation(p);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Times the candidates on a corner of the product with at most 32 million operations (a quarter of a millisecond) into
/// a result of its own: each once to warm up, then in turn until one is clearly the fastest or four rounds are over. A
/// millisecond or two for a class of large shapes, once in the life of the process.
uint8_t measure(Product<float> p) {
  constexpr double kMostOperations = 32e6, kClearly = 1.25;
  constexpr int kMostRounds = 4;
  const auto operations = [&p] { return 2.0 * p.m * p.n * p.k; };
  while (operations() > kMostOperations) {
    int& longest = p.m >= p.n && p.m >= p.k ? p.m : p.n >= p.k ? p.n : p.k;
    longest = (longest + 1) / 2;
  }
  std::vector<float> result(static_cast<size_t>(p.m) * static_cast<size_t>(p.n));
  p.c = result.data();
  p.ldc = p.n;
  p.beta = 0;
  const int candidates = p.m == 1 || p.n == 1 ? 3 : 2;
  const int repetitions = static_cast<int>(std::clamp(1e6 / operations(), 1.0, 100.0));
  double best_time[3] = {1e9, 1e9, 1e9};
  for (int i = 0; i < candidates; ++i) kImplementations[i](p);
  int best = 0;
  for (int round = 0; round < kMostRounds; ++round) {
    for (int i = 0; i < candidates; ++i)
      best_time[i] = std::min(best_time[i], seconds_of(kImplementations[i], p, repetitions));
    best = static_cast<int>(std::min_element(best_time, best_time + candidates) - best_time);
    bool clear = true;
    for (int i = 0; i < candidates; ++i) clear &= i == best || best_time[i] > kClearly * best_time[best];
    if (clear) break;
  }
  return static_cast<uint8_t>(1 + best);
}

/// Products of fewer multiplications than this are OpenBLAS's without a measurement: it was never seen to lose there,
/// and a program of small products is spared oneDNN's start (some 30 ms for its code generator).
constexpr int64_t kMeasured = 512 * 1024;

Implementation implementation_for(const Product<float>& p) {
  if (exact_mode() || int64_t{p.m} * p.n * p.k < kMeasured) return by_openblas;
  std::atomic<uint8_t>& entry = choices[bucket(p.m)][bucket(p.n)][bucket(p.k)][p.a_transposed * 2 + p.b_transposed];
  uint8_t choice = entry.load(std::memory_order_relaxed);
  if (choice == kUndecided) [[unlikely]] {
    const std::lock_guard lock(fork_locks().product_choice);
    choice = entry.load(std::memory_order_relaxed);
    if (choice == kUndecided) {
      choice = measure(p);
      entry.store(choice, std::memory_order_relaxed);
    }
  }
  return kImplementations[choice - 1];
}

void multiply(const Product<float>& p) { implementation_for(p)(p); }
template <class T>
void multiply(const Product<T>& p) {
  by_openblas(p);
}

/// How [m, n] falls apart: `count` pieces of `width` along the longer side. A function of the shape alone.
struct Split {
  bool along_n;
  int64_t width;
  int64_t count;
};

Split split_of(int64_t m, int64_t n, int64_t k) {
  constexpr double kHalvedOperations = 10e6;  // 50 us for each of two threads: worth a worker that is awake
  constexpr double kPieceOperations = 32e6;   // a quarter of a millisecond: worth waking one
  constexpr int64_t kMostPieces = 32;
  constexpr int64_t kWide = 128;  // narrower pieces would spend their time packing the operand they share
  constexpr int64_t kVector = 16;
  const double operations = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  const int64_t least = operations < kHalvedOperations ? 1 : 2;
  const int64_t wanted = std::clamp<int64_t>(static_cast<int64_t>(operations / kPieceOperations), least, kMostPieces);
  const bool along_n = n >= m;
  const int64_t length = along_n ? n : m;
  const int64_t share = (length + wanted - 1) / wanted;
  const int64_t multiple = share < 4 * kWide ? kVector : kWide;
  const int64_t width = wanted == 1 ? length : (share + multiple - 1) / multiple * multiple;
  return {along_n, width, (length + width - 1) / width};
}

/// The operand with the axis that BLAS calls rows; false/true: as it is/transposed.
template <class T>
void place(const Operand<T>& operand, int64_t rows, int64_t columns, bool& transposed, int& leading) {
  // A matrix of one row or column can be read both ways: take the way that keeps it untransposed if possible.
  const bool plain = (operand.column_stride == 1 || columns == 1) &&
                     (rows == 1 || operand.row_stride >= std::max<int64_t>(columns, 1));
  transposed = !plain;
  const int64_t stride = plain ? operand.row_stride : operand.column_stride;
  const int64_t across = plain ? columns : rows;
  const bool one_line = (plain ? rows : columns) == 1;
  leading = static_cast<int>(one_line ? std::max<int64_t>(across, 1) : stride);
}

template <class T>
void run(int64_t m, int64_t n, int64_t k, T alpha, Operand<T> a, Operand<T> b, T beta, const T* bias, T* c,
         int64_t ldc) {
  if (m == 0 || n == 0) return;
  if (std::max({m, n, k, ldc, std::abs(a.row_stride), std::abs(a.column_stride), std::abs(b.row_stride),
                std::abs(b.column_stride)}) > INT_MAX) {
    throw KernelError(KernelError::Kind::Runtime,
                      "a matrix product with a dimension or row stride above 2147483647 is not supported");
  }
  ensure_core();
  bool a_transposed, b_transposed;
  int lda, ldb;
  place(a, m, k, a_transposed, lda);
  place(b, k, n, b_transposed, ldb);
  const auto piece = [&](int64_t i, int64_t j, int64_t rows, int64_t columns) {
    T* out = c + i * ldc + j;
    T beta_here = beta;
    if (bias != nullptr) {
      for (int64_t r = 0; r < rows; ++r) std::copy_n(bias + j, columns, out + r * ldc);
      beta_here = 1;
    }
    if (k == 0) {
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t col = 0; col < columns; ++col)
          out[r * ldc + col] = beta_here == T{0} ? T{0} : beta_here * out[r * ldc + col];
      }
      return;
    }
    multiply(Product<T>{static_cast<int>(rows), static_cast<int>(columns), static_cast<int>(k), alpha,
                        a.data + i * a.row_stride, a_transposed, lda, b.data + j * b.column_stride, b_transposed, ldb,
                        beta_here, out, static_cast<int>(ldc)});
  };
  const Split split = split_of(m, n, k);
  if (split.count == 1) return piece(0, 0, m, n);
  const int64_t length = split.along_n ? n : m;
  parallel_for(split.count, 1, [&](int64_t begin, int64_t end) {
    for (int64_t s = begin; s < end; ++s) {
      const int64_t at = s * split.width, size = std::min(split.width, length - at);
      if (split.along_n) {
        piece(0, at, m, size);
      } else {
        piece(at, 0, size, n);
      }
    }
  });
}

}  // namespace

bool is_direct(int64_t rows, int64_t columns, int64_t row_stride, int64_t column_stride) {
  const bool by_rows =
      (column_stride == 1 || columns <= 1) && (rows <= 1 || row_stride >= std::max<int64_t>(columns, 1));
  const bool by_columns =
      (row_stride == 1 || rows <= 1) && (columns <= 1 || column_stride >= std::max<int64_t>(rows, 1));
  return by_rows || by_columns;
}

template <class T>
void gemm(int64_t m, int64_t n, int64_t k, T alpha, Operand<T> a, Operand<T> b, T beta, T* c, int64_t ldc) {
  run<T>(m, n, k, alpha, a, b, beta, nullptr, c, ldc);
}

template <class T>
void gemm_bias(int64_t m, int64_t n, int64_t k, Operand<T> a, Operand<T> b, const T* bias, T* c, int64_t ldc) {
  run<T>(m, n, k, T{1}, a, b, T{0}, bias, c, ldc);
}

#define TERRA_GEMM(T)                                                                       \
  template void gemm(int64_t, int64_t, int64_t, T, Operand<T>, Operand<T>, T, T*, int64_t); \
  template void gemm_bias(int64_t, int64_t, int64_t, Operand<T>, Operand<T>, const T*, T*, int64_t);
TERRA_GEMM(float)
TERRA_GEMM(double)
TERRA_GEMM(std::complex<float>)
TERRA_GEMM(std::complex<double>)
#undef TERRA_GEMM

}  // namespace terra::cpu::blas
