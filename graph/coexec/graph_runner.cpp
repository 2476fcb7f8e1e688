#include "graph/coexec/graph_runner.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <new>
#include <optional>
#include <vector>

#include "engine/eager/host_lock.h"
#include "kernels/abi/worker_thread.h"

namespace terra::coexec {
namespace {

/// How long the thread looks for a job, and the program for a result, before they sleep.
constexpr std::chrono::microseconds kSpin{50};
/// Batches whose memory is kept for the next ones.
constexpr size_t kMostSpares = 8;
/// What the end of the process waits for at most.
constexpr std::chrono::seconds kLongestEnd{1};

double microseconds(std::chrono::steady_clock::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

/// Runners of the process. Under the host's lock.
std::vector<GraphRunner*>& runners() {
  static auto& list = *new std::vector<GraphRunner*>;
  return list;
}

}  // namespace

struct ForkHandlers {
  /// Nobody else hands over jobs meanwhile: the one that forks holds the host's lock.
  static void before() {
    for (GraphRunner* runner : runners()) {
      if (!runner->is_idle()) runner->sleep_until_done(*runner->last());
      runner->mutex_.lock();
    }
  }
  static void in_parent() {
    for (GraphRunner* runner : runners()) runner->mutex_.unlock();
  }
  /// The thread stayed behind; whoever waited on the conditions did, too.
  static void in_child() {
    for (GraphRunner* runner : runners()) {
      new (&runner->thread_) std::thread;
      new (&runner->come_) std::condition_variable;
      new (&runner->done_) std::condition_variable;
      runner->running_ = false;
      runner->mutex_.unlock();
    }
  }
  /// What jobs compute with is about to be taken down.
  static void at_end() {
    for (GraphRunner* runner : runners()) {
      std::unique_lock lock(runner->mutex_);
      runner->ending_ = true;
      runner->come_.notify_all();
      runner->done_.wait_for(lock, kLongestEnd, [&] { return !runner->running_; });
    }
  }
  static void install() {
    pthread_atfork(before, in_parent, in_child);
    std::atexit(at_end);
  }
};

GraphRunner::GraphRunner(SegmentGraphs& graphs) : graphs_(graphs) {}

GraphRunner::~GraphRunner() {
  std::erase(runners(), this);
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  come_.notify_all();
  if (thread_.joinable()) thread_.join();
}

// ---- on the program's threads ----

void GraphRunner::start() {
  static const bool once = (ForkHandlers::install(), true);
  static_cast<void>(once);
  if (std::find(runners().begin(), runners().end(), this) == runners().end()) runners().push_back(this);
  const NoSignals none;
  running_ = true;
  thread_ = std::thread([this] { work(); });
}

void GraphRunner::hand_over(std::shared_ptr<Job> job) {
  job->defer_storages();
  on_their_way_.push_back(job);
  counts_.jobs++;
  const std::lock_guard lock(mutex_);
  if (!thread_.joinable()) start();
  queue_.push_back(std::move(job));
  handed_.fetch_add(1, std::memory_order_release);
  come_.notify_one();
}

void GraphRunner::sleep_until_done(const Job& job) {
  std::unique_lock lock(mutex_);
  done_.wait(lock, [&] { return job.is_done(); });
}

void GraphRunner::wait_for(const Job& job) {
  if (job.is_done()) return;
  const auto start = std::chrono::steady_clock::now();
  if (!spin_until(kSpin, [&] { return job.is_done(); })) {
    std::optional<WithoutHostLock> others;
    if (WaitingWithoutHostLock::is_allowed() && WithoutHostLock::is_due(kLongWork)) others.emplace();
    sleep_until_done(job);
  }
  const auto end = std::chrono::steady_clock::now();
  counts_.waited_us += microseconds(end - start);
  if (watcher_) watcher_->waited(start, end);
}

void GraphRunner::take_first() {
  const std::shared_ptr<Job> job = std::move(on_their_way_.front());
  on_their_way_.pop_front();
  counts_.worked_us += microseconds(job->times().ended - job->times().began);
  counts_.by_graph += job->by_graph();
  if (job->by_graph()) counts_.inputs += job->pending().inputs.size();
  if (watcher_) watcher_->done(*job);
  keep(job->take());
  if (job->error() && !job->is_follower()) std::rethrow_exception(job->error());
}

Pending GraphRunner::spare() {
  if (spares_.empty()) return {};
  Pending spare = std::move(spares_.back());
  spares_.pop_back();
  return spare;
}

void GraphRunner::keep(Pending batch) {
  batch.clear();
  if (spares_.size() < kMostSpares) spares_.push_back(std::move(batch));
}

/// While a thread waits another one may take what it waits for.
void GraphRunner::finish_first() {
  const std::shared_ptr<Job> first = on_their_way_.front();
  wait_for(*first);
  if (!first->is_taken()) take_first();
}

void GraphRunner::finish(const std::shared_ptr<Job>& job) {
  while (!job->is_taken()) finish_first();
}

void GraphRunner::fetch(const Job& job) {
  counts_.fetched++;
  const std::shared_ptr<Job> kept = job_of(&job);
  finish(kept);
  if (kept->error()) std::rethrow_exception(kept->error());
}

void GraphRunner::finish_all() {
  while (!on_their_way_.empty()) finish_first();
}

void GraphRunner::take_done() {
  while (!on_their_way_.empty() && on_their_way_.front()->is_done()) take_first();
}

std::shared_ptr<Job> GraphRunner::job_of(const Deferral* work) const {
  if (!work) return nullptr;
  for (auto job = on_their_way_.rbegin(); job != on_their_way_.rend(); ++job)
    if (job->get() == work) return *job;
  return nullptr;
}

// ---- on its own ----

void GraphRunner::work() {
  beside_host = true;
  pthread_setname_np(pthread_self(), "graph-runner");
  uint64_t run = 0;
  for (;;) {
    spin_until(kSpin, [&] { return handed_.load(std::memory_order_acquire) != run; });
    std::shared_ptr<Job> job;
    {
      std::unique_lock lock(mutex_);
      come_.wait(lock, [&] { return ending_ || !queue_.empty(); });
      if (ending_) {
        running_ = false;
        done_.notify_all();
        return;
      }
      job = std::move(queue_.front());
      queue_.pop_front();
    }
    job->run(graphs_);
    run++;
    const std::lock_guard lock(mutex_);
    done_.notify_all();
  }
}

}  // namespace terra::coexec
