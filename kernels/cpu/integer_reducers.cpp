// Folds of integers and bools: sums and products in int64.
#include "kernels/cpu/isa/reducer_loops.h"

namespace terra::cpu {

const Reducer* integer_reducers(DType dtype) {
  using namespace TERRA_ISA;
  switch (dtype) {
    case DType::Bool: return kReducers<bool>;
    case DType::U8: return kReducers<uint8_t>;
    case DType::I8: return kReducers<int8_t>;
    case DType::I16: return kReducers<int16_t>;
    case DType::I32: return kReducers<int32_t>;
    case DType::I64: return kReducers<int64_t>;
    default: return nullptr;
  }
}

}  // namespace terra::cpu
