// The arguments of a call with other tensors in place of its own.
#pragma once
#include <span>
#include <vector>

#include "engine/ops/arg.h"

namespace terra {

/// `replace(tensor)` gives what stands in a tensor's place, which may be the tensor itself. Holds what was given; the
/// rest of the arguments is the caller's.
class ReplacedArgs {
 public:
  template <class Replace>
  ReplacedArgs(std::span<const Arg> args, Replace replace) : args_(args.begin(), args.end()) {
    kept_.reserve(args.size());
    lists_.reserve(args.size());
    for (Arg& a : args_) {
      if (a.is_tensor()) {
        a = Arg(kept_.emplace_back(replace(a.tensor())));
      } else if (a.kind() == Arg::Kind::TensorList) {
        auto& list = lists_.emplace_back(a.tensors().begin(), a.tensors().end());
        for (Tensor& t : list)
          if (t.defined()) t = replace(t);
        a = Arg(list);
      }
    }
  }
  ReplacedArgs(const ReplacedArgs&) = delete;

  std::span<const Arg> args() const { return args_; }

 private:
  std::vector<Arg> args_;
  std::vector<Tensor> kept_;
  std::vector<std::vector<Tensor>> lists_;
};

}  // namespace terra
