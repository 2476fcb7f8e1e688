// What Fourier transforms mean: X_k = sum_j x_j exp(-+ 2 pi i j k / n), along one dimension after the other.
#include <cmath>
#include <complex>
#include <map>

#include "kernels/reference/families.h"
#include "kernels/reference/index.h"
#include "kernels/reference/numbers.h"

namespace terra::reference {

namespace {

using Z = std::complex<double>;

/// An array of complex numbers in row-major order.
struct Field {
  std::vector<int64_t> sizes;
  std::vector<Z> values;

  explicit Field(const View& v) : sizes(v.sizes, v.sizes + v.rank) {
    for_each_index(v, [&](const int64_t* i) { values.push_back(to_complex(read(v.dtype, address_at(v, i)))); });
  }

  /// The sum along dimension d for `n` values of k; `given` are the elements x_j of a line.
  template <class Element>
  void transform(int64_t dim, int64_t n, int64_t period, bool forward, Element element) {
    const size_t d = static_cast<size_t>(dim < 0 ? dim + static_cast<int64_t>(sizes.size()) : dim);
    int64_t inner = 1, outer = 1;
    for (size_t i = 0; i < sizes.size(); ++i) (i < d ? outer : inner) *= i == d ? 1 : sizes[i];
    const int64_t length = sizes[d];
    std::vector<Z> made(static_cast<size_t>(outer * n * inner));
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t k = 0; k < n; ++k) {
        for (int64_t i = 0; i < inner; ++i) {
          Z sum = 0;
          const auto at = [&](int64_t j) { return values[static_cast<size_t>((o * length + j) * inner + i)]; };
          for (int64_t j = 0; j < period; ++j) {
            const double turn = 2 * M_PI * static_cast<double>(j * k % period) / static_cast<double>(period);
            sum += element(at, j) * std::polar(1.0, forward ? -turn : turn);
          }
          made[static_cast<size_t>((o * n + k) * inner + i)] = sum;
        }
      }
    }
    values = std::move(made);
    sizes[d] = n;
  }
  void transform(int64_t dim, int64_t kept, bool forward) {
    const int64_t length = sizes[static_cast<size_t>(dim < 0 ? dim + static_cast<int64_t>(sizes.size()) : dim)];
    transform(dim, kept < 0 ? length : kept, length, forward, [](const auto& at, int64_t j) { return at(j); });
  }

  void store(const View& out, double scale) const {
    size_t next = 0;
    for_each_index(out, [&](const int64_t* i) { write(out.dtype, address_at(out, i), values[next++] * scale); });
  }
};

int64_t size_along(const View& v, int64_t dim) { return v.sizes[dim < 0 ? dim + v.rank : dim]; }

void complex_to_complex(const KernelCall& call) {
  Field field(call.view(0));
  for (int64_t dim : call.ints(1)) field.transform(dim, -1, call.flag(2));
  field.store(call.out[0], call.ints(1).empty() ? 1.0 : call.real(3));
}

void real_to_complex(const KernelCall& call) {
  Field field(call.view(0));
  const auto dims = call.ints(1);
  field.transform(dims.back(), size_along(call.out[0], dims.back()), true);
  for (int64_t dim : dims.first(dims.size() - 1)) field.transform(dim, -1, true);
  field.store(call.out[0], call.real(3));
}

/// What lies beyond the half that is given is the conjugate of what lies before it; its ends count as real.
void complex_to_real(const KernelCall& call) {
  Field field(call.view(0));
  const auto dims = call.ints(1);
  for (int64_t dim : dims.first(dims.size() - 1)) field.transform(dim, -1, false);
  const int64_t n = size_along(call.out[0], dims.back());
  field.transform(dims.back(), n, n, false, [n](const auto& at, int64_t j) {
    const bool end = j == 0 || 2 * j == n;
    return end ? Z(at(j).real()) : 2 * j < n ? at(j) : std::conj(at(n - j));
  });
  field.store(call.out[0], call.real(3));
}

constexpr Kernel kKernels[] = {
    {.op = "fft_c2c", .run = complex_to_complex},
    {.op = "fft_r2c", .run = real_to_complex},
    {.op = "fft_c2r", .run = complex_to_real},
};

}  // namespace

std::span<const Kernel> fourier_kernels() { return kKernels; }

}  // namespace terra::reference
