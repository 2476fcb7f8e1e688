// The signature of an op, parsed once from the text in its record.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "engine/ops/arg.h"

namespace terra {

/// What a parameter accepts. Text form in the record beside it.
enum class ParamType : uint8_t {
  Tensor,          ///< Tensor
  TensorOrNumber,  ///< Tensor|Number   (a number takes part in promotion as a wrapped 0-d tensor)
  TensorList,      ///< Tensor[]
  Number,          ///< Number          (bool, int or float)
  Int,             ///< int
  Float,           ///< float
  Bool,            ///< bool
  IntList,         ///< int[] or int[2] (with a length, a single int stands for that many equal ones)
  DType,           ///< dtype
  String,          ///< str
  Generator,       ///< Generator
};

struct Param {
  std::string name;
  ParamType type = ParamType::Tensor;
  bool optional = false;  ///< written with "?": None is accepted
  bool has_default = false;
  bool keyword_only = false;  ///< stands after "*"
  int32_t list_length = 0;    ///< N of int[N]
  bool varargs = false;       ///< written "int[] *size": the rest of the positional ints, or one list
  Arg default_value;          ///< what it points to stands below
  std::vector<int64_t> default_ints;
  std::string default_text;
};

struct Signature {
  std::vector<Param> params;
  /// Names of the results a user sees: empty for one unnamed tensor, else a named tuple. "Tensor[]" sets
  /// result_is_list.
  std::vector<std::string> result_names;
  bool result_is_list = false;

  /// Index of the parameter with that name, or -1.
  int find(std::string_view name) const;
};

/// Grammar:  "(Tensor self, Tensor|Number other, *, Number alpha=1, int[]? dim=None, str reduction='mean')
///            -> Tensor"   |  "-> (Tensor values, Tensor indices)"  |  "-> Tensor[]"
/// Throws InternalError naming the text on a mistake.
Signature parse_signature(std::string_view text);

}  // namespace terra
