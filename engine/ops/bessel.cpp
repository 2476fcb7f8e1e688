// Bessel functions and Airy's: one op for all kinds that kernels know, and a name for each.
#include <numbers>

#include "engine/errors/errors.h"
#include "engine/ops/arithmetic.h"
#include "engine/ops/compare.h"
#include "engine/ops/composed.h"
#include "engine/ops/rules.h"
#include "engine/ops/select.h"
#include "engine/ops/special.h"
#include "engine/ops/unary.h"
#include "engine/ops/view.h"

namespace terra::ops {
namespace {

/// The numbers that kernels know them by.
enum Kind : int64_t { J0, J1, Y0, Y1, K0, K1, ScaledK0, ScaledK1, Airy, kKinds };

Tensor of_kind(const Tensor& x, Kind kind) { return bessel_function(x, int64_t{kind}); }

void bessel_shape(Inference& f) {
  check(f.integer(1) >= 0 && f.integer(1) < kKinds, "{}: there is no kind {}", f.op.name, f.integer(1));
  rules::elementwise(f);
}
/// Z0' = -Z1 and Z1' = Z0 - Z1 / x of J and Y; K1' = -K0 - K1 / x. J1 has the slope 1/2 at 0.
void bessel_gradient(Backward& b) {
  const Tensor x = b.in(0);
  const auto kind = static_cast<Kind>(b.integer(1));
  check_kind(kind <= K1, ErrorKind::NotImplementedError, "the derivative for '{}' is not implemented.",
             kind == Airy ? "special_airy_ai" : "special_scaled_modified_bessel_k");
  if (kind % 2 == 0) return b.set(0, -b.grad() * of_kind(x, static_cast<Kind>(kind + 1)));
  const Tensor other = of_kind(x, static_cast<Kind>(kind - 1)), rest = b.out() / x;
  if (kind == K1) return b.set(0, -b.grad() * (other + rest));
  b.set(0, b.grad() * where(eq(x, 0), kind == J1 ? 0.5 : 0.0, other - rest));
}

template <Kind kKind>
void bessel_of(Composition& c) {
  const Tensor x = c.tensor(0);
  c.result(of_kind(kKind <= K1 ? x : detach(x), kKind));  // as in PyTorch, the others are constants to gradients
}
void modified_i0_of(Composition& c) { c.result(i0(c.tensor(0))); }
void modified_i1_of(Composition& c) { c.result(special_i1(c.tensor(0))); }
/// sin x / x.
void spherical_of(Composition& c) {
  const Tensor x = detach(c.tensor(0)), zero = eq(x, 0);
  c.result(where(isinf(x), 0.0, where(zero, 1.0, sin(x) / where(zero, 1.0, x))));
}

OpRecord of_one(std::string_view name, std::string_view doc, std::string_view example, CompositeRule rule,
                uint32_t flags = 0) {
  OpRecord record = composed(name, "(Tensor self) -> Tensor", doc, example, rule,
                             {{"rand(3, 4) * 5 + 0.2", "float", flags == 0}}, kFunction | flags);
  record.promotion = Promotion::Floating;
  return record;
}

}  // namespace

const Op bessel_function{{.name = "bessel_function",
                          .signature = "(Tensor self, int kind) -> Tensor",
                          .doc = "A Bessel function, or Airy's, by its number.",
                          .example = "",
                          .flags = kElementwise,
                          .promotion = Promotion::Floating,
                          .shape = bessel_shape,
                          .gradient = bessel_gradient,
                          .saved = saves({0}) | saves_result(),
                          .samples = {{"randn(3, 4) * 3, 0"},
                                      {"randn(3, 4) * 3, 1"},
                                      {"rand(3, 4) * 9 + 0.2, 2"},
                                      {"rand(3, 4) * 9 + 0.2, 3"},
                                      {"rand(3, 4) * 30 + 0.2, 4"},
                                      {"rand(3, 4) * 9 + 0.2, 5"},
                                      {"rand(3, 4) * 90 + 0.2, 7", "float", false},
                                      {"randn(3, 4), 8", "float", false}}}};
const Op special_bessel_j0{of_one("special_bessel_j0", "The Bessel function J of order 0.",
                                  "terra.special.bessel_j0(terra.ones(1))", bessel_of<J0>)};
const Op special_bessel_j1{of_one("special_bessel_j1", "The Bessel function J of order 1.",
                                  "terra.special.bessel_j1(terra.ones(1))", bessel_of<J1>)};
const Op special_bessel_y0{of_one("special_bessel_y0", "The Bessel function Y of order 0; NaN for negative numbers.",
                                  "terra.special.bessel_y0(terra.ones(1))", bessel_of<Y0>)};
const Op special_bessel_y1{of_one("special_bessel_y1", "The Bessel function Y of order 1; NaN for negative numbers.",
                                  "terra.special.bessel_y1(terra.ones(1))", bessel_of<Y1>)};
const Op special_modified_bessel_i0{of_one("special_modified_bessel_i0", "The modified Bessel function I of order 0.",
                                           "terra.special.modified_bessel_i0(terra.ones(1))", modified_i0_of)};
const Op special_modified_bessel_i1{of_one("special_modified_bessel_i1", "The modified Bessel function I of order 1.",
                                           "terra.special.modified_bessel_i1(terra.ones(1))", modified_i1_of)};
const Op special_modified_bessel_k0{of_one("special_modified_bessel_k0",
                                           "The modified Bessel function K of order 0; NaN for negative numbers.",
                                           "terra.special.modified_bessel_k0(terra.ones(1))", bessel_of<K0>)};
const Op special_modified_bessel_k1{of_one("special_modified_bessel_k1",
                                           "The modified Bessel function K of order 1; NaN for negative numbers.",
                                           "terra.special.modified_bessel_k1(terra.ones(1))", bessel_of<K1>)};
const Op special_scaled_modified_bessel_k0{
    of_one("special_scaled_modified_bessel_k0", "exp(self) times the modified Bessel function K of order 0.",
           "terra.special.scaled_modified_bessel_k0(terra.ones(1))", bessel_of<ScaledK0>, kNoGradient)};
const Op special_scaled_modified_bessel_k1{
    of_one("special_scaled_modified_bessel_k1", "exp(self) times the modified Bessel function K of order 1.",
           "terra.special.scaled_modified_bessel_k1(terra.ones(1))", bessel_of<ScaledK1>, kNoGradient)};
const Op special_airy_ai{of_one("special_airy_ai", "Airy's function Ai.", "terra.special.airy_ai(terra.ones(1))",
                                bessel_of<Airy>, kNoGradient)};
const Op special_spherical_bessel_j0{
    of_one("special_spherical_bessel_j0", "The spherical Bessel function j of order 0: sin(self) / self.",
           "terra.special.spherical_bessel_j0(terra.ones(1))", spherical_of, kNoGradient)};

}  // namespace terra::ops
