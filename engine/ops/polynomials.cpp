// Orthogonal polynomials: one op for all kinds, and a name for each.
#include <algorithm>
#include <iterator>

#include "engine/errors/errors.h"
#include "engine/ops/call.h"
#include "engine/ops/composed.h"
#include "engine/ops/creation.h"
#include "engine/ops/rules.h"
#include "engine/ops/special.h"

namespace terra::ops {
namespace {

/// Their places are the numbers that kernels know them by.
constexpr std::string_view kKinds[] = {
    "special_chebyshev_polynomial_t",         "special_chebyshev_polynomial_u",
    "special_chebyshev_polynomial_v",         "special_chebyshev_polynomial_w",
    "special_shifted_chebyshev_polynomial_t", "special_shifted_chebyshev_polynomial_u",
    "special_shifted_chebyshev_polynomial_v", "special_shifted_chebyshev_polynomial_w",
    "special_hermite_polynomial_h",           "special_hermite_polynomial_he",
    "special_laguerre_polynomial_l",          "special_legendre_polynomial_p",
};

void polynomial_shape(Inference& f) {
  const int64_t kind = f.integer(2);
  check(kind >= 0 && kind < static_cast<int64_t>(std::size(kKinds)), "{}: there is no kind {}", f.op.name, kind);
  rules::elementwise(f);
}
void polynomial_of(Composition& c) {
  check_kind(c.arg(0).is_tensor() || c.arg(1).is_tensor(), ErrorKind::TypeError,
             "{}() received an invalid combination of arguments: at least one of the two operands must be a Tensor",
             c.op.name);
  const DType dtype = c.tensor(c.arg(0).is_tensor() ? 0 : 1).dtype();
  const auto operand = [&](int i) { return c.arg(i).is_tensor() ? c.tensor(i) : full(Dims{}, c.arg(i), dtype); };
  const auto* kind = std::find(std::begin(kKinds), std::end(kKinds), c.op.name);
  c.result(orthogonal_polynomial(operand(0), operand(1), int64_t{kind - kKinds}));
}

OpRecord polynomial(std::string_view name, std::string_view doc, std::string_view example) {
  OpRecord record = composed(name, "(Tensor|Number x, Tensor|Number n) -> Tensor", doc, example, polynomial_of,
                             {{"randn(3, 4), randint(0, 9, (4,))", "float", false}, {"randn(3), 5", "float", false}},
                             kFunction | kNoGradient);
  record.promotion = Promotion::Floating;
  return record;
}

}  // namespace

const Op orthogonal_polynomial{{.name = "orthogonal_polynomial",
                                .signature = "(Tensor self, Tensor n, int kind) -> Tensor",
                                .doc = "The orthogonal polynomial of degree n of a kind; 0 for a negative n.",
                                .example = "",
                                .flags = kElementwise | kNoGradient,
                                .promotion = Promotion::Floating,
                                .shape = polynomial_shape,
                                .samples = {{"randn(3, 4), randint(0, 9, (3, 4)), 0", "float", false},
                                            {"randn(3, 4) * 2, randint(0, 9, (4,)), 7", "float", false},
                                            {"randn(5), randint(-1, 9, (5,)), 8", "float", false},
                                            {"randn(5), randint(-1, 9, (5,)), 10", "float", false},
                                            {"randn(5), randint(-1, 9, (5,)), 11", "float", false}}}};
const Op special_chebyshev_polynomial_t{polynomial("special_chebyshev_polynomial_t",
                                                   "Chebyshev's polynomial of the first kind of degree n.",
                                                   "terra.special.chebyshev_polynomial_t(terra.tensor([0.5]), 3)")};
const Op special_chebyshev_polynomial_u{polynomial("special_chebyshev_polynomial_u",
                                                   "Chebyshev's polynomial of the second kind of degree n.",
                                                   "terra.special.chebyshev_polynomial_u(terra.tensor([0.5]), 3)")};
const Op special_chebyshev_polynomial_v{polynomial("special_chebyshev_polynomial_v",
                                                   "Chebyshev's polynomial of the third kind of degree n.",
                                                   "terra.special.chebyshev_polynomial_v(terra.tensor([0.5]), 3)")};
const Op special_chebyshev_polynomial_w{polynomial("special_chebyshev_polynomial_w",
                                                   "Chebyshev's polynomial of the fourth kind of degree n.",
                                                   "terra.special.chebyshev_polynomial_w(terra.tensor([0.5]), 3)")};
const Op special_shifted_chebyshev_polynomial_t{
    polynomial("special_shifted_chebyshev_polynomial_t", "Chebyshev's polynomial of the first kind of 2 x - 1.",
               "terra.special.shifted_chebyshev_polynomial_t(terra.tensor([0.5]), 3)")};
const Op special_shifted_chebyshev_polynomial_u{
    polynomial("special_shifted_chebyshev_polynomial_u", "Chebyshev's polynomial of the second kind of 2 x - 1.",
               "terra.special.shifted_chebyshev_polynomial_u(terra.tensor([0.5]), 3)")};
const Op special_shifted_chebyshev_polynomial_v{
    polynomial("special_shifted_chebyshev_polynomial_v", "Chebyshev's polynomial of the third kind of 2 x - 1.",
               "terra.special.shifted_chebyshev_polynomial_v(terra.tensor([0.5]), 3)")};
const Op special_shifted_chebyshev_polynomial_w{
    polynomial("special_shifted_chebyshev_polynomial_w", "Chebyshev's polynomial of the fourth kind of 2 x - 1.",
               "terra.special.shifted_chebyshev_polynomial_w(terra.tensor([0.5]), 3)")};
const Op special_hermite_polynomial_h{polynomial("special_hermite_polynomial_h",
                                                 "Hermite's polynomial of degree n, as physicists have it.",
                                                 "terra.special.hermite_polynomial_h(terra.tensor([0.5]), 3)")};
const Op special_hermite_polynomial_he{polynomial("special_hermite_polynomial_he",
                                                  "Hermite's polynomial of degree n, as probability has it.",
                                                  "terra.special.hermite_polynomial_he(terra.tensor([0.5]), 3)")};
const Op special_laguerre_polynomial_l{polynomial("special_laguerre_polynomial_l", "Laguerre's polynomial of degree n.",
                                                  "terra.special.laguerre_polynomial_l(terra.tensor([0.5]), 3)")};
const Op special_legendre_polynomial_p{polynomial("special_legendre_polynomial_p", "Legendre's polynomial of degree n.",
                                                  "terra.special.legendre_polynomial_p(terra.tensor([0.5]), 3)")};

}  // namespace terra::ops
