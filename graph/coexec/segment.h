// The calls between two places where somebody asks for bytes: put off, then run together.
#pragma once
#include <cstdint>
#include <memory>
#include <unordered_set>

#include "engine/tensor/deferral.h"
#include "graph/coexec/pending.h"
#include "graph/coexec/segment_graphs.h"

namespace terra::coexec {

/// An emitter whose results have everything that tensors have but bytes: the front end gives them dtype, sizes and
/// strides, the tape their history. The bytes are made when somebody asks for some of them (Storage::data), for an
/// input of the calls that is about to be written included, or when the owner says so. Whatever isn't sure is computed
/// at once, which asks for the bytes that it reads.
///
/// Put off are primitives that make new tensors of tensors, of kinds that have run before (no kernel refuses them),
/// that draw no random numbers and look at no value to see whether they can be computed.
class Segment final : public Emitter, public Deferral {
 public:
  Segment() = default;
  Segment(const Segment&) = delete;
  ~Segment() override;

  /// Whether calls are put off from now on. What has been put off stays so.
  void open(bool yes) { open_ = yes; }
  /// Computes what has been put off. After a failure (memory) whoever asks for a result that is missing gets the error.
  void settle() override;

  struct Counts {
    uint64_t put_off = 0;   ///< primitives
    uint64_t settled = 0;   ///< times that some were computed
    uint64_t by_graph = 0;  ///< of these, by a graph
    uint64_t inputs = 0;    ///< that graphs took
  };
  const Counts& counts() const { return counts_; }

  void emit(const Op& op, std::span<const Arg> args, std::span<const ResultMeta> metas,
            std::vector<Tensor>& results) override;
  void emit_write(const Op& op, std::span<const Arg> args, std::span<const ResultMeta> metas,
                  std::span<const Tensor> targets) override;

 private:
  static constexpr size_t kMostCalls = 4096;

  bool may_put_off(const Op& op, std::span<const Arg> args, std::span<const ResultMeta> metas) const;
  void compute(const Op& op, std::span<const Arg> args, std::span<const ResultMeta> metas,
               std::vector<Tensor>& results);
  void put_off(const Op& op, std::span<const Arg> args, std::span<const ResultMeta> metas,
               const std::vector<PendingValue>& operands, std::vector<Tensor>& results);
  void follow_views(const Op& op, std::span<const Arg> args, std::span<const ResultMeta> metas);
  bool find_operands(std::span<const Arg> args, std::vector<PendingValue>& found);
  PendingValue find(const TensorImpl& tensor);
  PendingValue find_input(const TensorImpl& tensor);
  PendingValue find_result(const TensorImpl& tensor) const;
  void record(const Op& op, std::span<const Arg> args, const std::vector<PendingValue>& operands, uint32_t results);
  static uint64_t kind_of(const Op& op, std::span<const Arg> args, std::span<const ResultMeta> metas);

  bool open_ = false;
  Pending pending_;
  SegmentGraphs graphs_;
  std::unordered_set<uint64_t> has_run_;  ///< kinds of calls: an op with operands of these dtypes
  Counts counts_;
};

}  // namespace terra::coexec
