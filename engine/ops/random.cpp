#include "engine/ops/random.h"

#include <numbers>

#include "engine/ops/arithmetic.h"
#include "engine/ops/call.h"
#include "engine/ops/compare.h"
#include "engine/ops/complex.h"
#include "engine/ops/convert.h"
#include "engine/ops/creation.h"
#include "engine/ops/draws.h"
#include "engine/ops/layout.h"
#include "engine/ops/reduce.h"
#include "engine/ops/rules.h"
#include "engine/ops/select.h"
#include "engine/ops/view.h"

namespace terra::ops {
namespace {

// ---- draws ----------------------------------------------------------------------------------------------------------
/// drawn() for any number dtype.
template <class Draw>
Tensor drawn_numbers(std::span<const int64_t> sizes, DType dtype, const Draw& draw) {
  Tensor t = Tensor::empty(sizes, dtype);
  const int64_t n = t.numel();
  switch (dtype) {
    case DType::F16:
    case DType::BF16: return to_dtype(drawn_numbers(sizes, DType::F32, draw), dtype);
    case DType::Bool: return to_dtype(drawn_numbers(sizes, DType::U8, draw), dtype);
    case DType::U16:
    case DType::U32:
    case DType::U64: return to_dtype(drawn_numbers(sizes, DType::I64, draw), dtype);
    case DType::F64: draw(t->data_as<double>(), n); break;
    case DType::F32: draw(t->data_as<float>(), n); break;
    case DType::I64: draw(t->data_as<int64_t>(), n); break;
    case DType::I32: draw(t->data_as<int32_t>(), n); break;
    case DType::I16: draw(t->data_as<int16_t>(), n); break;
    case DType::I8: draw(t->data_as<int8_t>(), n); break;
    case DType::U8: draw(t->data_as<uint8_t>(), n); break;
    case DType::C32:
    case DType::BC32:
    case DType::C64:
    case DType::C128:
      fail(ErrorKind::RuntimeError, "check_random_bounds handles only integral, floating-point and boolean types");
  }
  return t;
}

/// Rounding to 16 bits may reach the end of an interval that the draw itself can't: it counts as the beginning.
Tensor below_end(const Tensor& t, double low, double high) {
  if (!is_half(t.dtype())) return t;
  return where(eq(t, full(Dims{}, high, t.dtype())), full(Dims{}, low, t.dtype()), t);
}

/// Complex numbers, whose parts are drawn in turn by draw(sizes, dtype).
template <class Draw>
Tensor from_parts(std::span<const int64_t> sizes, DType dtype, const Draw& draw) {
  Dims pairs(sizes);
  pairs.push_back(2);
  if (is_half(dtype)) return to_dtype(from_parts(sizes, computed_in(dtype), draw), dtype);
  return view_as_complex(draw(pairs, real_dtype_of(dtype)));
}

/// Uniform numbers in [low, high).
Tensor uniforms(std::span<const int64_t> sizes, DType dtype, const Arg& generator, double low, double high) {
  if (is_complex(dtype)) {
    return from_parts(sizes, dtype,
                      [&](const Dims& pairs, DType part) { return uniforms(pairs, part, generator, low, high); });
  }
  const Tensor t = drawn(sizes, dtype, "check_uniform_bounds", [&]<class T>(T* p, int64_t n) {
    draws_of<T>().uniform(state_of(generator), p, n, low, high);
  });
  return below_end(t, low, high);
}

/// Normals, where `blocks` says that 16 uniforms make 16 of them. 16-bit floats are drawn block by block; what is left
/// is the end of one more block, that of the last 16.
Tensor normals(std::span<const int64_t> sizes, DType dtype, const Arg& generator, double mean, double deviation,
               bool blocks) {
  if (is_complex(dtype)) {
    return from_parts(sizes, dtype, [&](const Dims& pairs, DType part) {
      return normals(pairs, part, generator, mean, deviation / std::numbers::sqrt2, blocks);
    });
  }
  return drawn(sizes, dtype, "normal_kernel_cpu", [&]<class T>(T* p, int64_t n) {
    RandomState& state = state_of(generator);
    const int64_t left = is_half(dtype) && blocks && n > 16 ? n % 16 : 0;
    draws_of<T>().normal(state, p, n - left, mean, deviation, blocks);
    if (left > 0) draws_of<T>().normal(state, p + n - 16, 16, mean, deviation, blocks);
  });
}

using Args = std::span<const Arg>;
using Results = std::vector<Tensor>;

void rand_host(Args a, Results& out) {
  out.push_back(uniforms(a[0].ints(), dtype_or(a[1], default_dtype()), a[2], 0, 1));
}
void randn_host(Args a, Results& out) {
  out.push_back(normals(a[0].ints(), dtype_or(a[1], default_dtype()), a[2], 0, 1, true));
}
void check_interval(int64_t low, int64_t high, DType dtype) {
  check(low < high, "random_ expects 'from' to be less than 'to', but got from={} >= to={}", low, high);
  if (!is_integral(dtype, true)) return;
  check(is_within(low, dtype), "from is out of bounds for {}", c_type_name(dtype));
  check(is_within(high - 1, dtype), "to - 1 is out of bounds for {}", c_type_name(dtype));
}
void randint_host(Args a, Results& out) {
  const int64_t low = a[0].scalar().to_int(), high = a[1].scalar().to_int();
  check_interval(low, high, dtype_or(a[3], DType::I64));
  out.push_back(drawn_numbers(a[2].ints(), dtype_or(a[3], DType::I64), [&]<class T>(T* p, int64_t n) {
    draws_of<T>().randint(state_of(a[4]), p, n, low, high);
  }));
}
void randperm_host(Args a, Results& out) {
  const int64_t n = a[0].scalar().to_int();
  check(n >= 0, "Trying to create tensor with negative dimension {}: [{}]", n, n);
  const DType dtype = dtype_or(a[1], DType::I64);
  check_kind(!is_complex(dtype) && !is_barebones(dtype), ErrorKind::NotImplementedError,
             "\"randperm\" not implemented for '{}'", scalar_type_name(dtype));
  check(n == 0 || !is_integral(dtype, true) || is_within(n, dtype),
        "value cannot be converted to type {} without overflow", c_type_name(dtype));
  Tensor t = Tensor::empty(Dims{n}, DType::I64);
  libraries().draws.permutation(state_of(a[2]), t->data_as<int64_t>(), n);
  out.push_back(dtype == DType::I64 ? t : to_dtype(t, dtype));
}
void normal_by_host(Args a, Results& out) {
  const Tensor self = a[0].tensor();
  const double mean = a[1].scalar().to_double(), deviation = a[2].scalar().to_double();
  check(deviation >= 0, "normal expects std >= 0.0, but found std {}", deviation);
  out.push_back(normals(self.sizes(), self.dtype(), a[4], mean, deviation, a[3].scalar().to_bool()));
}
void uniform_host(Args a, Results& out) {
  const Tensor self = a[0].tensor();
  const double low = a[1].scalar().to_double(), high = a[2].scalar().to_double();
  check(low <= high, "uniform_ expects to return a [from, to) range, but found from={} > to={}", low, high);
  out.push_back(uniforms(self.sizes(), self.dtype(), a[3], low, high));
}
void exponential_host(Args a, Results& out) {
  const Tensor self = a[0].tensor();
  const double lambda = a[1].scalar().to_double();
  check(is_floating(self.dtype()),
        "Exponential distribution is a continuous probability distribution. dtype must be a floating point but you "
        "specified {}",
        scalar_type_name(self.dtype()));
  check(lambda > 0, "exponential_ expects lambda > 0.0, but found lambda={}", lambda);
  out.push_back(drawn(self.sizes(), self.dtype(), "exponential_kernel_cpu",
                      [&]<class T>(T* p, int64_t n) { draws_of<T>().exponential(state_of(a[2]), p, n, lambda); }));
}
void check_draws(std::string_view kernel, DType dtype) {
  if (dtype != DType::Bool) check_has_kernel(kernel, dtype);
}
void check_probability(double p) { check(p >= 0 && p <= 1, "bernoulli_ expects p to be in [0, 1], but got p={}", p); }
void bernoulli_host(Args a, Results& out) {
  const Tensor self = a[0].tensor();
  const double p = a[1].scalar().to_double();
  check_probability(p);
  check_draws("bernoulli_scalar_cpu_", self.dtype());
  if (self.dtype() == DType::Bool) {
    Tensor t = Tensor::empty(self.sizes(), DType::Bool);
    draws_of<bool>().bernoulli(state_of(a[2]), t->data_as<bool>(), t.numel(), p);
    return out.push_back(t);
  }
  out.push_back(drawn_numbers(self.sizes(), self.dtype(),
                              [&]<class T>(T* to, int64_t n) { draws_of<T>().bernoulli(state_of(a[2]), to, n, p); }));
}
void bernoulli_each_host(Args a, Results& out) {
  const Tensor self = a[0].tensor();
  check_draws("bernoulli_tensor_cpu_self_", self.dtype());
  const Tensor p = contiguous(is_half(self.dtype()) ? to_dtype(self, DType::F32) : self);
  out.push_back(drawn(self.sizes(), self.dtype(), "bernoulli_tensor_cpu_p_", [&]<class T>(T* to, int64_t n) {
    const T* from = p->data_as<T>();
    for (int64_t i = 0; i < n; ++i)
      check(from[i] >= 0 && from[i] <= 1, "Expected p_in >= 0 && p_in <= 1 to be true, but got false.");
    draws_of<T>().bernoulli_each(state_of(a[1]), to, from, n);
  }));
}
void dropout_mask_host(Args a, Results& out) {
  const Tensor self = a[0].tensor();
  const double keep = 1 - a[1].scalar().to_double();
  const DType dtype = real_dtype_of(self.dtype());  // complex numbers go or stay whole
  const Tensor mask = drawn(self.sizes(), dtype, "bernoulli_scalar_cpu_", [&]<class T>(T* p, int64_t n) {
    draws_of<T>().bernoulli_scaled(state_of(a[2]), p, n, keep, keep == 0 ? T(0) : static_cast<T>(1 / keep));
  });
  out.push_back(dtype == self.dtype() ? mask : to_dtype(mask, self.dtype()));
}
/// Slopes for the elements that are at most 0, in order, and 1 for the others.
void rrelu_noise_host(Args a, Results& out) {
  const Tensor self = a[0].tensor();
  const double low = a[1].scalar().to_double(), high = a[2].scalar().to_double();
  const Tensor negative = contiguous(le(self, 0));
  const bool* drawn_for = negative->data_as<bool>();
  out.push_back(drawn(self.sizes(), self.dtype(), "rrelu_with_noise_out_cpu", [&]<class T>(T* to, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      double slope = 1;
      if (drawn_for[i]) draws_of<double>().uniform(state_of(a[3]), &slope, 1, low, high);
      to[i] = static_cast<T>(slope);
    }
  }));
}
void random_any_host(Args a, Results& out) {
  const Tensor self = a[0].tensor();
  check_draws("random_kernel_cpu", self.dtype());
  if (self.dtype() == DType::Bool) {
    Tensor t = Tensor::empty(self.sizes(), DType::Bool);
    draws_of<bool>().full_range(state_of(a[1]), t->data_as<bool>(), t.numel());
    return out.push_back(t);
  }
  out.push_back(drawn_numbers(self.sizes(), self.dtype(),
                              [&]<class T>(T* to, int64_t n) { draws_of<T>().full_range(state_of(a[1]), to, n); }));
}
void random_range_host(Args a, Results& out) {
  const Tensor self = a[0].tensor();
  const int64_t low = a[1].scalar().to_int(), high = a[2].scalar().to_int();
  check_interval(low, high, self.dtype());
  out.push_back(drawn_numbers(self.sizes(), self.dtype(), [&]<class T>(T* to, int64_t n) {
    draws_of<T>().randint(state_of(a[3]), to, n, low, high);
  }));
}
/// float32 counts them one by one up to here.
constexpr int64_t kMostCategories = int64_t{1} << 24;
void multinomial_host(Args a, Results& out) {
  const Tensor self = a[0].tensor();
  const int64_t samples = a[1].scalar().to_int();
  const bool replacement = a[2].scalar().to_bool();
  check(self.rank() == 1 || self.rank() == 2, "prob_dist must be 1 or 2 dim");
  check(is_floating(self.dtype()), "multinomial only supports floating-point dtypes for input, got: {}",
        scalar_type_name(self.dtype()));
  const int64_t n = self.size(-1), rows = self.rank() == 2 ? self.size(0) : 1;
  check(samples > 0, "cannot sample n_sample <= 0 samples");
  check(replacement || samples <= n, "cannot sample n_sample > prob_dist.size(-1) samples without replacement");
  check(n <= kMostCategories, "number of categories cannot exceed 2^24");
  const Tensor weights = contiguous(is_half(self.dtype()) ? to_dtype(self, DType::F32) : self);
  Tensor t = Tensor::empty(self.rank() == 2 ? Dims{rows, samples} : Dims{samples}, DType::I64);
  const auto sample = [&]<class T>(const T* from) {
    for (int64_t r = 0; r < rows; ++r)
      if (const char* wrong = draws_of<T>().multinomial_error(from + r * n, n, replacement))
        fail(ErrorKind::RuntimeError, "{}", wrong);
    draws_of<T>().multinomial(state_of(a[3]), t->data_as<int64_t>(), from, rows, n, samples, replacement);
  };
  weights.dtype() == DType::F64 ? sample(weights->data_as<double>()) : sample(weights->data_as<float>());
  out.push_back(t);
}

// ---- shapes: known before the draw, for whoever plans ahead ---------------------------------------------------------
void sized_shape(Inference& f) {
  checked_numel(f.ints(0));
  f.result(dtype_or(f.arg(1), default_dtype()), Dims(f.ints(0)));
}
void randint_shape(Inference& f) {
  checked_numel(f.ints(2));
  f.result(dtype_or(f.arg(3), DType::I64), Dims(f.ints(2)));
}
void randperm_shape(Inference& f) { f.result(dtype_or(f.arg(1), DType::I64), Dims{f.integer(0)}); }
void multinomial_shape(Inference& f) {
  Dims sizes(f.sizes(0));
  if (!sizes.empty()) sizes.back() = f.integer(1);
  f.result(DType::I64, std::move(sizes));
}

// ---- composites -----------------------------------------------------------------------------------------------------
void randint_to_of(Composition& c) { c.result(randint(0, c.arg(0), c.arg(1), c.arg(2), c.arg(3))); }
void rand_like_of(Composition& c) {
  const DType dtype = dtype_or(c.arg(1), c.tensor(0).dtype());
  c.result(made_like(c.tensor(0), c.arg(3), [&](const Dims& sizes) { return rand(sizes, dtype, c.arg(2)); }));
}
void randn_like_of(Composition& c) {
  const DType dtype = dtype_or(c.arg(1), c.tensor(0).dtype());
  const Tensor self = c.tensor(0);
  const bool by_rows = strides_of_copy(*self, c.arg(3)) == contiguous_strides(self.sizes());
  c.result(by_rows ? randn(self.sizes(), dtype, c.arg(2))
                   : normal(empty_like(self, dtype, c.arg(3)), 0.0, 1.0, c.arg(2)));
}
void randint_like_of(Composition& c) {
  const Arg low = c.has(1) && c.has(2) ? c.arg(1) : Arg(0),
            high = c.has(2) ? c.arg(2) : c.arg(1);  // one bound is the upper
  check_kind(!high.is_none(), ErrorKind::TypeError, "randint_like() missing 1 required positional arguments: \"high\"");
  const DType dtype = dtype_or(c.arg(3), c.tensor(0).dtype());
  c.result(made_like(c.tensor(0), c.arg(4), [&](const Dims& sizes) { return randint(low, high, sizes, dtype); }));
}
/// As PyTorch: blocks of numbers are drawn for what lies row by row alone.
void normal_of(Composition& c) {
  const Tensor self = c.tensor(0);
  c.result(normal_by(self, c.arg(1), c.arg(2), self.is_contiguous(), c.arg(3)));
}
void normal_sized_of(Composition& c) {
  c.result(normal(empty(c.arg(2), dtype_or(c.arg(3), default_dtype())), c.arg(0), c.arg(1), c.arg(4)));
}
/// As PyTorch: standard normals, times std, plus mean; mean and std get gradients of zero.
void normal_tensors_of(Composition& c) {
  const Dims mean = c.arg(0).is_tensor() ? c.tensor(0).sizes() : Dims{};
  const Dims deviation = c.arg(1).is_tensor() ? c.tensor(1).sizes() : Dims{};
  check(c.arg(1).is_tensor() || c.real(1) >= 0, "normal expects std >= 0.0, but found std {}",
        c.arg(1).is_tensor() ? 0 : c.real(1));
  const DType dtype = c.arg(0).is_tensor()   ? c.tensor(0).dtype()
                      : c.arg(1).is_tensor() ? c.tensor(1).dtype()
                                             : default_dtype();
  const auto value = [&c](int i, Tensor& held) {
    if (!c.arg(i).is_tensor()) return c.arg(i);
    held = detach(c.arg(i));
    return Arg(held);
  };
  Tensor held_mean, held_deviation;
  Arg spread = value(1, held_deviation);
  if (spread.is_tensor() && held_deviation.numel() > 0) spread = Arg(held_deviation = deviations(held_deviation));
  const Tensor standard = randn(broadcast_sizes(mean, deviation), dtype, c.arg(2));
  Tensor drawn = add(mul(standard, spread), value(0, held_mean));
  const Tensor always = full(Dims{}, true, DType::Bool);
  for (int i : {0, 1})
    if (c.arg(i).is_tensor()) drawn = where(always, drawn, c.arg(i));
  c.result(drawn.dtype() == dtype ? drawn : to_dtype(drawn, dtype));
}
void deviations_host(Args a, Results& out) {
  const Tensor std = a[0].tensor();
  check(*all(ge(std, 0.0))->data_as<bool>(), "normal expects all elements of std >= 0.0");
  out.push_back(clone(std));
}
std::string_view normal_name(std::span<const Arg> args) {
  if (!args[0].is_tensor()) return "NormalBackward2";
  return args[1].is_tensor() ? "NormalBackward3" : "NormalBackward1";
}
/// As PyTorch: a fresh tensor is drawn row by row, whatever self does.
void bernoulli_fresh_of(Composition& c) { c.result(bernoulli(contiguous(c.tensor(0)), c.arg(1), c.arg(2))); }
void bernoulli_by_of(Composition& c) {
  const Tensor self = c.tensor(0);
  const Dims order = order_of_places(*self);
  const Tensor p = expand(c.tensor(1), self.sizes());
  const Tensor drawn = order.empty()
                           ? bernoulli_each(p, c.arg(2))
                           : in_place_of_rows(bernoulli_each(permute(p, order), c.arg(2)), preserved_strides(*self));
  c.result(drawn.dtype() == self.dtype() ? drawn : to_dtype(drawn, self.dtype()));
}
void random_to_of(Composition& c) { c.result(random_range(c.arg(0), 0, c.arg(1), c.arg(2))); }
void dropout_of(Composition& c) {
  const Tensor self = c.tensor(0);
  const double p = c.real(1);
  check_kind(p >= 0 && p <= 1, ErrorKind::ValueError, "dropout probability has to be between 0 and 1, but got {}", p);
  if (!c.flag(2) || p == 0 || self.numel() == 0) return c.result(self);
  if (p == 1) return c.result(self * zeros_like(self));
  c.result(self * dropout_mask(self, p, c.arg(3)));
}

constexpr uint32_t kDraws = kHost | kRandom | kNoGradient;
constexpr uint32_t kDrawsAlone = kDraws | kDrawsBySizes;
}  // namespace

// ---- records --------------------------------------------------------------------------------------------------------
const Op rand{{.name = "rand",
               .signature = "(int[] *size, dtype? dtype=None, Generator? generator=None) -> Tensor",
               .doc = "Uniform numbers in [0, 1).",
               .example = "terra.rand(2, 3).shape",
               .flags = kFunction | kFactory | kDrawsAlone,
               .shape = sized_shape,
               .host = rand_host,
               .samples = {{"2, 3", "float", false}, {"(20,), dtype=terra.float64", "float", false}}}};
const Op randn{{.name = "randn",
                .signature = "(int[] *size, dtype? dtype=None, Generator? generator=None) -> Tensor",
                .doc = "Normal numbers of mean 0 and deviation 1.",
                .example = "terra.randn(2, 3).shape",
                .flags = kFunction | kFactory | kDrawsAlone,
                .shape = sized_shape,
                .host = randn_host,
                .samples = {{"2, 3", "float", false}, {"(20,), dtype=terra.float64", "float", false}}}};
const Op randint{
    {.name = "randint",
     .signature = "(int low, int high, int[] size, *, dtype? dtype=None, Generator? generator=None) -> Tensor",
     .doc = "Uniform integers in [low, high).",
     .example = "terra.randint(0, 9, (2,)).shape",
     .flags = kFactory | kDrawsAlone,
     .shape = randint_shape,
     .host = randint_host,
     .samples = {{"-3, 9, (2, 3)", "float", false}, {"0, 2, (3,), dtype=terra.float32", "float", false}}}};
const Op randint_to{{.name = "randint_to",
                     .signature = "(int high, int[] size, *, dtype? dtype=None, Generator? generator=None) -> Tensor",
                     .doc = "Uniform integers in [0, high).",
                     .example = "",
                     .flags = kFactory | kNoGradient,
                     .composite = randint_to_of,
                     .samples = {{"9, (2, 3)", "float", false}}}};
const Op randperm{{.name = "randperm",
                   .signature = "(int n, *, dtype? dtype=None, Generator? generator=None) -> Tensor",
                   .doc = "The numbers below n in random order.",
                   .example = "terra.randperm(4).shape",
                   .flags = kFunction | kFactory | kDrawsAlone,
                   .shape = randperm_shape,
                   .host = randperm_host,
                   .samples = {{"7", "float", false}}}};
const Op rand_like{{.name = "rand_like",
                    .signature = "(Tensor self, *, dtype? dtype=None, Generator? generator=None, str? "
                                 "memory_format=None) -> Tensor",
                    .doc = "Uniform numbers in [0, 1) in the shape and dtype of self.",
                    .example = "terra.rand_like(terra.ones(2)).shape",
                    .flags = kFunction | kFactory | kNoGradient | kMovesBytes,
                    .composite = rand_like_of,
                    .samples = {{"randn(2, 3)", "float", false}}}};
const Op randn_like{{.name = "randn_like",
                     .signature = "(Tensor self, *, dtype? dtype=None, Generator? generator=None, str? "
                                  "memory_format=None) -> Tensor",
                     .doc = "Normal numbers in the shape and dtype of self.",
                     .example = "terra.randn_like(terra.ones(2)).shape",
                     .flags = kFunction | kFactory | kNoGradient | kMovesBytes,
                     .composite = randn_like_of,
                     .samples = {{"randn(2, 3)", "float", false}}}};
const Op randint_like{{.name = "randint_like",
                       .signature = "(Tensor self, int? low=None, int? high=None, *, dtype? dtype=None, str? "
                                    "memory_format=None) -> Tensor",
                       .doc = "Uniform integers in [low, high) in the shape and dtype of self.",
                       .example = "terra.randint_like(terra.ones(2), 0, 9).shape",
                       .flags = kFunction | kFactory | kNoGradient | kMovesBytes,
                       .composite = randint_like_of,
                       .samples = {{"randn(2, 3), 0, 9", "float", false}, {"randn(2, 3), 9", "float", false}}}};
const Op normal_by{
    {.name = "normal_by",
     .signature = "(Tensor self, float mean, float std, bool blocks, *, Generator? generator=None) -> Tensor",
     .doc = "Normal numbers in the shape of self, drawn in blocks of 16 or in pairs.",
     .example = "",
     .flags = kHost | kRandom | kDrawsBySizes | kComplex,
     .shape = rules::like_first,
     .host = normal_by_host,
     .gradient = zero_gradient,
     .samples = {{"randn(20), 1.0, 2.0, True", "float", false}}}};
const Op normal{{.name = "normal",
                 .signature = "(Tensor self, float mean=0, float std=1, *, Generator? generator=None) -> Tensor",
                 .doc = "Normal numbers.",
                 .example = "terra.zeros(2).normal_().shape",
                 .flags = kInPlace | kMovesBytes,
                 .composite = normal_of,
                 .grad_fn = "NormalBackward0",
                 .samples = {{"randn(20), 1.0, 2.0", "float", false}}}};
const Op normal_sized{{.name = "normal_sized",
                       .signature =
                           "(float mean, float std, int[] size, *, dtype? dtype=None, Generator? generator=None) -> "
                           "Tensor",
                       .doc = "Normal numbers of the given size.",
                       .example = "terra.normal(0.0, 1.0, (2,)).shape",
                       .flags = kFactory | kNoGradient | kMovesBytes,
                       .composite = normal_sized_of,
                       .samples = {{"0.0, 1.0, (2, 3)", "float", false}}}};
const Op deviations{{.name = "deviations",
                     .signature = "(Tensor self) -> Tensor",
                     .doc = "self, of which no element may be negative or NaN.",
                     .example = "",
                     .flags = kHost | kChecksValues | kNoGradient,
                     .shape = rules::like_first,
                     .host = deviations_host,
                     .samples = {{"rand(5)", "float", false}}}};
const Op normal_tensors{
    {.name = "normal_tensors",
     .signature = "(Tensor|Number mean, Tensor|Number std=1, *, Generator? generator=None) -> Tensor",
     .doc = "Normal numbers, each with its own mean and deviation.",
     .example = "",
     .flags = kMovesBytes,
     .composite = normal_tensors_of,
     .grad_fn_of = normal_name,
     .samples = {{"randn(2, 3), rand(3)", "float", false}, {"randn(2)", "float", false}}}};
const Op uniform{overwriting(
    "uniform", "(Tensor self, float from=0, float to=1, *, Generator? generator=None) -> Tensor",
    "Uniform numbers in [from, to).", "terra.zeros(2).uniform_(1, 2).shape", uniform_host, "randn(5), -1.0, 1.0")};
const Op exponential{overwriting("exponential", "(Tensor self, float lambd=1, *, Generator? generator=None) -> Tensor",
                                 "Exponentially distributed numbers of rate lambd.",
                                 "terra.zeros(2).exponential_().shape", exponential_host, "randn(5), 2.0")};
const Op bernoulli{overwriting("bernoulli", "(Tensor self, float p=0.5, *, Generator? generator=None) -> Tensor",
                               "1 with probability p, else 0.", "terra.zeros(2).bernoulli_(0.3).shape", bernoulli_host,
                               "randn(5), 0.3")};
const Op bernoulli_fresh{{.name = "bernoulli_fresh",
                          .signature = "(Tensor self, float p=0.5, *, Generator? generator=None) -> Tensor",
                          .doc = "1 with probability p, else 0, in the shape of self.",
                          .example = "",
                          .flags = kMovesBytes,
                          .composite = bernoulli_fresh_of,
                          .samples = {{"randn(5), 0.3", "float", false}}}};
const Op bernoulli_each{{.name = "bernoulli_each",
                         .signature = "(Tensor self, *, Generator? generator=None) -> Tensor",
                         .doc = "1 with the probability that each element of self gives, else 0.",
                         .example = "terra.bernoulli(terra.tensor([0.0, 1.0]))",
                         .flags = kHost | kRandom | kChecksValues,
                         .shape = rules::like_first,
                         .host = bernoulli_each_host,
                         .gradient = zero_gradient,
                         .grad_fn = "BernoulliBackward0",
                         .samples = {{"rand(5)", "float", false}}}};
const Op bernoulli_by{{.name = "bernoulli_by",
                       .signature = "(Tensor self, Tensor p, *, Generator? generator=None) -> Tensor",
                       .doc = "1 with the probability that each element of p gives, else 0.",
                       .example = "",
                       .flags = kInPlace | kNoGradient | kMovesBytes,
                       .composite = bernoulli_by_of,
                       .samples = {{"randn(5), rand(5)", "float", false}}}};
const Op random_any{overwriting("random_any", "(Tensor self, *, Generator? generator=None) -> Tensor",
                                "Integers from the whole range of the dtype that are not negative.",
                                "terra.zeros(2).random_().shape", random_any_host, "randn(5)")};
const Op random_range{
    overwriting("random_range", "(Tensor self, int from, int to, *, Generator? generator=None) -> Tensor",
                "Integers in [from, to).", "terra.zeros(2).random_(2, 5).shape", random_range_host, "randn(5), 2, 5")};
const Op random_to{{.name = "random_to",
                    .signature = "(Tensor self, int to, *, Generator? generator=None) -> Tensor",
                    .doc = "Integers in [0, to).",
                    .example = "",
                    .flags = kInPlace | kMovesBytes,
                    .composite = random_to_of,
                    .samples = {{"randn(5), 7", "float", false}}}};
const Op multinomial{{.name = "multinomial",
                      .signature =
                          "(Tensor self, int num_samples, bool replacement=False, *, Generator? generator=None) -> "
                          "Tensor",
                      .doc = "Positions drawn with probability proportional to the elements of each row.",
                      .example = "terra.multinomial(terra.tensor([0.0, 1.0]), 1)",
                      .flags = kVisible | kDraws | kChecksValues,
                      .shape = multinomial_shape,
                      .host = multinomial_host,
                      .samples = {{"rand(5), 3", "float", false}, {"rand(2, 5), 7, True", "float", false}}}};
const Op dropout{
    {.name = "dropout",
     .signature = "(Tensor self, float p=0.5, bool training=True, Generator? generator=None) -> Tensor",
     .doc = "Zero with probability p, else the element divided by 1 - p; the tensor itself unless training.",
     .example = "terra.nn.functional.dropout(terra.ones(4), 0.5).shape",
     .flags = kFunction | kFunctional | kInPlace | kMayAlias,
     .composite = dropout_of,
     .samples = {{"randn(3, 4), 0.3, False"}, {"randn(3, 4), 0.3", "float", false}}}};
const Op rrelu_noise{{.name = "rrelu_noise",
                      .signature = "(Tensor self, float lower, float upper, *, Generator? generator=None) -> Tensor",
                      .doc = "Numbers from [lower, upper) where self is at most 0, else 1.",
                      .example = "",
                      .flags = kDraws,
                      .shape = rules::like_first,
                      .host = rrelu_noise_host,
                      .samples = {{"randn(3, 4), 0.1, 0.3", "float", false}}}};
const Op dropout_mask{{.name = "dropout_mask",
                       .signature = "(Tensor self, float p, Generator? generator=None) -> Tensor",
                       .doc = "In the shape of self: 0 with probability p, else 1 / (1 - p). 0 < p < 1.",
                       .example = "",
                       .flags = kFunctional | kDrawsAlone | kComplex,
                       .shape = rules::like_first,
                       .host = dropout_mask_host,
                       .samples = {{"randn(3, 4), 0.3", "float", false}, {"crandn(3, 4), 0.3", "complex", false}}}};

}  // namespace terra::ops
