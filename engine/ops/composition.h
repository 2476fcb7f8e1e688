// What a composite op sees: its arguments, and where to put its results.
#pragma once
#include <vector>

#include "engine/errors/errors.h"
#include "engine/ops/op.h"

namespace terra {

class Composition {
 public:
  Composition(const Op& op, std::span<const Arg> args, std::vector<Tensor>& results)
      : op(op), args_(args), results_(results) {}

  const Op& op;
  const Arg& arg(int i) const { return args_[i]; }
  bool has(int i) const { return !args_[i].is_none(); }
  Tensor tensor(int i) const { return args_[i].tensor(); }
  std::span<const Tensor> tensors(int i) const { return args_[i].tensors(); }
  std::span<const int64_t> ints(int i) const { return args_[i].ints(); }
  int64_t integer(int i) const { return args_[i].scalar().to_int(); }
  double real(int i) const { return args_[i].scalar().to_double(); }
  bool flag(int i) const { return args_[i].scalar().to_bool(); }
  std::string_view text(int i) const { return args_[i].text(); }

  void result(Tensor t) { results_.push_back(std::move(t)); }

 private:
  std::span<const Arg> args_;
  std::vector<Tensor>& results_;
};

}  // namespace terra
