// Operations of linear algebra for one matrix: what must hold of their results, and the matrices that they can't take.
#include "kernels/cpu/linear_algebra.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <vector>

namespace linalg = terra::cpu::linalg;

namespace {

using Columns = std::vector<double>;  // a matrix, column by column

Columns product(int m, int k, int n, const Columns& a, const Columns& b) {
  Columns c(static_cast<size_t>(m * n));
  for (int j = 0; j < n; ++j)
    for (int l = 0; l < k; ++l)
      for (int i = 0; i < m; ++i) c[j * m + i] += a[l * m + i] * b[j * k + l];
  return c;
}
Columns transposed(int m, int n, const Columns& a) {
  Columns t(a.size());
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i) t[i * n + j] = a[j * m + i];
  return t;
}
Columns identity(int n) {
  Columns one(static_cast<size_t>(n * n));
  for (int i = 0; i < n; ++i) one[i * n + i] = 1;
  return one;
}
/// Numbers without a pattern, with a diagonal that keeps matrices regular.
Columns some(int m, int n) {
  Columns a(static_cast<size_t>(m * n));
  for (int i = 0; i < m * n; ++i) a[i] = std::fmod((i + 1) * (i + 1) * 0.6180339887, 1.0) - 0.5 + (i % (m + 1) == 0);
  return a;
}
void check_close(const Columns& got, const Columns& want) {
  REQUIRE(got.size() == want.size());
  for (size_t i = 0; i < got.size(); ++i) CHECK(got[i] == Approx(want[i]).margin(1e-12));
}

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("a solution solves, and its matrix may be singular", "[kernels]") {
  Columns a = some(5, 5), lu = a, x = some(5, 2);
  const Columns b = x;
  CHECK(linalg::solve(5, 2, lu.data(), x.data()) == 0);
  check_close(product(5, 5, 2, a, x), b);
  Columns zeros(4), one = identity(2);
  CHECK(linalg::solve(2, 2, zeros.data(), one.data()) == 1);
}

TEST_CASE("matrices of all sizes are factorized with the largest pivots", "[kernels]") {
  for (const int m : {1, 2, 3, 5, 8, 9, 12}) {
    for (const int n : {1, 3, 8, 10}) {
      INFO(m << " x " << n);
      Columns a = some(m, n), factors = a, l(static_cast<size_t>(m * m)), u(static_cast<size_t>(m * n));
      for (int i = 0; i < m; ++i) a[i] = factors[i] *= 1e-3 * (i + 1);  // so that rows change places
      std::vector<int> pivots(static_cast<size_t>(std::min(m, n)));
      CHECK(linalg::lu(m, n, factors.data(), pivots.data()) == 0);
      for (int j = 0; j < m; ++j)
        for (int i = j; i < m; ++i) l[j * m + i] = i == j ? 1 : j < n ? factors[j * m + i] : 0;
      for (int j = 0; j < n; ++j)
        for (int i = 0; i <= std::min(j, m - 1); ++i) u[j * m + i] = factors[j * m + i];
      for (const double x : l) CHECK(std::abs(x) <= 1);
      Columns product_of_both = product(m, m, n, l, u);
      for (size_t i = pivots.size(); i-- > 0;)
        for (int j = 0; j < n; ++j) std::swap(product_of_both[j * m + i], product_of_both[j * m + pivots[i] - 1]);
      check_close(product_of_both, a);
    }
    Columns a = some(m, m), lu = a, x = some(m, 3);
    const Columns b = x;
    CHECK(linalg::solve(m, 3, lu.data(), x.data()) == 0);
    check_close(product(m, m, 3, a, x), b);
  }
  Columns singular = {0, 0, 0, 1, 2, 3, 4, 5, 6};
  std::vector<int> pivots(3);
  CHECK(linalg::lu(3, 3, singular.data(), pivots.data()) == 1);
}

TEST_CASE("cofactors are derivatives of the determinant, of singular matrices too", "[kernels]") {
  for (Columns a : {some(4, 4), Columns{1, 2, 1, 2, 4, 0, 3, 6, 1}, Columns(9)}) {
    const int n = a.size() == 16 ? 4 : 3;
    Columns c = a;
    REQUIRE(linalg::cofactors(n, c.data()) == 0);
    for (size_t i = 0; i < a.size(); ++i) {
      Columns up = a, down = a;
      up[i] += 1e-6;
      down[i] -= 1e-6;
      const double slope = (linalg::determinant(n, up.data()) - linalg::determinant(n, down.data())) / 2e-6;
      CHECK(c[i] == Approx(slope).margin(1e-7));
    }
  }
}

TEST_CASE("Cholesky's factor, and the minor that isn't positive", "[kernels]") {
  const Columns a = some(4, 4), spd = product(4, 4, 4, a, transposed(4, 4, a));
  Columns l = spd;
  CHECK(linalg::cholesky(4, l.data()) == 0);
  check_close(product(4, 4, 4, l, transposed(4, 4, l)), spd);
  Columns x = some(4, 2);
  linalg::cholesky_solve(4, 2, l.data(), x.data());
  check_close(product(4, 4, 2, spd, x), some(4, 2));
  CHECK(linalg::cholesky_inverse(4, l.data()) == 0);
  check_close(product(4, 4, 4, l, spd), identity(4));
  Columns indefinite = {1, 0, 0, -1}, unknown = {1, 0, 0, kNaN};
  CHECK(linalg::cholesky(2, indefinite.data()) == 2);
  CHECK(linalg::cholesky(2, unknown.data()) == 2);
}

TEST_CASE("pivots that no factorization makes are refused", "[kernels]") {
  const Columns ld = identity(3);
  Columns b(3, 1.0);
  for (const std::vector<int>& pivots : {std::vector{0, 2, 3}, {1, 2, 4}, {1, 2, -3}, {-2, -3, 3}, {-9, -9, 3}})
    CHECK(linalg::ldl_solve(false, 3, 1, ld.data(), pivots.data(), b.data()) == -1);
  const std::vector<int> good = {1, -3, -3};
  CHECK(linalg::ldl_solve(false, 3, 1, ld.data(), good.data(), b.data()) == 0);
}

TEST_CASE("factors have the sizes that were asked for", "[kernels]") {
  for (const auto& [m, n] : {std::pair(5, 3), {3, 5}, {4, 4}})
    for (const int columns : {std::min(m, n), m}) {
      const Columns a = some(m, n);
      Columns lost = a, q(static_cast<size_t>(m * columns)), r(static_cast<size_t>(columns * n));
      linalg::qr(m, n, columns, lost.data(), q.data(), r.data());
      check_close(product(m, columns, n, q, r), a);
      check_close(product(columns, m, columns, transposed(m, columns, q), q), identity(columns));
    }
  Columns q(9), r(0);
  linalg::qr<double>(3, 0, 3, nullptr, q.data(), r.data());
  check_close(q, identity(3));
}

TEST_CASE("pseudoinverses leave out what is within the bounds", "[kernels]") {
  const Columns a = {1, 0, 0, 0, 1e-3, 0};  // 3 x 2
  Columns lost = a, x(6);
  CHECK(linalg::pseudoinverse(3, 2, 0.0, 0.0, lost.data(), x.data()) == 0);
  check_close(x, {1, 0, 0, 1000, 0, 0});
  lost = a;
  CHECK(linalg::pseudoinverse(3, 2, 0.0, 0.01, lost.data(), x.data()) == 0);
  check_close(x, {1, 0, 0, 0, 0, 0});
  Columns symmetric = {2, 0, 0, -4}, y(4);
  CHECK(linalg::pseudoinverse_hermitian(2, 3.0, 0.0, symmetric.data(), y.data()) == 0);
  check_close(y, {0, 0, 0, -0.25});
}

TEST_CASE("roots, polar factors and Lyapunov's equation", "[kernels]") {
  const Columns a = some(4, 4), spd = product(4, 4, 4, a, transposed(4, 4, a));
  Columns root = spd;
  CHECK(linalg::square_root(4, root.data()) == 0);
  check_close(product(4, 4, 4, root, root), spd);

  const Columns wide = some(3, 5);
  Columns lost = wide, u(15), h(9);
  CHECK(linalg::polar(3, 5, lost.data(), u.data(), h.data()) == 0);
  check_close(product(3, 3, 5, h, u), wide);
  check_close(product(3, 5, 3, u, transposed(3, 5, u)), identity(3));

  lost = spd;
  Columns z = a;
  CHECK(linalg::lyapunov(4, lost.data(), z.data()) == 0);
  Columns sum = product(4, 4, 4, spd, z);
  const Columns other = product(4, 4, 4, z, spd);
  for (size_t i = 0; i < sum.size(); ++i) sum[i] += other[i];
  check_close(sum, a);
}

TEST_CASE("eigenvalues in pairs, and each with its vector", "[kernels]") {
  using Complex = std::complex<double>;
  for (const Columns& a : {Columns{0, 1, -1, 0}, some(5, 5), Columns{2, 0, 0, 3}}) {
    const int n = a.size() == 4 ? 2 : 5;
    Columns lost = a;
    std::vector<Complex> w(static_cast<size_t>(n)), v(a.size());
    REQUIRE(linalg::eig(n, lost.data(), w.data(), v.data()) == 0);
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) {
        Complex turned = 0;
        for (int k = 0; k < n; ++k) turned += a[k * n + i] * v[j * n + k];
        CHECK(std::abs(turned - w[j] * v[j * n + i]) < 1e-12);
      }
  }
}

TEST_CASE("a determinant of complex numbers, and its derivatives where it is zero", "[kernels]") {
  using Complex = std::complex<double>;
  std::vector<Complex> a = {{1, 1}, {0, 2}, {3, 0}, {1, -1}}, c = a, singular = {{1, 1}, {2, 2}, {0, 1}, {0, 2}};
  CHECK(std::abs(linalg::determinant(2, a.data()) - Complex(2, -6)) < 1e-12);
  REQUIRE(linalg::cofactors(2, c.data()) == 0);
  REQUIRE(linalg::cofactors(2, singular.data()) == 0);
  const Complex regular[] = {{1, -1}, {-3, 0}, {0, -2}, {1, 1}}, other[] = {{0, 2}, {0, -1}, {-2, -2}, {1, 1}};
  for (int i = 0; i < 4; ++i) {
    CHECK(std::abs(c[i] - regular[i]) < 1e-12);
    CHECK(std::abs(singular[i] - other[i]) < 1e-12);
  }
}

TEST_CASE("exponentials of small, large and unknown matrices", "[kernels]") {
  const double angle = 100;
  Columns turning = {0, angle, -angle, 0};
  linalg::exponential(2, turning.data());
  for (const auto& [i, value] : {std::pair(0, std::cos(angle)), {1, std::sin(angle)}, {2, -std::sin(angle)}})
    CHECK(turning[i] == Approx(value).margin(1e-10));
  Columns nilpotent = {0, 0, 1e-9, 0};
  linalg::exponential(2, nilpotent.data());
  check_close(nilpotent, {1, 0, 1e-9, 1});
  Columns unknown = {1, kNaN, 0, 1};
  linalg::exponential(2, unknown.data());
  for (const double value : unknown) CHECK(std::isnan(value));
}
