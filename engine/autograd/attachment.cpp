#include "engine/autograd/attachment.h"

#include <atomic>
#include <mutex>
#include <unordered_map>

namespace terra::autograd {
namespace {

/// Few nodes have any: they are kept beside the nodes.
struct Attachments {
  std::mutex mutex;
  std::unordered_map<const Node*, std::shared_ptr<void>> by_node;
  std::atomic<size_t> count = 0;
};

Attachments& attachments() {
  static auto& all = *new Attachments;
  return all;
}

}  // namespace

std::shared_ptr<void>& attachment(const Node& node) {
  Attachments& all = attachments();
  const std::lock_guard lock(all.mutex);
  std::shared_ptr<void>& kept = all.by_node[&node];
  all.count = all.by_node.size();
  return kept;
}

void drop_attachment(const Node& node) {
  Attachments& all = attachments();
  if (all.count.load(std::memory_order_relaxed) == 0) return;
  std::shared_ptr<void> kept;  // goes when others may use the table again: it may have nodes of its own
  const std::lock_guard lock(all.mutex);
  const auto found = all.by_node.find(&node);
  if (found == all.by_node.end()) return;
  kept = std::move(found->second);
  all.by_node.erase(found);
  all.count = all.by_node.size();
}

}  // namespace terra::autograd
