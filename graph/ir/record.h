// What a run keeps of values, the operands of a `pack` node, for a run that comes later.
#pragma once
#include <memory>
#include <vector>

#include "engine/memory/intrusive.h"
#include "graph/ir/handle.h"
#include "graph/ir/value.h"

namespace terra::graph {

/// How the members of records lie: one layout for all that a node packs.
struct RecordLayout {
  struct Member {
    ValueKind kind = ValueKind::Tensor;
    bool present = true;
    size_t bytes = 0;   ///< of a tensor
    size_t offset = 0;  ///< in the record
  };
  std::vector<Member> members;
  size_t bytes = 0;

  void add(ValueKind kind, size_t tensor_bytes);
  void add_absent() { members.push_back({ValueKind::Tensor, false, 0, 0}); }
};

/// Written once. Records hold records, as deep as calls go: they are destroyed one after the other.
class Record final : public Counted {
 public:
  static Ref<Record> make(std::shared_ptr<const RecordLayout> layout);
  static void destroy(Record* record);

  size_t size() const { return layout_->members.size(); }
  const RecordLayout::Member& member(size_t i) const { return layout_->members[i]; }

  void* tensor(size_t i) { return at(i); }
  Scalar& scalar(size_t i) { return *static_cast<Scalar*>(at(i)); }
  Handle& handle(size_t i) { return *static_cast<Handle*>(at(i)); }
  Ref<Record>& record(size_t i) { return *static_cast<Ref<Record>*>(at(i)); }

 private:
  explicit Record(std::shared_ptr<const RecordLayout> layout) : layout_(std::move(layout)) {}
  ~Record() = default;
  void* at(size_t i) { return reinterpret_cast<char*>(this) + layout_->members[i].offset; }

  const std::shared_ptr<const RecordLayout> layout_;
};

}  // namespace terra::graph
