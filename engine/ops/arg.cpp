#include "engine/ops/arg.h"

#include <cstring>

#include "engine/errors/errors.h"

namespace terra {

void Arg::no_number() const {
  throw InternalError(kind_ == Kind::None ? "an op reads a number that is absent"
                                          : "an op needs a number that is only known when the graph runs");
}

OwnedArgs::OwnedArgs(std::span<const Arg> args, uint32_t keep_tensors) {
  args_.reserve(args.size());
  for (size_t i = 0; i < args.size(); ++i) {
    const Arg& a = args[i];
    const bool keep = keep_tensors >> i & 1;
    switch (a.kind()) {
      case Arg::Kind::Tensor:
        if (keep) tensors_.push_back(a.tensor());
        args_.push_back(keep ? a : Arg());
        break;
      case Arg::Kind::TensorList:
        if (keep) lists_.emplace_back(a.tensors().begin(), a.tensors().end());
        args_.push_back(keep ? Arg(std::span<const Tensor>(lists_.back())) : Arg());
        break;
      case Arg::Kind::IntList: {
        const auto ints = a.ints();
        auto& copy = ints_.emplace_back(std::make_unique<int64_t[]>(ints.size()));
        std::copy(ints.begin(), ints.end(), copy.get());
        args_.push_back(Arg(std::span<const int64_t>(copy.get(), ints.size())));
        break;
      }
      case Arg::Kind::String: {
        auto& copy = texts_.emplace_back(std::make_unique<char[]>(a.text().size()));
        std::memcpy(copy.get(), a.text().data(), a.text().size());
        args_.push_back(Arg(std::string_view(copy.get(), a.text().size())));
        break;
      }
      default: args_.push_back(a);
    }
  }
}

}  // namespace terra
