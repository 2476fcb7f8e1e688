// Pending calls on their way through the graph runner.
#pragma once
#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <vector>

#include "engine/tensor/deferral.h"
#include "graph/coexec/pending.h"
#include "graph/coexec/segment_graphs.h"

namespace terra::coexec {

class GraphRunner;

/// A batch of pending calls that has been handed over. The program's thread makes it, and takes what it has made; in
/// between it belongs to the runner's thread, which sees only what is the job's own: tensors on memory that the job
/// keeps alive, not those of the program.
///
/// While it is on its way, storages that it reads, writes or makes are deferred to it. A later job may read and write
/// them, too: jobs run in order.
class Job final : public Deferral {
 public:
  /// What a storage is to the job, as its ticket: a result by number, or an input by number of its storage.
  static constexpr uint32_t kInput = PendingValue::kInput;

  /// Where the bytes of a storage come from: its own memory as it is (no job), or as a job on its way leaves it, or a
  /// result of such a job.
  struct Source {
    static constexpr uint32_t kInPlace = ~0u;
    std::shared_ptr<Job> job;
    uint32_t result = kInPlace;
  };

  /// `sources`, by input.
  Job(Pending pending, std::span<const Source> sources, GraphRunner& runner);
  /// Storages that it makes, or reads and writes, are deferred to it from now on.
  void defer_storages();
  /// Waits until the job has run, and takes what it and those before it have made.
  void settle() override;
  void before_pass() override {}

  /// On the runner's thread: computes. Doesn't throw.
  void run(SegmentGraphs& graphs);
  bool is_done() const { return done_.load(std::memory_order_acquire); }
  /// When it was made, and when it ran. The job is done.
  struct Times {
    std::chrono::steady_clock::time_point made, began, ended;
  };
  const Times& times() const { return times_; }

  /// The program's storages have their bytes, and are nobody's business any more. The job is done. Where it has failed
  /// whoever asks for a result gets the error. Gives the batch back.
  Pending take();
  bool is_taken() const { return taken_; }
  std::exception_ptr error() const { return error_; }
  /// It failed because an earlier one did, whose results it reads.
  bool is_follower() const { return is_follower_; }
  bool by_graph() const { return by_graph_; }
  /// Until it is taken.
  const Pending& pending() const { return pending_; }

  /// The storage that a ticket says, and where its bytes come from.
  const Ref<Storage>& storage(uint32_t ticket) const;
  Source source(const std::shared_ptr<Job>& self, uint32_t ticket) const;

 private:
  struct Kept {
    Ref<Storage> original, own;  ///< the program's storage; the one that the job's tensors view
    Source source;
    bool written = false;
    bool is_result() const { return source.job && source.result != Source::kInPlace; }
  };

  void lend_inputs(std::span<const Source> sources);
  void compute(SegmentGraphs& graphs);
  void write();

  Pending pending_;
  std::vector<uint32_t> wanted_;  ///< results, in order
  std::vector<Kept> storages_;
  std::vector<Tensor> made_;  ///< by wanted result
  GraphRunner& runner_;
  unsigned control_word_;  ///< of the program's floating point
  std::exception_ptr error_;
  Times times_;
  bool by_graph_ = false, is_follower_ = false, taken_ = false;
  std::atomic<bool> done_ = false;
};

/// A storage on the bytes of another one, which somebody keeps alive.
Ref<Storage> lent(const Storage& original);

}  // namespace terra::coexec
