#include "engine/ops/overlap.h"

#include "engine/errors/errors.h"
#include "engine/ops/layout.h"
#include "engine/ops/rules.h"

namespace terra {
namespace {

enum class Overlap { None, Partial, Full };

Overlap overlap(const TensorImpl& a, const TensorImpl& b) {
  if (&a == &b) return Overlap::Full;
  if (a.is_symbolic() != b.is_symbolic() || !shares_memory(a, b) || !is_dense(a) || !is_dense(b)) return Overlap::None;
  // Of symbolic tensors only the place in their common storage is known.
  const auto begin = [](const TensorImpl& t) {
    const int64_t place = t.offset * static_cast<int64_t>(size_of(t.dtype));
    return t.is_symbolic() ? place : reinterpret_cast<intptr_t>(t.storage->data()) + place;
  };
  const auto end = [&begin](const TensorImpl& t) {
    return begin(t) + t.numel * static_cast<int64_t>(size_of(t.dtype));
  };
  if (begin(a) == begin(b) && end(a) == end(b)) return a.strides == b.strides ? Overlap::Full : Overlap::Partial;
  return begin(a) < end(b) && begin(b) < end(a) ? Overlap::Partial : Overlap::None;
}

[[noreturn]] void refuse_operand() {
  fail(ErrorKind::RuntimeError,
       "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory "
       "location. Please clone() the tensor before performing the operation.");
}

}  // namespace

SymbolicOverlap& symbolic_overlap() {
  static SymbolicOverlap answer = nullptr;
  return answer;
}

/// Where work that has been put off tells bytes apart, nobody has to ask for them.
static bool same_bytes(const Storage& a, const Storage& b) {
  if (&a == &b) return true;
  const bool deferred = a.deferral() || b.deferral();
  if (deferred && (a.deferral() != b.deferral() || a.ticket() != b.ticket())) return false;
  return a.data() && a.data() == b.data();
}

bool shares_memory(const TensorImpl& a, const TensorImpl& b) {
  if (a.numel == 0 || b.numel == 0) return false;
  if (&a == &b) return true;
  if (a.is_symbolic()) return symbolic_overlap()(a, b);
  if (b.is_symbolic()) return symbolic_overlap()(b, a);
  return same_bytes(*a.storage, *b.storage);
}

void check_counts_writes(const TensorImpl& target) {
  check(!target.storage || !target.is_inference() || inference_mode(),
        "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a normal "
        "tensor before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details.");
}

void check_cast(DType from, DType to) {
  const bool loses = kind_of(from) > kind_of(to) && (is_inexact(from) || is_bool(to));
  check(!loses, "result type {} can't be cast to the desired output type {}", scalar_type_name(from),
        scalar_type_name(to));
}

void check_distinct_elements(const Tensor& target) {
  if (target.numel() == 0) return;
  for (size_t d = 0; d < target.rank(); ++d)
    check(target.strides()[d] != 0 || target.sizes()[d] <= 1,
          "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
          "Please clone() the tensor before performing the operation.");
}

void check_not_shifted(const Tensor& target, const TensorImpl& operand) {
  if (overlap(*target, operand) == Overlap::Partial) refuse_operand();
}

void check_apart(const Tensor& target, const TensorImpl& operand) {
  if (overlap(*target, operand) != Overlap::None) refuse_operand();
}

}  // namespace terra
