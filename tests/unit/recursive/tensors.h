// Tensors of the tests: how they are drawn, computed with and compared.
#pragma once
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <string_view>
#include <vector>

#include "engine/autograd/autograd.h"
#include "engine/ops/call.h"
#include "engine/ops/op.h"

namespace terra::recursive::test {

template <class... A>
Tensor op(std::string_view name, A&&... args) {
  return (*find_op(name))(std::forward<A>(args)...);
}

/// Numbers between -1 and 1 that are a function of `seed`.
inline Tensor drawn(const Dims& sizes, uint32_t seed, bool requires_grad = true) {
  std::mt19937 random(seed);
  Tensor t = Tensor::empty(sizes, DType::F64);
  for (int64_t i = 0; i < t.numel(); ++i) t->data_as<double>()[i] = static_cast<double>(random() % 2001) / 1000.0 - 1.0;
  if (requires_grad) autograd::set_requires_grad(t, true);
  return t;
}

inline Tensor integer(int64_t value) {
  Tensor t = Tensor::empty(Dims{1}, DType::I64);
  *t->data_as<int64_t>() = value;
  return t;
}

/// Both undefined, or the same numbers up to rounding. NaN is like NaN.
inline bool is_near(const Tensor& a, const Tensor& b) {
  if (a.defined() != b.defined()) return false;
  if (!a.defined()) return true;
  if (a.dtype() != b.dtype() || !(a.sizes() == b.sizes())) return false;
  const Tensor x = op("contiguous", op("to_dtype", a, DType::F64)), y = op("contiguous", op("to_dtype", b, DType::F64));
  for (int64_t i = 0; i < x.numel(); ++i) {
    const double p = x->data_as<double>()[i], q = y->data_as<double>()[i];
    const bool same = p == q || (std::isnan(p) && std::isnan(q)) || p == Approx(q).margin(1e-10).epsilon(1e-8);
    if (!same) return false;
  }
  return true;
}

inline void require_near(const Tensor& a, const Tensor& b) {
  REQUIRE(a.defined() == b.defined());
  if (a.defined()) {
    REQUIRE(a.sizes() == b.sizes());
    REQUIRE(a.dtype() == b.dtype());
  }
  REQUIRE(is_near(a, b));
}

}  // namespace terra::recursive::test
