// What the tensor given as out= may be. Like the target of an in-place form it is converted to, and it is made to fit;
// but some ops want it to have their result's dtype, and some may not find it among their operands.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "engine/ops/op.h"

namespace terra {

/// Throws where the write to `out` would have to be recorded: with gradients on, if an operand or `out` requires one.
/// `name`: what the program called.
void check_out_history(const Op& op, std::string_view name, std::span<const Arg> args, const Tensor& out);
/// Before the op runs: throws if what is written to `out` might change what is still to be read, or if it shows one
/// element in several places.
void check_out_memory(const Op& op, std::span<const Arg> args, const Tensor& out);
/// Throws unless the op may write a result of dtype `result` to an out= of dtype `out`.
void check_out_dtype(const Op& op, DType result, DType out);
/// The names of the ops of which more is said here than that out= is converted to.
std::vector<std::string_view> ops_with_out_rules();

}  // namespace terra
