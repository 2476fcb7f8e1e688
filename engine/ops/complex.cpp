#include "engine/ops/complex.h"

#include "engine/errors/errors.h"
#include "engine/ops/arithmetic.h"
#include "engine/ops/compare.h"
#include "engine/ops/convert.h"
#include "engine/ops/creation.h"
#include "engine/ops/real_function.h"
#include "engine/ops/rules.h"
#include "engine/ops/select.h"
#include "engine/ops/view.h"

namespace terra {

Tensor conjugate(const Tensor& t) { return is_complex(t.dtype()) ? ops::conj_elements(t) : t; }

Scalar conjugate(const Scalar& s) { return s.is_complex() ? Scalar(std::conj(s.to_complex())) : s; }

Conjugate::Conjugate(const Arg& operand) {
  if (operand.is_tensor())
    tensor_ = conjugate(operand.tensor());
  else
    number_ = conjugate(operand.scalar());
}

namespace ops {
namespace {

const Scalar kI(std::complex<double>(0, 1));

// ---- shapes ---------------------------------------------------------------------------------------------------------
/// Whether there are complex numbers with parts of that dtype.
bool is_part(DType dtype) { return is_floating(dtype) && dtype != DType::BF16; }

/// Two real tensors of one dtype, from which complex numbers are made.
void parts_shape(Inference& f) {
  const DType first = f.dtype(0), second = f.dtype(1);
  check_kind(is_part(first) && is_part(second), ErrorKind::NotImplementedError,
             "Expected both inputs to be Half, Float or Double tensors but got {} and {}", scalar_type_name(first),
             scalar_type_name(second));
  check(first == second, "Expected object of scalar type {} but got scalar type {} for second argument",
        scalar_type_name(first), scalar_type_name(second));
  f.result(complex_dtype_of(first), broadcast_sizes(f.sizes(0), f.sizes(1)));
}

void real_result_shape(Inference& f) { f.result(real_dtype_of(f.common), Dims(f.sizes(0))); }

/// Pairs of parts, the real one first, in a last dimension of their own.
void view_as_real_shape(Inference& f) {
  check_kind(is_complex(f.dtype(0)), ErrorKind::TypeError, "view_as_real is only supported for complex tensors");
  const TensorImpl& self = f.impl(0);
  Dims sizes = self.sizes, strides;
  for (int64_t stride : self.strides) strides.push_back(2 * stride);
  sizes.push_back(2);
  strides.push_back(1);
  f.view(real_dtype_of(self.dtype), std::move(sizes), std::move(strides), 2 * self.offset);
}

void view_as_complex_shape(Inference& f) {
  const TensorImpl& self = f.impl(0);
  check_kind(!is_complex(self.dtype), ErrorKind::TypeError, "view_as_complex is not supported for complex tensors");
  check_kind(
      is_part(self.dtype), ErrorKind::NotImplementedError,
      "view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar type: {}",
      scalar_type_name(self.dtype));
  check(!self.sizes.empty(), "Input tensor must have one or more dimensions");
  const size_t last = self.sizes.size() - 1;
  check(self.sizes[last] == 2, "Tensor must have a last dimension of size 2");
  check(self.strides[last] == 1, "Tensor must have a last dimension with stride 1");
  Dims sizes, strides;
  for (size_t d = 0; d < last; ++d) {
    check(self.strides[d] % 2 == 0, "Tensor must have a stride divisible by 2 for all but last dimension");
    sizes.push_back(self.sizes[d]);
    strides.push_back(self.strides[d] / 2);
  }
  check(self.offset % 2 == 0, "Tensor must have a storage_offset divisible by 2");
  f.view(complex_dtype_of(self.dtype), std::move(sizes), std::move(strides), self.offset / 2);
}

// ---- gradients ------------------------------------------------------------------------------------------------------
// That of a complex number is the pair of those of its parts, d/dre + i d/dim: PyTorch's convention, in which a
// holomorphic f has the gradient g conj(f'(x)). What a rule gives for a real operand loses its imaginary part behind
// the rule.
void complex_gradient(Backward& b) {
  if (b.needs(0)) b.set(0, real(b.grad()));
  if (b.needs(1)) b.set(1, imag(b.grad()));
}
/// z = r exp(i a): the unit vectors along r and along a.
void polar_gradient(Backward& b) {
  const Tensor turned = b.grad() * conjugate(polar(ones_like(b.in(0)), b.in(1)));
  if (b.needs(0)) b.set(0, real(turned));
  if (b.needs(1)) b.set(1, imag(turned) * b.in(0));
}
void conj_gradient(Backward& b) { b.set(0, conjugate(b.grad())); }
void view_as_real_gradient(Backward& b) { b.set(0, view_as_complex(contiguous(b.grad()))); }
void view_as_complex_gradient(Backward& b) { b.set(0, view_as_real(b.grad())); }

/// The angle grows along i z; nowhere at 0 and for real numbers.
void angle_gradient(Backward& b) {
  const Tensor z = b.in(0);
  if (!is_complex(z.dtype())) return b.set(0, zeros_like(b.grad()));
  const Tensor length = abs(z);
  b.set(0, b.grad() * where(eq(length, 0), 0.0, mul(z, kI) / (length * length)));
}
/// z / |z| moves across z only.
void sgn_gradient(Backward& b) {
  if (!is_complex(b.dtype(0))) return b.set(0, zeros_like(b.grad()));
  const Tensor length = abs(b.in(0)), y = b.out();
  const Tensor across = b.grad() / length - real(b.grad() / y) * y / length;
  b.set(0, where(eq(length, 0), 0.0, across));
}

// ---- composites -----------------------------------------------------------------------------------------------------
Tensor part(const Tensor& t, int64_t which) { return select(view_as_real(t), -1, which); }

void conj_of(Composition& c) { c.result(conjugate(c.tensor(0))); }
void itself_of(Composition& c) { c.result(c.tensor(0)); }
void real_of(Composition& c) { c.result(is_complex(c.tensor(0).dtype()) ? part(c.tensor(0), 0) : c.tensor(0)); }
void imag_of(Composition& c) {
  check_kind(is_complex(c.tensor(0).dtype()), ErrorKind::TypeError,
             "imag is not implemented for tensors with non-complex dtypes.");
  c.result(part(c.tensor(0), 1));
}
void isreal_of(Composition& c) {
  const Tensor x = c.tensor(0);
  c.result(is_complex(x.dtype()) ? eq(imag(x), 0) : ones_like(x, DType::Bool));
}
void adjoint_of(Composition& c) {
  const Tensor x = c.tensor(0);
  if (x.rank() == 0) return c.result(conj(x));
  check(x.rank() >= 2, "tensor.adjoint() is only supported on matrices or batches of matrices. Got {}-D tensor.",
        x.rank());
  c.result(conj(transpose(x, -2, -1)));
}
void mH_of(Composition& c) {
  const Tensor x = c.tensor(0);
  check(x.rank() >= 2, "tensor.mH is only supported on matrices or batches of matrices. Got {}-D tensor.", x.rank());
  c.result(conj(transpose(x, -2, -1)));
}
void H_of(Composition& c) {
  const Tensor x = c.tensor(0);
  check(x.rank() == 2 || x.rank() == 0, "tensor.H is only supported on matrices (2-D tensors). Got {}-D tensor.{}",
        x.rank(), x.rank() > 2 ? " For batches of matrices, consider using tensor.mH" : "");
  c.result(conj(x.rank() == 2 ? transpose(x, 0, 1) : x));
}

const std::vector<Sample> kComplexAndReal = {
    {"crandn(3, 4)", "complex"}, {"crandn(4, 3).t()", "complex"}, {"randn(3)"}};

}  // namespace

// ---- records --------------------------------------------------------------------------------------------------------
const Op complex{{.name = "complex",
                  .signature = "(Tensor real, Tensor imag) -> Tensor",
                  .doc = "Complex numbers of these parts.",
                  .example = "terra.complex(terra.ones(2), terra.zeros(2))",
                  .flags = kFunction | kElementwise | kCheap,
                  .shape = parts_shape,
                  .gradient = complex_gradient,
                  .samples = {{"randn(3, 4), randn(3, 4)"}, {"randn(3, 1), randn(4)"}, {"randn(()), randn(2)"}}}};
const Op polar{{.name = "polar",
                .signature = "(Tensor abs, Tensor angle) -> Tensor",
                .doc = "Complex numbers of these absolute values and angles.",
                .example = "terra.polar(terra.ones(1), terra.zeros(1))",
                .flags = kFunction | kElementwise,
                .shape = parts_shape,
                .gradient = polar_gradient,
                .saved = saves({0, 1}),
                .samples = {{"rand(3, 4) + 0.5, randn(3, 4)"}, {"rand(3, 1) + 1, randn(4)"}}}};
const Op conj_elements{{.name = "conj_elements",
                        .signature = "(Tensor self) -> Tensor",
                        .doc = "The conjugate of each complex element.",
                        .example = "",
                        .flags = kElementwise | kComplex | kCheap,
                        .promotion = Promotion::Common,
                        .shape = rules::elementwise,
                        .gradient = conj_gradient,
                        .grad_fn = "ConjPhysicalBackward0",
                        .samples = {{"crandn(3, 4)", "complex"}, {"crandn(5)[::2]", "complex"}}}};
const Op conj_physical{{.name = "conj_physical",
                        .signature = "(Tensor self) -> Tensor",
                        .doc = "The conjugate of each element; a real tensor itself.",
                        .example = "terra.conj_physical(terra.tensor([1 + 2j]))",
                        .flags = kVisibleInPlace | kMayAlias,
                        .composite = conj_of,
                        .samples = kComplexAndReal}};
const Op conj{{.name = "conj",
               .signature = "(Tensor self) -> Tensor",
               .doc = "The conjugate of each element, computed at once; a real tensor itself.",
               .example = "terra.conj(terra.tensor([1 + 2j]))",
               .flags = kVisible | kMayAlias,
               .composite = conj_of,
               .grad_fn = "ConjBackward0",
               .samples = kComplexAndReal}};
const Op resolve_conj{{.name = "resolve_conj",
                       .signature = "(Tensor self) -> Tensor",
                       .doc = "The tensor itself: conjugates are computed at once.",
                       .example = "terra.resolve_conj(terra.tensor([1 + 2j]))",
                       .flags = kVisible | kMayAlias,
                       .composite = itself_of,
                       .aliases = "resolve_neg",
                       .samples = kComplexAndReal}};
const Op view_as_real{
    {.name = "view_as_real",
     .signature = "(Tensor self) -> Tensor",
     .doc = "The view of complex numbers as pairs of their parts, in a last dimension of size 2.",
     .example = "terra.view_as_real(terra.tensor([1 + 2j]))",
     .flags = kFunction | kView | kCheap,
     .shape = view_as_real_shape,
     .gradient = view_as_real_gradient,
     .samples = {{"crandn(3, 4)", "complex"}, {"crandn(4, 3).t()", "complex"}, {"crandn(())", "complex"}}}};
const Op view_as_complex{{.name = "view_as_complex",
                          .signature = "(Tensor self) -> Tensor",
                          .doc = "The view of pairs in a last dimension of size 2 as complex numbers.",
                          .example = "terra.view_as_complex(terra.ones(3, 2))",
                          .flags = kFunction | kView | kCheap,
                          .shape = view_as_complex_shape,
                          .gradient = view_as_complex_gradient,
                          .samples = {{"randn(3, 4, 2)"}, {"randn(3, 4, 2).transpose(0, 1)"}, {"randn(2)"}}}};
const Op real{{.name = "real",
               .signature = "(Tensor self) -> Tensor",
               .doc = "The view of the real parts; a real tensor itself.",
               .example = "terra.tensor([1 + 2j]).real",
               .flags = kFunction | kProperty | kMayAlias,
               .composite = real_of,
               .samples = kComplexAndReal}};
const Op imag{{.name = "imag",
               .signature = "(Tensor self) -> Tensor",
               .doc = "The view of the imaginary parts.",
               .example = "terra.tensor([1 + 2j]).imag",
               .flags = kFunction | kProperty | kMayAlias,
               .composite = imag_of,
               .samples = {{"crandn(3, 4)", "complex"}}}};
const Op isreal{{.name = "isreal",
                 .signature = "(Tensor self) -> Tensor",
                 .doc = "True where the imaginary part is 0.",
                 .example = "terra.isreal(terra.tensor([1 + 2j, 1 + 0j]))",
                 .flags = kVisible | kNoGradient,
                 .composite = isreal_of,
                 .samples = {{"crandn(3, 4)", "complex", false}, {"randn(3)", "float", false}}}};
const Op angle{{.name = "angle",
                .signature = "(Tensor self) -> Tensor",
                .doc = "The angle of each complex number in [-pi, pi]; of a real number 0, or pi if it is negative.",
                .example = "terra.angle(terra.tensor([1j, -1.0]))",
                .flags = kVisible | kElementwise | kComplex,
                .promotion = Promotion::Floating,
                .shape = real_result_shape,
                .gradient = angle_gradient,
                .saved = saves({0}),
                .samples = kComplexAndReal}};
const Op sgn{{.name = "sgn",
              .signature = "(Tensor self) -> Tensor",
              .doc = "Each complex number over its absolute value, 0 for 0; of real numbers the sign.",
              .example = "terra.sgn(terra.tensor([3 + 4j]))",
              .flags = kElementwiseMath | kComplex,
              .promotion = Promotion::Common,
              .shape = rules::elementwise,
              .gradient = sgn_gradient,
              .saved = saves({0}) | saves_result(),
              .samples = {{"crandn(3, 4)", "complex"}, {"randn(3)"}, {"randint(-4, 5, (4, 2))", "int", false}}}};
const Op adjoint{{.name = "adjoint",
                  .signature = "(Tensor self) -> Tensor",
                  .doc = "The conjugate of the tensor with its last two dimensions exchanged.",
                  .example = "terra.adjoint(terra.tensor([[1 + 2j, 3.0]]))",
                  .flags = kVisible | kMayAlias,
                  .composite = adjoint_of,
                  .samples = {{"crandn(2, 3, 4)", "complex"}, {"randn(2, 3)"}}}};
const Op mH{{.name = "mH",
             .signature = "(Tensor self) -> Tensor",
             .doc = "The same as adjoint().",
             .example = "terra.tensor([[1 + 2j, 3.0]]).mH",
             .flags = kProperty | kMayAlias,
             .composite = mH_of,
             .samples = {{"crandn(2, 3, 4)", "complex"}, {"randn(2, 3)"}}}};
const Op H{{.name = "H",
            .signature = "(Tensor self) -> Tensor",
            .doc = "The conjugate of the matrix with its dimensions exchanged.",
            .example = "terra.tensor([[1 + 2j, 3.0]]).H",
            .flags = kProperty | kMayAlias,
            .composite = H_of,
            .samples = {{"crandn(2, 3)", "complex"}, {"randn(2, 3)"}}}};

}  // namespace ops
}  // namespace terra
