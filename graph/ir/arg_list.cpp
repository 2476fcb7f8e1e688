#include "graph/ir/arg_list.h"

namespace terra::graph {

Arg ArgList::attribute(const NodeArg& a) {
  switch (a.index()) {
    case 1: return Arg(std::get<Scalar>(a));
    case 2: return Arg(std::span<const int64_t>(std::get<IntList>(a)));
    case 3: return Arg(std::get<DType>(a));
    case 4: return Arg(std::string_view(std::get<std::string>(a)));
    case 5: return Arg(std::get<Generator*>(a));
    default: return Arg();
  }
}

}  // namespace terra::graph
