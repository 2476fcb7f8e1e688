// Which tensors share memory: what results may do to arguments, and what in-place forms refuse.
#pragma once
#include "engine/tensor/tensor.h"

namespace terra {

/// True iff writing to one of the two may change the other: both have elements, and they lie in one storage (or stand
/// for parts of one value of a graph).
bool shares_memory(const TensorImpl& a, const TensorImpl& b);

/// How tensors that stand for values of a graph answer: whether `symbolic` and `other` may stand for the same memory.
/// Set by whoever makes such tensors.
using SymbolicOverlap = bool (*)(const TensorImpl& symbolic, const TensorImpl& other);
SymbolicOverlap& symbolic_overlap();

/// Throws for an inference tensor outside of inference mode: nobody would learn of the write. As in PyTorch, whoever
/// asks has written already.
void check_counts_writes(const TensorImpl& target);
/// Throws unless results of one dtype may be written to tensors of the other: never to one of a lower kind.
void check_cast(DType from, DType to);
/// Throws for a target that shows one element in several places: what a write leaves there depends on the order.
void check_distinct_elements(const Tensor& target);
/// Throws if some elements of the target, but not each in its own place, are elements of the operand: a loop would read
/// what it has written. As in PyTorch, tensors with gaps between their elements pass.
void check_not_shifted(const Tensor& target, const TensorImpl& operand);
/// Throws if any element of the target is one of the operand, by the same measure.
void check_apart(const Tensor& target, const TensorImpl& operand);

}  // namespace terra
