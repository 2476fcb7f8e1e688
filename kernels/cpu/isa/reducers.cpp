// Folds of floats, and of integers and bools: their sums and products are taken in int64.
#include "kernels/cpu/isa/reducer_loops.h"

namespace terra::cpu::TERRA_ISA {

const Reducer* real_reducers(DType dtype) {
  switch (dtype) {
    case DType::F32: return kReducers<float>;
    case DType::F64: return kReducers<double>;
    case DType::Bool: return kReducers<bool>;
    case DType::U8: return kReducers<uint8_t>;
    case DType::I8: return kReducers<int8_t>;
    case DType::I16: return kReducers<int16_t>;
    case DType::I32: return kReducers<int32_t>;
    case DType::I64: return kReducers<int64_t>;
    default: return nullptr;
  }
}

}  // namespace terra::cpu::TERRA_ISA
