// One call of an op for many rows, in the hands of the rule that computes it.
#pragma once
#include <string_view>
#include <utility>

#include "engine/ops/call.h"
#include "recursive/batching/rules.h"

namespace terra::recursive {

template <class... A>
Tensor run(std::string_view op, A&&... args) {
  return (*find_op(op))(std::forward<A>(args)...);
}

/// The sizes of one call, behind the rows.
Dims with_rows(int64_t rows, std::span<const int64_t> sizes);
/// The sizes of one call.
Dims sizes_of(const Batched& x);
/// So that operands of `rank` dimensions a call broadcast against each other: rows first, then ones.
Tensor aligned(const Batched& x, size_t rank);
/// Also what all calls share is there for each of them.
Tensor for_each_row(const Batched& x, int64_t rows);
/// Matrices below each other are one matrix.
Tensor stacked(const Batched& x);

struct BatchedCall {
  const Op& op;
  std::vector<BatchedArg> args;
  int64_t rows;
  std::vector<Batched> results;

  [[noreturn]] void refuse(std::string_view why) const;
  /// Of operands from `first` on: they must be the same in all calls.
  void refuse_rows(size_t first) const;

  const Batched* tensor(size_t i) const { return i < args.size() ? std::get_if<Batched>(&args[i]) : nullptr; }
  const Batched& at(size_t i) const;
  const graph::NodeArg* attribute(size_t i) const {
    return i < args.size() ? std::get_if<graph::NodeArg>(&args[i]) : nullptr;
  }
  bool is_none(size_t i) const;
  bool is_rows(size_t i) const { return tensor(i) && tensor(i)->rows; }
  Scalar number(size_t i) const;
  int64_t integer(size_t i) const { return number(i).to_int(); }
  /// A list of integers; one alone is a list.
  graph::IntList& list(size_t i);
  std::string_view text(size_t i) const { return std::get<std::string>(std::get<graph::NodeArg>(args[i])); }
  void set(size_t i, Tensor t) { args[i] = Batched{std::move(t), true}; }

  /// The op on the operands as they are now; tensors that all calls share stay as they are.
  void emit();
  void give(Tensor result) { results.push_back({std::move(result), true}); }
};

/// Every dimension that an argument names is one further, of operands of `rank` dimensions a call; negative ones count
/// from the end as before.
void shift_dims(BatchedCall& call, size_t rank);

using Rule = void (*)(BatchedCall&);

/// The op takes any leading dimensions.
void as_it_is(BatchedCall& call);
/// What happens along dimensions that arguments name happens along the same ones of each row.
void along_dims(BatchedCall& call);
/// As `along_dims`, of the first operand only: others (an index, the weight of a norm) are the same for all calls.
void along_dims_of_first(BatchedCall& call);

/// A rule for each op that has one of its own.
struct NamedRule {
  std::string_view op;
  Rule rule;
};
std::span<const NamedRule> view_rules();
std::span<const NamedRule> product_rules();
std::span<const NamedRule> look_up_rules();
std::span<const NamedRule> image_rules();
std::span<const NamedRule> gradient_rules();

}  // namespace terra::recursive
