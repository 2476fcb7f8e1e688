// The thread that computes beside the program (Terra's GraphRunner, paper section 4.2).
#pragma once
#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "graph/coexec/job.h"

namespace terra::coexec {

/// Is told of what the runner does, by the program's threads.
class RunnerWatcher {
 public:
  using Time = std::chrono::steady_clock::time_point;
  /// The job is done, and what it made is about to be taken.
  virtual void done(const Job& job) = 0;
  virtual void waited(Time from, Time until) = 0;

 protected:
  ~RunnerWatcher() = default;
};

/// Runs jobs in the order in which they come, on a thread of its own that starts with the first one and never holds the
/// host's lock. Everything but that thread's loop is called by the host's threads, under the lock.
///
/// When the process forks there is no job on its way; the child starts a thread of its own. When it ends, the job that
/// runs comes to its end, and no other begins.
class GraphRunner {
 public:
  /// `graphs` is used by the thread as long as a job is on its way.
  explicit GraphRunner(SegmentGraphs& graphs);
  ~GraphRunner();
  GraphRunner(const GraphRunner&) = delete;

  void watch(RunnerWatcher* watcher) { watcher_ = watcher; }
  void hand_over(std::shared_ptr<Job> job);
  /// Waits for the job, and takes what it and those before have made. Throws what one of them failed with, but for
  /// those that failed for another's sake.
  void finish(const std::shared_ptr<Job>& job);
  /// The same because somebody asked for bytes of this one: throws where there are none.
  void fetch(const Job& job);
  void finish_all();
  /// Takes what has been made by now, without waiting.
  void take_done();
  /// No job is on its way.
  bool is_idle() const { return on_their_way_.empty(); }
  /// The job that `work` is, if it is on its way.
  std::shared_ptr<Job> job_of(const Deferral* work) const;
  const std::shared_ptr<Job>& last() const { return on_their_way_.back(); }
  /// An empty batch, with the memory of one that has been taken.
  Pending spare();
  void keep(Pending batch);

  struct Counts {
    uint64_t jobs = 0, by_graph = 0, inputs = 0, fetched = 0;
    double worked_us = 0;  ///< of the jobs
    double waited_us = 0;  ///< that the program's threads spent waiting for them
  };
  const Counts& counts() const { return counts_; }

 private:
  void start();
  void work();
  void sleep_until_done(const Job& job);
  void wait_for(const Job& job);
  void take_first();
  void finish_first();

  SegmentGraphs& graphs_;
  RunnerWatcher* watcher_ = nullptr;
  std::deque<std::shared_ptr<Job>> on_their_way_;  ///< in order; the host's
  Counts counts_;
  std::vector<Pending> spares_;

  std::mutex mutex_;  ///< of what follows
  std::condition_variable come_, done_;
  std::deque<std::shared_ptr<Job>> queue_;
  std::atomic<uint64_t> handed_ = 0;  ///< jobs; the thread looks at it before it sleeps
  bool ending_ = false, running_ = false;
  std::thread thread_;

  friend struct ForkHandlers;
};

}  // namespace terra::coexec
