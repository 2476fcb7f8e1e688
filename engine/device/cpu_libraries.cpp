// The libraries of the host: LAPACK, mt19937, loops over rows.
#include "engine/device/backend.h"
#include "kernels/cpu/blas.h"
#include "kernels/cpu/blas_core.h"
#include "kernels/cpu/distances.h"
#include "kernels/cpu/linear_algebra.h"
#include "kernels/cpu/random.h"
#include "kernels/cpu/random_families.h"

namespace terra {
namespace {

template <class T>
constexpr LinearAlgebra<T> linear_algebra() {
  namespace l = cpu::linalg;
  return {.lu = l::lu<T>,
          .solve = l::solve<T>,
          .log_determinant = l::log_determinant<T>,
          .determinant = l::determinant<T>,
          .cofactors = l::cofactors<T>,
          .cholesky = l::cholesky<T>,
          .cholesky_inverse = l::cholesky_inverse<T>,
          .cholesky_solve = l::cholesky_solve<T>,
          .ldl = l::ldl<T>,
          .ldl_solve = l::ldl_solve<T>,
          .reflections = l::reflections<T>,
          .qr = l::qr<T>,
          .svd = l::svd<T>,
          .eigh = l::eigh<T>,
          .eig = l::eig<T>,
          .pseudoinverse = l::pseudoinverse<T>,
          .pseudoinverse_hermitian = l::pseudoinverse_hermitian<T>,
          .least_squares = l::least_squares<T>,
          .triangular = l::triangular<T>,
          .square_root = l::square_root<T>,
          .lyapunov = l::lyapunov<T>,
          .polar = l::polar<T>,
          .exponential = l::exponential<T>};
}

template <class T>
constexpr Draws<T> draws() {
  Draws<T> d{};
  if constexpr (std::is_floating_point_v<T>) {
    d.uniform = random::uniform<T>;
    d.normal = random::normal<T>;
    d.exponential = random::exponential<T>;
    d.bernoulli_each = random::bernoulli_each<T>;
    d.multinomial_error = random::multinomial_error<T>;
    d.multinomial = random::multinomial<T>;
  }
  if constexpr (!std::is_same_v<T, bool>) d.randint = random::randint<T>;
  d.full_range = random::random_full_range<T>;
  d.bernoulli = random::bernoulli<T>;
  d.bernoulli_scaled = random::bernoulli_scaled<T>;
  return d;
}

template <class T>
constexpr Distances<T> distances() {
  return {.forward = cpu::distances<T>, .backward = cpu::distances_backward<T>};
}

constexpr Libraries kLibraries{
    .linear_algebra = {.start = cpu::blas::ensure_core,
                       .name = cpu::blas::core_name,
                       .routines = {linear_algebra<float>(), linear_algebra<double>(),
                                    linear_algebra<std::complex<float>>(), linear_algebra<std::complex<double>>()}},
    .draws = {.seed = random::seed,
              .permutation = random::randperm,
              .of_many = {draws<float>(), draws<double>(), draws<int64_t>(), draws<int32_t>(), draws<int16_t>(),
                          draws<int8_t>(), draws<uint8_t>(), draws<bool>()},
              .of_one = {.standard_gamma = random::standard_gamma,
                         .poisson = random::poisson,
                         .binomial = random::binomial,
                         .geometric = random::geometric,
                         .cauchy = random::cauchy,
                         .log_normal = random::log_normal,
                         .standard_gamma_slope = random::standard_gamma_slope,
                         .dirichlet_slope = random::dirichlet_slope}},
    .distances = {distances<float>(), distances<double>()},
};

}  // namespace

const Libraries& libraries() { return kLibraries; }

}  // namespace terra
