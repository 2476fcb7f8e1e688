// The printed form of tensors, as PyTorch prints them.
#pragma once
#include <optional>
#include <string>

#include "engine/tensor/tensor.h"

namespace terra::hooks {

struct PrintOptions {
  int precision = 4;
  double threshold = 1000;  ///< more elements than this are summarised; may be infinite
  int64_t edge_items = 3;
  int64_t line_width = 80;
  std::optional<bool> scientific;
};
extern PrintOptions print_options;

/// "[1.0000, 2.5000]": the elements alone. `indent` is the column where they start.
std::string elements_text(const TensorImpl& tensor, size_t indent);

}  // namespace terra::hooks
