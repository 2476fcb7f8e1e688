#include "engine/ops/arg.h"

#include <algorithm>
#include <new>

#include "engine/errors/errors.h"

namespace terra {

void Arg::no_number() const {
  throw InternalError(kind_ == Kind::None ? "an op reads a number that is absent"
                                          : "an op needs a number that is only known when the graph runs");
}

OwnedArgs::OwnedArgs(std::span<const Arg> args, uint32_t keep_tensors) : count_(args.size()) {
  if (args.empty()) return;
  size_t integers = 0, letters = 0;
  for (const Arg& a : args) {
    if (a.kind() == Arg::Kind::IntList) integers += a.ints().size();
    if (a.kind() == Arg::Kind::String) letters += a.text().size();
  }
  memory_ = std::make_unique_for_overwrite<std::byte[]>(args.size_bytes() + integers * sizeof(int64_t) + letters);
  Arg* const copies = reinterpret_cast<Arg*>(memory_.get());
  int64_t* integer = reinterpret_cast<int64_t*>(copies + args.size());
  char* letter = reinterpret_cast<char*>(integer + integers);
  for (size_t i = 0; i < args.size(); ++i) {
    const Arg& a = args[i];
    const bool keep = keep_tensors >> i & 1;
    Arg copy = a;
    switch (a.kind()) {
      case Arg::Kind::Tensor:
        if (keep) tensors_.push_back(a.tensor());
        if (!keep) copy = Arg();
        break;
      case Arg::Kind::TensorList:
        if (keep) lists_.emplace_back(a.tensors().begin(), a.tensors().end());
        copy = keep ? Arg(std::span<const Tensor>(lists_.back())) : Arg();
        break;
      case Arg::Kind::IntList:
        copy = Arg(std::span<const int64_t>(integer, a.ints().size()));
        integer = std::copy(a.ints().begin(), a.ints().end(), integer);
        break;
      case Arg::Kind::String:
        copy = Arg(std::string_view(letter, a.text().size()));
        letter = std::copy(a.text().begin(), a.text().end(), letter);
        break;
      default: break;
    }
    new (copies + i) Arg(copy);
  }
}

}  // namespace terra
