// The short words of the text form, shared by printer and parser.
#pragma once
#include <cctype>
#include <string_view>

#include "kernels/abi/dtype.h"

namespace terra::graph {

inline constexpr std::string_view kShortDTypes[kDTypeCount] = {"bool", "u8",  "i8",   "i16", "i32",  "i64",
                                                               "u16",  "u32", "u64",  "f16", "bf16", "f32",
                                                               "f64",  "c32", "bc32", "c64", "c128"};
constexpr std::string_view short_name(DType t) { return kShortDTypes[static_cast<int>(t)]; }

/// Indexed by Scalar::Kind.
inline constexpr std::string_view kScalarNames[] = {"bool", "int", "uint", "float", "complex"};

/// Indexed by NodeKind; an Op node is written by the name of its op instead.
inline constexpr std::string_view kNodeNames[] = {"op",     "fused", "write_view", "item", "as_tensor", "assert",
                                                  "switch", "while", "call",       "pack", "unpack",    "host_call"};

/// What the name of a called graph may consist of without quotes.
inline bool is_plain_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; }

}  // namespace terra::graph
