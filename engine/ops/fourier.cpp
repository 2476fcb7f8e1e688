#include "engine/ops/fourier.h"

#include "engine/ops/arithmetic.h"
#include "engine/ops/complex.h"
#include "engine/ops/rules.h"
#include "engine/ops/shape.h"
#include "engine/ops/view.h"

namespace terra::ops {
namespace {

// ---- shapes ---------------------------------------------------------------------------------------------------------
/// The dimensions to transform: known, each once, none empty.
int64_t last_dim(Inference& f) {
  const auto dims = f.ints(1);
  check_kind(dims.empty() || f.rank(0) > 0, ErrorKind::IndexError,
             "Dimension specified as {} but tensor has no dimensions", dims.empty() ? 0 : dims[0]);
  dim_mask(dims, f.rank(0));
  for (int64_t d : dims) {
    const int64_t n = f.sizes(0)[wrap_dim(d, f.rank(0))];
    check(n >= 1, "Invalid number of data points ({}) specified", n);
  }
  check(!dims.empty() || f.op.name == "fft_c2c", "{}(): no dimension is named", f.op.name);
  return dims.empty() ? 0 : wrap_dim(dims.back(), f.rank(0));
}

void c2c_shape(Inference& f) {
  last_dim(f);
  check(is_complex(f.dtype(0)), "fft_c2c(): expected complex numbers, but got {}", scalar_type_name(f.dtype(0)));
  rules::like_first(f);
}
void r2c_shape(Inference& f) {
  const int64_t last = last_dim(f);
  check(f.dtype(0) == DType::F32 || f.dtype(0) == DType::F64, "fft_r2c(): expected float32 or float64, but got {}",
        scalar_type_name(f.dtype(0)));
  Dims sizes(f.sizes(0));
  if (f.flag(2)) sizes[last] = sizes[last] / 2 + 1;
  f.result(complex_dtype_of(f.dtype(0)), std::move(sizes));
}
void c2r_shape(Inference& f) {
  const int64_t last = last_dim(f), n = f.integer(2);
  check(is_complex(f.dtype(0)), "fft_c2r(): expected complex numbers, but got {}", scalar_type_name(f.dtype(0)));
  check(n >= 1, "Invalid number of data points ({}) specified", n);
  Dims sizes(f.sizes(0));
  check(sizes[last] == n / 2 + 1, "fft_c2r(): {} real numbers have a spectrum of {}, but got {}", n, n / 2 + 1,
        sizes[last]);
  sizes[last] = n;
  f.result(real_dtype_of(f.dtype(0)), std::move(sizes));
}

// ---- gradients: the adjoint of a transform is the transform the other way ------------------------------------------
void c2c_gradient(Backward& b) { b.set(0, fft_c2c(b.grad(), b.ints(1), !b.flag(2), b.arg(3))); }

/// What a half leaves out gave nothing to the result.
void r2c_gradient(Backward& b) {
  Tensor g = b.grad();
  const auto dims = b.ints(1);
  const int64_t last = wrap_dim(dims.back(), b.sizes(0).size()), n = b.sizes(0)[last];
  if (b.flag(2) && g.size(last) < n) {
    const Dims full = b.sizes(0);
    g = pad_slice(g, full, last, 0, 1);
  }
  b.set(0, real(fft_c2c(g, dims, false, b.arg(3))));
}

/// Those that stand for their conjugates as well count twice.
void c2r_gradient(Backward& b) {
  const auto dims = b.ints(1);
  const int64_t n = b.integer(2), last = wrap_dim(dims.back(), b.out_sizes().size()), twice = (n - 1) / 2;
  const Tensor half = fft_r2c(b.grad(), dims, true, b.arg(3));
  if (twice == 0) return b.set(0, half);
  const Tensor inner = narrow(half, last, 1, twice);
  b.set(0, half + pad_slice(inner, half.sizes(), last, 1, 1));
}

}  // namespace

// ---- records --------------------------------------------------------------------------------------------------------
const Op fft_c2c{{.name = "fft_c2c",
                  .signature = "(Tensor self, int[] dim, bool forward, float scale=1.0) -> Tensor",
                  .doc = "The Fourier transform of complex numbers, or without `forward` its reverse.",
                  .example = "",
                  .flags = kComplex,
                  .shape = c2c_shape,
                  .gradient = c2c_gradient,
                  .grad_fn = "FftC2CBackward0",
                  .samples = {{"crandn(6), (0,), True", "complex"},
                              {"crandn(3, 4).t(), (0,), False, 0.5", "complex"},
                              {"crandn(2, 37), (0, 1), True", "complex"}}}};
const Op fft_r2c{
    {.name = "fft_r2c",
     .signature = "(Tensor self, int[] dim, bool onesided, float scale=1.0) -> Tensor",
     .doc = "The Fourier transform of real numbers: of the last dimension all or half of the spectrum.",
     .example = "",
     .shape = r2c_shape,
     .gradient = r2c_gradient,
     .grad_fn = "FftR2CBackward0",
     .samples = {{"randn(6), (0,), True"}, {"randn(3, 5).t(), (0,), False, 0.5"}, {"randn(2, 37), (0, 1), True"}}}};
const Op fft_c2r{{.name = "fft_c2r",
                  .signature = "(Tensor self, int[] dim, int last_size, float scale=1.0) -> Tensor",
                  .doc = "The real numbers whose spectrum begins with these complex ones.",
                  .example = "",
                  .flags = kComplex,
                  .shape = c2r_shape,
                  .gradient = c2r_gradient,
                  .grad_fn = "FftC2RBackward0",
                  .samples = {{"crandn(4), (0,), 6", "complex"},
                              {"crandn(3, 5).t(), (0,), 9, 0.5", "complex"},
                              {"crandn(2, 19), (0, 1), 37", "complex"}}}};

}  // namespace terra::ops
