// What records of draws have in common.
#pragma once
#include "engine/device/backend.h"
#include "engine/errors/errors.h"
#include "engine/ops/convert.h"
#include "engine/ops/op.h"

namespace terra {

/// A flag of records of ops that draw: of operands they read dtype and sizes, and no elements.
inline constexpr uint32_t kDrawsBySizes = 1 << 25;

}  // namespace terra

namespace terra::ops {

/// The state that a call with this argument draws from: the generator's, or the default one's.
RandomState& state_of(const Arg& generator);

/// The draws of numbers of type T.
template <class T>
const Draws<T>& draws_of() {
  return std::get<Draws<T>>(libraries().draws.of_many);
}
inline const DrawsOfOne& draws_of_one() { return libraries().draws.of_one; }

/// Makes a tensor and calls draw(pointer, n) on its elements: float or double; 16-bit floats are drawn as float.
template <class Draw>
Tensor drawn(std::span<const int64_t> sizes, DType dtype, std::string_view name, const Draw& draw) {
  check_kind(is_floating(dtype), ErrorKind::NotImplementedError, "\"{}\" not implemented for '{}'", name,
             scalar_type_name(dtype));
  Tensor t = Tensor::empty(sizes, is_half(dtype) ? DType::F32 : dtype);
  if (dtype == DType::F64)
    draw(t->data_as<double>(), t.numel());
  else
    draw(t->data_as<float>(), t.numel());
  return is_half(dtype) ? to_dtype(t, dtype) : t;
}

/// What is drawn doesn't depend on what was there before, and counts don't follow their parameters.
void zero_gradient(Backward& b);

/// Replaces the elements of its operand by draws: seen by its in-place form only.
OpRecord overwriting(std::string_view name, std::string_view signature, std::string_view doc, std::string_view example,
                     HostRule host, std::string_view sample);

}  // namespace terra::ops
