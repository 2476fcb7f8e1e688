#include "kernels/abi/element.h"

#include <cstring>

#include "kernels/abi/half.h"

namespace terra {
namespace {

template <class T>
T load(const void* data) {
  T value;
  std::memcpy(&value, data, sizeof value);
  return value;
}

template <class T>
void store(void* data, T value) {
  std::memcpy(data, &value, sizeof value);
}

}  // namespace

Scalar load_element(const void* data, DType dtype) {
  switch (dtype) {
    case DType::Bool: return Scalar(load<uint8_t>(data) != 0);
    case DType::U8: return Scalar(int64_t{load<uint8_t>(data)});
    case DType::I8: return Scalar(int64_t{load<int8_t>(data)});
    case DType::I16: return Scalar(int64_t{load<int16_t>(data)});
    case DType::I32: return Scalar(int64_t{load<int32_t>(data)});
    case DType::I64: return Scalar(load<int64_t>(data));
    case DType::U16: return Scalar(int64_t{load<uint16_t>(data)});
    case DType::U32: return Scalar(int64_t{load<uint32_t>(data)});
    case DType::U64: return Scalar(load<uint64_t>(data));
    case DType::F16: return Scalar(double{static_cast<float>(load<Half>(data))});
    case DType::BF16: return Scalar(double{static_cast<float>(load<BFloat16>(data))});
    case DType::F32: return Scalar(double{load<float>(data)});
    case DType::F64: return Scalar(load<double>(data));
    case DType::C32: return Scalar(std::complex<double>(std::complex<float>(load<ComplexHalf>(data))));
    case DType::BC32: return Scalar(std::complex<double>(std::complex<float>(load<ComplexBFloat16>(data))));
    case DType::C64: return Scalar(std::complex<double>(load<std::complex<float>>(data)));
    case DType::C128: return Scalar(load<std::complex<double>>(data));
  }
  return Scalar();
}

void store_element(void* data, DType dtype, const Scalar& value) {
  switch (dtype) {
    case DType::Bool: return store(data, value.to_bool());
    case DType::U8: return store(data, static_cast<uint8_t>(value.to_int()));
    case DType::I8: return store(data, static_cast<int8_t>(value.to_int()));
    case DType::I16: return store(data, static_cast<int16_t>(value.to_int()));
    case DType::I32: return store(data, static_cast<int32_t>(value.to_int()));
    case DType::I64: return store(data, value.to_int());
    case DType::U16: return store(data, static_cast<uint16_t>(value.to_int()));
    case DType::U32: return store(data, static_cast<uint32_t>(value.to_int()));
    case DType::U64: return store(data, value.to_unsigned());
    case DType::F16: return store(data, Half(static_cast<float>(value.to_double())));
    case DType::BF16: return store(data, BFloat16(static_cast<float>(value.to_double())));
    case DType::F32: return store(data, static_cast<float>(value.to_double()));
    case DType::F64: return store(data, value.to_double());
    case DType::C32: return store(data, ComplexHalf(std::complex<float>(value.to_complex())));
    case DType::BC32: return store(data, ComplexBFloat16(std::complex<float>(value.to_complex())));
    case DType::C64: return store(data, std::complex<float>(value.to_complex()));
    case DType::C128: return store(data, value.to_complex());
  }
}

}  // namespace terra
