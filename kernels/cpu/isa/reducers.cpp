// Folds of floats.
#include "kernels/cpu/isa/reducer_loops.h"

namespace terra::cpu::TERRA_ISA {

const Reducer* float_reducers() { return kReducers<float>; }
const Reducer* double_reducers() { return kReducers<double>; }

}  // namespace terra::cpu::TERRA_ISA
