#include "graph/ir/record.h"

#include <algorithm>
#include <new>

#include "engine/memory/allocator.h"

namespace terra::graph {
namespace {

size_t up_to(size_t bytes, size_t alignment) { return (bytes + alignment - 1) / alignment * alignment; }

}  // namespace

void RecordLayout::add(ValueKind kind, size_t tensor_bytes) {
  const bool is_tensor = kind == ValueKind::Tensor;
  const size_t offset = up_to(std::max(bytes, sizeof(Record)), is_tensor ? memory::kAlignment : alignof(Scalar));
  members.push_back({kind, true, tensor_bytes, offset});
  const size_t of_others = kind == ValueKind::Scalar ? sizeof(Scalar) : sizeof(void*);
  bytes = offset + (is_tensor ? tensor_bytes : of_others);
}

static_assert(sizeof(Handle) == sizeof(void*) && sizeof(Ref<Record>) == sizeof(void*));

Ref<Record> Record::make(std::shared_ptr<const RecordLayout> layout) {
  Record* record = new (memory::allocate(std::max(layout->bytes, sizeof(Record)))) Record(std::move(layout));
  for (size_t i = 0; i < record->size(); ++i) {
    if (!record->member(i).present) continue;
    switch (record->member(i).kind) {
      case ValueKind::Tensor: break;
      case ValueKind::Scalar: new (record->at(i)) Scalar(); break;
      case ValueKind::Handle: new (record->at(i)) Handle(); break;
      case ValueKind::Record: new (record->at(i)) Ref<Record>(); break;
    }
  }
  return Ref<Record>(record);
}

void Record::destroy(Record* record) {
  std::vector<Record*> open = {record};
  while (!open.empty()) {
    Record* const r = open.back();
    open.pop_back();
    for (size_t i = 0; i < r->size(); ++i) {
      if (!r->member(i).present) continue;
      if (r->member(i).kind == ValueKind::Handle) r->handle(i).~Handle();
      if (r->member(i).kind != ValueKind::Record) continue;
      if (Record* inner = r->record(i).release(); inner && inner->drop()) open.push_back(inner);
    }
    const size_t bytes = std::max(r->layout_->bytes, sizeof(Record));
    r->~Record();
    memory::release(r, bytes);
  }
}

}  // namespace terra::graph
