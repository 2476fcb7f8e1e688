#include "kernels/reference/numbers.h"

#include <stdexcept>

namespace terra::reference {

namespace {

template <class T>
int64_t integer_at(const void* at) {
  return static_cast<int64_t>(*static_cast<const T*>(at));
}

template <class T>
void put(void* at, T value) {
  *static_cast<T*>(at) = value;
}

template <class X>
void write_real(DType dtype, void* at, X x) {
  switch (dtype) {
    case DType::Bool: return put(at, x != 0);
    case DType::U8: return put(at, static_cast<uint8_t>(static_cast<int64_t>(x)));
    case DType::I8: return put(at, static_cast<int8_t>(static_cast<int64_t>(x)));
    case DType::I16: return put(at, static_cast<int16_t>(static_cast<int64_t>(x)));
    case DType::I32: return put(at, static_cast<int32_t>(x));
    case DType::I64: return put(at, static_cast<int64_t>(x));
    case DType::U16: return put(at, static_cast<uint16_t>(static_cast<int64_t>(x)));
    case DType::U32: return put(at, static_cast<uint32_t>(static_cast<int64_t>(x)));
    case DType::U64: return put(at, x < 0 ? static_cast<uint64_t>(static_cast<int64_t>(x)) : static_cast<uint64_t>(x));
    case DType::F16: return put(at, Half(static_cast<float>(x)));
    case DType::BF16: return put(at, BFloat16(static_cast<float>(x)));
    case DType::F32: return put(at, static_cast<float>(x));
    case DType::F64: return put(at, static_cast<double>(x));
    default: throw std::logic_error("a real number is written to an element of a real dtype");
  }
}

}  // namespace

Number read(DType dtype, const void* at) {
  switch (dtype) {
    case DType::Bool: return integer_at<bool>(at);
    case DType::U8: return integer_at<uint8_t>(at);
    case DType::I8: return integer_at<int8_t>(at);
    case DType::I16: return integer_at<int16_t>(at);
    case DType::I32: return integer_at<int32_t>(at);
    case DType::I64: return integer_at<int64_t>(at);
    case DType::U16: return integer_at<uint16_t>(at);
    case DType::U32: return integer_at<uint32_t>(at);
    case DType::U64: return *static_cast<const uint64_t*>(at);
    case DType::F16: return static_cast<double>(static_cast<float>(*static_cast<const Half*>(at)));
    case DType::BF16: return static_cast<double>(static_cast<float>(*static_cast<const BFloat16*>(at)));
    case DType::F32: return static_cast<double>(*static_cast<const float*>(at));
    case DType::F64: return *static_cast<const double*>(at);
    case DType::C32: return std::complex<double>(std::complex<float>(*static_cast<const ComplexHalf*>(at)));
    case DType::BC32: return std::complex<double>(std::complex<float>(*static_cast<const ComplexBFloat16*>(at)));
    case DType::C64: return std::complex<double>(*static_cast<const std::complex<float>*>(at));
    case DType::C128: return *static_cast<const std::complex<double>*>(at);
  }
  throw std::logic_error("unknown dtype");
}

void write(DType dtype, void* at, Number value) {
  if (dtype == DType::C32) return put(at, ComplexHalf(std::complex<float>(to_complex(value))));
  if (dtype == DType::BC32) return put(at, ComplexBFloat16(std::complex<float>(to_complex(value))));
  if (dtype == DType::C64) return put(at, std::complex<float>(to_complex(value)));
  if (dtype == DType::C128) return put(at, to_complex(value));
  if (const auto* z = std::get_if<std::complex<double>>(&value))
    return dtype == DType::Bool ? put(at, *z != 0.0) : write_real(dtype, at, z->real());
  if (const auto* x = std::get_if<double>(&value)) return write_real(dtype, at, *x);
  if (const auto* x = std::get_if<uint64_t>(&value)) return write_real(dtype, at, *x);
  write_real(dtype, at, std::get<int64_t>(value));
}

}  // namespace terra::reference
