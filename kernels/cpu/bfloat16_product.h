// Matrix products of bfloat16 numbers by oneDNN, on processors that have instructions for them.
#pragma once
#include "kernels/abi/half.h"
#include "kernels/cpu/blas.h"

namespace terra::cpu::bfloat16 {

/// Whether products of that many multiplications are computed here: the processor multiplies bfloat16 numbers, and the
/// products are worth the millisecond in which oneDNN generates the code for a new shape. The others are converted.
bool multiplies(int64_t multiplications);

/// C = A B for A [m, k], B [k, n] and row-major, gapless C [m, n], none of them empty, with a row of n numbers added to
/// each row unless `bias` is null. Summed in f32 and rounded once; Out: float or BFloat16. Operands must be direct
/// (blas::is_direct). Splits m or n among the pool's threads, into pieces that are a function of (m, n, k) alone.
template <class Out>
void product(int64_t m, int64_t n, int64_t k, blas::Operand<BFloat16> a, blas::Operand<BFloat16> b,
             const BFloat16* bias, Out* c);

}  // namespace terra::cpu::bfloat16
