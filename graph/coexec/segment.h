// The calls between two places where somebody asks for bytes: put off, then run together.
#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_set>

#include "engine/tensor/deferral.h"
#include "graph/coexec/graph_runner.h"
#include "graph/coexec/pending.h"
#include "graph/coexec/segment_graphs.h"

namespace terra::coexec {

/// An emitter whose results have everything that tensors have but bytes: the front end gives them dtype, sizes and
/// strides, the tape their history. The bytes are made when somebody asks for some of them (Storage::data), for an
/// input of the calls that is about to be written included, or when the owner says so. Whatever isn't sure is computed
/// at once, which asks for the bytes that it reads.
///
/// Put off are primitives that make new tensors of tensors, of kinds that have run before (no kernel refuses them), and
/// that draw no random numbers. Those that look at values to see whether they can be computed (indices in range) look
/// first.
///
/// What has been put off runs inline, on the thread that asks, or beside the program: then it is handed to the graph
/// runner where inline it would be computed because something is written or the iteration ends, and writes are put off,
/// too. The program waits only for what it asks for.
class Segment final : public Emitter, public Deferral {
 public:
  Segment() = default;
  Segment(const Segment&) = delete;
  ~Segment() override;

  /// Whether calls are put off from now on. What has been put off stays so.
  void open(bool yes) { open_ = yes; }
  /// Nothing is put off, nor waits: calls may go elsewhere.
  bool is_at_rest() const { return !open_ && pending_.empty(); }
  enum class Way : uint8_t {
    Inline,
    Beside,
    Serial,  ///< as Beside, but the program waits for each job: what the overlap is worth, measured against it
  };
  void watch(RunnerWatcher* watcher) { runner_.watch(watcher); }
  void run(Way way) { way_ = way; }
  Way way() const { return way_; }

  /// Computes all that has been put off. After a failure (memory) whoever asks for a result that is missing gets the
  /// error.
  void settle() override;
  /// The tape has all that it needs.
  void before_pass() override {}
  /// What has been put off is an iteration of the program's, which is not to run ahead by more than a few of them.
  void end_iteration();

  struct Counts {
    uint64_t put_off = 0;   ///< primitives
    uint64_t settled = 0;   ///< times that some were computed because somebody asked
    uint64_t by_graph = 0;  ///< batches that a graph computed
    uint64_t inputs = 0;    ///< that graphs took
    uint64_t jobs = 0;      ///< batches and writes that ran beside the program
    double worked_us = 0;   ///< they took
    double waited_us = 0;   ///< the program waited for them
  };
  Counts counts() const;
  uint64_t put_off() const { return counts_.put_off; }

  void emit(const Op& op, std::span<const Arg> args, std::span<const ResultMeta> metas,
            std::vector<Tensor>& results) override;
  void emit_write(const Op& op, std::span<const Arg> args, std::span<const ResultMeta> metas,
                  std::span<const Tensor> targets) override;

 private:
  static constexpr size_t kMostCalls = 4096;
  static constexpr size_t kMostAhead = 2;  ///< iterations

  /// What decides whether a call can be put off: no kernel refuses an op with operands of the same dtypes as before.
  struct Kind {
    uint64_t word;
    bool may_wait;        ///< as far as operands and results go
    bool reads_exported;  ///< bytes that somebody outside may write
  };

  bool has_run(uint64_t kind);
  bool takes(const Op& op);
  bool passes_checks(const Op& op, std::span<const Arg> args, std::span<const ResultMeta> metas) const;
  bool is_ready(const TensorImpl& tensor) const;
  bool put_off_write(const Op& op, std::span<const Arg> args, std::span<const ResultMeta> metas,
                     std::span<const Tensor> targets);
  void compute(const Op& op, std::span<const Arg> args, std::span<const ResultMeta> metas,
               std::vector<Tensor>& results);
  void emit_later(const Op& op, std::span<const Arg> args, std::span<const ResultMeta> metas,
                  std::vector<Tensor>& results);
  void put_off(const Op& op, std::span<const Arg> args, std::span<const ResultMeta> metas,
               std::vector<Tensor>& results);
  void follow_views(const Op& op, std::span<const Arg> args, std::span<const ResultMeta> metas);
  bool find_operands(std::span<const Arg> args);
  PendingValue find(const TensorImpl& tensor);
  PendingValue find_input(const TensorImpl& tensor);
  PendingValue known_input(const TensorImpl& tensor, uint32_t number);
  PendingValue find_result(const TensorImpl& tensor) const;
  void record(const Op& op, std::span<const Arg> args, uint32_t results);
  static Kind kind_of(const Op& op, std::span<const Arg> args, std::span<const ResultMeta> metas, bool write);
  PendingValue add_input(const TensorImpl& tensor, const Job::Source& source);
  void compute_here();
  void hand_over();

  bool open_ = false;
  Way way_ = Way::Inline;
  Pending pending_;
  std::vector<Job::Source> sources_;  ///< by pending input: where its bytes come from
  SegmentGraphs graphs_;
  GraphRunner runner_{graphs_};
  std::deque<std::shared_ptr<Job>> ahead_;       ///< the last jobs of iterations that may not have run yet
  std::unordered_set<uint64_t> has_run_;         ///< kinds of calls: an op with operands of these dtypes
  std::array<uint64_t, 256> known_to_run_ = {};  ///< some of them, by their first 8 bits
  std::vector<PendingValue> operands_;           ///< of the present call
  Counts counts_;
};

}  // namespace terra::coexec
