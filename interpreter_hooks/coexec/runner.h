// Co-execution: the program runs, and where its way is known its ops are put off, to be computed inline or beside it.
#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "graph/coexec/allowance.h"
#include "graph/coexec/iterations.h"
#include "graph/coexec/runner_choice.h"
#include "graph/coexec/segment.h"
#include "graph/coexec/successors.h"
#include "graph/coexec/trace_graph.h"
#include "graph/coexec/walk.h"
#include "interpreter_hooks/bindings/calls/call_watcher.h"
#include "interpreter_hooks/coexec/program_place.h"
#include "interpreter_hooks/coexec/runner_mode.h"

namespace terra::coexec {

/// What --report says of a loop whose iterations were run so.
struct LoopReport {
  std::string file;
  int line = 0;
  uint64_t iterations = 0;  ///< that went ways that are known
  uint64_t beside = 0;      ///< of these, with a graph runner beside the program
  uint64_t in_frames = 0;   ///< others that were timed: nothing was put off, and the frame tier served its frames
  size_t cases = 0;         ///< of the switches of its graph of traces
  bool settled = false;     ///< the last trial has found the fastest way
};

/// Watches the program until an iteration adds nothing to what is known of its loop. From then on each op is looked for
/// among those that came next at that place before: while it is there, ops are put off until somebody asks for bytes,
/// or the iteration ends. An op that isn't there is a divergence: what has been put off is computed, the program goes
/// on op by op, and is watched again. A program that diverges again and again is left alone for longer and longer.
///
/// A program that is left alone, or whose loop is faster so, is the frame tier's for a while: it records and serves
/// frames. Ops inside of a frame that it serves aren't seen here. Where measurements choose, a program begins so, and
/// watching and trying have to keep to what they may cost (`graph/coexec/allowance.h`).
class Runner final : public hooks::CallWatcher, public RunnerWatcher {
 public:
  Runner();

  void before_call(const Op& op, bool in_place, std::span<const Arg> args) override;
  void before_pass() override;
  void done(const Job& job) override;
  void waited(Time from, Time until) override;
  void run(RunnerMode mode);
  /// The program goes on without: everything has been computed.
  void stop();

  uint64_t stubs() const { return stubs_; }
  uint64_t divergences() const { return divergences_; }
  uint64_t iterations() const;
  Segment::Counts counts() const { return segment_.counts(); }
  std::vector<LoopReport> loops() const;
  /// Of a line of the program.
  struct Tally {
    uint64_t times = 0;
    double us = 0;
  };
  using Tallies = std::map<SourceLine, Tally>;
  const Tallies& waits() const { return waits_; }           ///< for bytes, where the graph runner still made them
  const Tallies& diverged() const { return diverged_at_; }  ///< where the program went another way

 private:
  enum class State : uint8_t { Watching, Following, Timing, Resting };  ///< Timing: a loop that the frame tier has

  /// What is called: an op, in place or not, or a pass over the tape.
  using Callee = uint64_t;
  /// A callee and where it is called from.
  struct Step {
    Callee callee;
    uint64_t place;
    friend bool operator==(const Step&, const Step&) = default;
  };
  struct StepHash {
    size_t operator()(const Step& step) const { return step.place ^ step.callee * 0x9e3779b97f4a7c15; }
  };
  struct KnownLoop {
    LoopId id = 0;
    TraceGraph graph;
    struct Next {
      Step step;
      Successor to;
    };
    std::vector<std::optional<std::vector<Next>>> next;  ///< by node, found when first asked for
    uint64_t iterations = 0, beside = 0, in_frames = 0;
    uint64_t ops_outside = 0;  ///< of frames that were served, in the iterations `in_frames`
    RunnerChoice choice;
    std::optional<Time> began;  ///< the iteration that is followed
    double charged = 0;         ///< microseconds of it, to the allowance
  };
  struct Position {
    KnownLoop* loop = nullptr;
    NodeId node = 0;
  };

  void arrive(Callee callee, const char* name);
  void put_off(bool yes);
  void watch(Step step, const char* name);
  void begin_iteration();
  void end_iteration();
  bool goes_on(std::span<const LoopRound> loops);
  bool follow(Step step);
  void next_iteration();
  RunnerChoice::Way way(const KnownLoop& loop) const;
  Segment::Way segment_way(const KnownLoop& loop) const;
  bool is_left_to_frames(const KnownLoop& loop) const;
  bool is_settled(const KnownLoop& loop) const;
  bool is_thrifty() const;
  double elapsed() const;
  bool may_begin() const;
  bool may_go_on_watching();
  bool may_go_on_trying(KnownLoop& loop);
  void iteration_took(KnownLoop& loop, double us);
  void give_up_trial(KnownLoop& loop);
  static void leave(KnownLoop& loop);
  void stop_watching();
  const std::vector<KnownLoop::Next>& successors_of(Position position);
  void diverge();
  void forget_iteration();
  void rest();
  void rest_for(uint64_t ops);
  void lend(bool yes);
  void leave_to_frames();
  bool time();
  void index(KnownLoop& loop);
  Step step_of(Position position) const { return steps_[position.loop->graph.node(position.node).identity]; }

  State state_ = State::Watching;
  RunnerMode mode_ = RunnerMode::Measured;
  Segment segment_;

  // Watching.
  ProgramPlace place_;
  CodeLoops code_loops_;
  LoopStack loop_stack_;
  Iterations iterations_;
  CallPaths paths_;
  Identities identities_;
  std::vector<Step> steps_;  ///< by identity
  LinearTrace trace_;
  std::optional<Walk> branch_;    ///< of an iteration that went a new way from some op on
  std::optional<LoopId> traced_;  ///< the loop whose iteration is being traced
  size_t depth_ = 0;              ///< loops around that iteration
  uint64_t items_ = 0;
  size_t watched_ = 0;                     ///< ops in a row
  std::optional<double> last_watched_at_;  ///< of these, in microseconds since the next
  double began_;                           ///< co-execution, in processor time of the thread
  Allowance allowance_;

  // Following.
  std::unordered_map<LoopId, std::unique_ptr<KnownLoop>> known_;
  std::unordered_map<Step, Position, StepHash> index_;  ///< nodes by what they are
  Position at_;                                         ///< the last op
  uint64_t put_off_ = 0;                                ///< before the present call
  uint64_t followed_ = 0;                               ///< ops
  bool was_call_ = false;                               ///< the one before was of an op

  // Timing and resting.
  bool lent_ = false;               ///< the frame tier works
  std::optional<LoopRound> round_;  ///< of the loop that is timed

  bool diverged_ = false;  ///< at the present op
  uint64_t in_a_row_ = 0;  ///< divergences with few iterations between them
  uint64_t rest_ = 0, next_rest_ = 0, smooth_ = 0;
  uint64_t stubs_ = 0, divergences_ = 0, jobs_ = 0;
  Tallies waits_, diverged_at_;
};

/// Lets the frame tier record and serve frames, or not. Set by it.
using LendToFrameTier = void (*)(bool yes);
inline constinit LendToFrameTier lend_to_frame_tier = nullptr;

/// Co-execution of the calling thread's program begins, or ends.
void run(bool yes, RunnerMode mode);
/// Null: it has never begun in this process.
const Runner* runner();

}  // namespace terra::coexec
