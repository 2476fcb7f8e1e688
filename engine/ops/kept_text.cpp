#include "engine/ops/kept_text.h"

#include <mutex>
#include <unordered_set>
#include <utility>

namespace terra {

std::string_view kept_text(std::string text) {
  static std::mutex lock;
  static auto& texts = *new std::unordered_set<std::string>;
  const std::lock_guard hold(lock);
  return *texts.insert(std::move(text)).first;
}

}  // namespace terra
