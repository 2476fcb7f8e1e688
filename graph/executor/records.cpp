// Steps that keep values together, in the host's memory, and give them back.
#include "engine/errors/errors.h"
#include "graph/executor/blocks.h"
#include "graph/ir/record.h"

namespace terra::graph {
namespace {

struct PackBlock final : Block {
  std::vector<ValueId> operands;  ///< kNoId: absent
  std::vector<Located> tensors;   ///< by operand; unused for other kinds
  std::shared_ptr<const RecordLayout> layout;
  ValueId result = kNoId;
};

bool run_pack(Block& block, Activation& activation) {
  auto& b = static_cast<PackBlock&>(block);
  if (b.operands.empty()) {
    activation.set_record(b.result, {});
    return true;
  }
  Ref<Record> record = Record::make(b.layout);
  for (size_t i = 0; i < b.operands.size(); ++i) {
    const RecordLayout::Member& member = b.layout->members[i];
    if (!member.present) continue;
    switch (member.kind) {
      case ValueKind::Tensor: activation.backend().copy_out(record->tensor(i), b.tensors[i].data, member.bytes); break;
      case ValueKind::Scalar: record->scalar(i) = activation.scalar(b.operands[i]); break;
      case ValueKind::Handle: record->handle(i) = activation.handle(b.operands[i]); break;
      case ValueKind::Record: record->record(i) = activation.record(b.operands[i]); break;
    }
  }
  activation.set_record(b.result, std::move(record));
  return true;
}

struct UnpackBlock final : Block {
  ValueId record = kNoId;
  std::vector<ValueId> results;
  std::vector<ValueMeta> metas;  ///< by result
  std::vector<Located> tensors;  ///< by result; unused for other kinds
};

bool run_unpack(Block& block, Activation& activation) {
  auto& b = static_cast<UnpackBlock&>(block);
  Record* const record = activation.record(b.record).get();
  if (record && record->size() != b.results.size())
    throw InternalError("a record is unpacked that has another number of members");
  for (size_t i = 0; i < b.results.size(); ++i) {
    const bool present = record && record->member(i).present;
    const ValueMeta& meta = b.metas[i];
    const ValueId id = b.results[i];
    if (present && (record->member(i).kind != meta.kind || record->member(i).bytes != meta.bytes()))
      throw InternalError("a record is unpacked as something else than what was packed");
    switch (meta.kind) {
      case ValueKind::Tensor:
        if (present)
          activation.backend().copy_in(b.tensors[i].data, record->tensor(i), meta.bytes());
        else
          activation.backend().clear(b.tensors[i].data, meta.bytes());
        break;
      case ValueKind::Scalar: activation.set_scalar(id, present ? record->scalar(i) : Scalar()); break;
      case ValueKind::Handle: activation.set_handle(id, present ? record->handle(i) : Handle()); break;
      case ValueKind::Record: activation.set_record(id, present ? record->record(i) : Ref<Record>()); break;
    }
  }
  return true;
}

}  // namespace

MadeBlock make_pack_block(Instance& instance, const Step& step) {
  auto b = std::make_unique<PackBlock>();
  auto layout = std::make_shared<RecordLayout>();
  const Node& node = *step.node;
  b->result = node.results[0];
  b->tensors.resize(node.args.size());
  for (size_t i = 0; i < node.args.size(); ++i) {
    const ValueId id = b->operands.emplace_back(operand(node, i));
    if (id == kNoId) {
      layout->add_absent();
      continue;
    }
    const ValueMeta& meta = instance.plan().graph.meta(id);
    layout->add(meta.kind, meta.bytes());
    if (meta.is_tensor()) b->tensors[i].locate(instance, step.operands[i]);
  }
  b->layout = std::move(layout);
  return {std::move(b), run_pack};
}

MadeBlock make_unpack_block(Instance& instance, const Step& step) {
  auto b = std::make_unique<UnpackBlock>();
  b->record = operand(*step.node, 0);
  b->results = step.node->results;
  b->tensors.resize(b->results.size());
  for (size_t i = 0; i < b->results.size(); ++i) {
    b->metas.push_back(instance.plan().graph.meta(b->results[i]));
    if (b->metas[i].is_tensor()) b->tensors[i].locate(instance, b->results[i]);
  }
  return {std::move(b), run_unpack};
}

}  // namespace terra::graph
