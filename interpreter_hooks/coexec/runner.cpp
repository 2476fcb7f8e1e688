#include "interpreter_hooks/coexec/runner.h"

#include <algorithm>
#include <utility>

#include "engine/eager/thread_time.h"
#include "engine/ops/program_emitter.h"
#include "graph/coexec/cases.h"
#include "interpreter_hooks/bindings/calls/counters.h"
#include "interpreter_hooks/bindings/calls/observer.h"
#include "interpreter_hooks/bindings/calls/time_line.h"

#include "kernels/abi/exact_mode.h"

namespace terra::coexec {
namespace {

constexpr uint64_t kPass = ~uint64_t{0};
constexpr size_t kLongestTrace = 20'000;  ///< records of an iteration
constexpr size_t kLongestWatch = 50'000;  ///< ops without an iteration that could be followed
constexpr uint64_t kFirstRest = 1'000;    ///< ops after a divergence too many, twice as many the next time
constexpr uint64_t kMostRest = 1'000'000;
constexpr uint64_t kSmoothIterations = 32;  ///< without a divergence, and those before are forgotten
constexpr uint64_t kFreeDivergences = 8;
constexpr uint64_t kLook = 32;  ///< ops from one look at the clock to the next, at rest
constexpr uint64_t kTurn = 3;   ///< iterations each way, where they run by turns

/// Of that many lines something is said.
constexpr size_t kMostLines = 256;

SourceLine tally(Runner::Tallies& tallies, double us) {
  SourceLine at = own_line();
  if (tallies.size() < kMostLines || tallies.contains(at)) {
    Runner::Tally& tally = tallies[at];
    tally.times++;
    tally.us += us;
  }
  return at;
}

uint64_t callee_of(const Op& op, bool in_place) { return static_cast<uint64_t>(op.id) << 1 | in_place; }

double microseconds(std::chrono::steady_clock::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}
Runner::Time now() { return std::chrono::steady_clock::now(); }

Runner* the_runner = nullptr;

}  // namespace

Runner::Runner() : items_(hooks::counters.items), began_(thread_time_us()) { segment_.watch(this); }

void Runner::run(RunnerMode mode) {
  mode_ = mode;
  if (is_thrifty() && state_ == State::Watching) rest_for(kLook);
}

void Runner::before_call(const Op& op, bool in_place, std::span<const Arg> args) {
  arrive(callee_of(op, in_place), op.name.data());
  if (state_ != State::Watching || (!in_place && !op.writes)) return;
  for (size_t i = 0; i < args.size(); i++) {
    if (!(in_place ? i == 0 : (op.writes >> i & 1) != 0)) continue;
    // Parameters, which outlive the iteration; what an iteration makes itself is written all the time.
    each_tensor(args.subspan(i, 1), [this](const TensorImpl& t) {
      if (t.wants_grad && t.storage) iterations_.wrote(reinterpret_cast<uintptr_t>(t.storage.get()));
    });
  }
}

/// Whether ops are put off from now on. Where they aren't the program's calls go where they go without co-execution.
void Runner::put_off(bool yes) {
  segment_.open(yes);
  set_program_emitter(segment_.is_at_rest() ? nullptr : &segment_);
}

void Runner::before_pass() { arrive(kPass, "backward"); }

void Runner::arrive(Callee callee, const char* name) {
  if (state_ == State::Resting) {
    if (rest_-- > 0) return;
    if (!may_begin()) {
      rest_ = kLook;
      return;
    }
    lend(false);
    state_ = State::Watching;
    if (at_.loop && is_left_to_frames(*at_.loop) && is_settled(*at_.loop)) at_.loop->choice.expired();
  }
  if (segment_.put_off() != put_off_) {
    stubs_ += was_call_;
    put_off_ = segment_.put_off();
  }
  was_call_ = callee != kPass;
  if (hooks::op_observer()) [[unlikely]] {  // somebody looks at each result
    segment_.settle();
    return put_off(false);
  }
  if (state_ == State::Timing && !time()) return;
  const Step step{callee, place_word()};
  if (!step.place) return put_off(false);
  if (state_ == State::Following) {
    if (++followed_ % kLook == 0 && !may_go_on_trying(*at_.loop)) return give_up_trial(*at_.loop);
    if (follow(step)) return put_off(state_ == State::Following);
    diverge();
  }
  if (state_ == State::Watching) watch(step, name);
}

// ---- watching ----

void Runner::watch(Step step, const char* name) {
  if (++watched_ > kLongestWatch || !may_go_on_watching()) return rest();
  if (hooks::counters.items != items_) {
    items_ = hooks::counters.items;
    iterations_.fetched();
  }
  const FrameChain chain = place_.read(code_loops_);
  const std::span<const LoopRound> loops = loop_stack_.arrive(chain);
  const bool begins = iterations_.arrive(loops);
  const bool branches = std::exchange(diverged_, false) && goes_on(loops);
  if (begins && !branches) {
    end_iteration();
    if (state_ == State::Following && is_left_to_frames(*at_.loop)) return leave_to_frames();
    if (state_ == State::Following && follow(step)) return put_off(state_ == State::Following);
    state_ = State::Watching;
    begin_iteration();
  }
  if (!traced_) return;
  const IdentityId identity = identities_.number(name, std::to_string(step.callee & 1), paths_.number(chain));
  if (identity == steps_.size()) steps_.push_back(step);
  Record record{identity, {loops.begin() + static_cast<ptrdiff_t>(depth_), loops.end()}, {}};
  if (branch_)
    branch_->advance(record);
  else
    trace_.push_back(std::move(record));
  if (trace_.size() > kLongestTrace) rest();
}

/// Behind a divergence: the iteration that was followed is traced from here on. False: the program has left its loop.
bool Runner::goes_on(std::span<const LoopRound> loops) {
  const auto same =
      std::find_if(loops.begin(), loops.end(), [this](const LoopRound& loop) { return loop.loop == at_.loop->id; });
  if (same == loops.end()) return false;
  depth_ = static_cast<size_t>(same - loops.begin()) + 1;
  traced_ = at_.loop->id;
  branch_.emplace(at_.loop->graph, Walk::Grow{}, at_.node, loops.subspan(depth_));
  return true;
}

void Runner::begin_iteration() {
  traced_ = iterations_.loop();
  depth_ = iterations_.depth();
  trace_.clear();
}

/// What is known of the loop grows by the trace. When it doesn't, or has grown by a branch, the next iteration can be
/// followed.
void Runner::end_iteration() {
  if (!traced_ || (trace_.empty() && !branch_)) return;
  std::unique_ptr<KnownLoop>& loop = known_[*traced_];
  if (!loop) loop = std::make_unique<KnownLoop>();
  loop->id = *traced_;
  const bool settled = branch_ ? branch_->finish() : !loop->graph.merge(trace_);
  forget_iteration();
  if (!settled) return;
  index(*loop);
  state_ = State::Following;
  at_ = {loop.get(), loop->graph.region(TraceGraph::kIteration).entry};
  stop_watching();
}

void Runner::forget_iteration() {
  diverged_ = false;
  traced_.reset();
  branch_.reset();
  trace_.clear();
}

void Runner::index(KnownLoop& loop) {
  loop.next.assign(loop.graph.size(), std::nullopt);
  for (NodeId id = 0; id < loop.graph.size(); id++)
    if (loop.graph.node(id).kind == Node::Kind::Op) index_.try_emplace(step_of({&loop, id}), Position{&loop, id});
}

void Runner::rest() {
  put_off(false);
  forget_iteration();
  stop_watching();
  next_rest_ = std::clamp(2 * next_rest_, kFirstRest, kMostRest);
  rest_for(next_rest_);
}

void Runner::rest_for(uint64_t ops) {
  rest_ = ops;
  state_ = State::Resting;
  lend(true);
}

// ---- following ----

const std::vector<Runner::KnownLoop::Next>& Runner::successors_of(Position position) {
  auto& next = position.loop->next;
  if (position.node >= next.size()) next.resize(position.loop->graph.size());
  auto& known = next[position.node];
  if (!known) {
    known.emplace();
    for (const Successor& to : successors(position.loop->graph, position.node))
      known->push_back({step_of({position.loop, to.op}), to});
  }
  return *known;
}

/// False: nothing like it is known.
bool Runner::follow(Step step) {
  for (const KnownLoop::Next& next : successors_of(at_)) {
    if (next.step != step) continue;
    const NodeId node = next.to.op;
    if (next.to.next_iteration) next_iteration();
    at_.node = node;
    return true;
  }
  // Another way that two known ones cross over to, or another loop.
  const auto elsewhere = index_.find(step);
  if (elsewhere == index_.end()) return false;
  if (elsewhere->second.loop != at_.loop) {
    segment_.settle();
    leave(*at_.loop);
  }
  at_ = elsewhere->second;
  return true;
}

void Runner::next_iteration() {
  KnownLoop& loop = *at_.loop;
  segment_.end_iteration();
  loop.iterations++;
  if (segment_.way() != Segment::Way::Inline) loop.beside++;
  if (++smooth_ == kSmoothIterations) next_rest_ = in_a_row_ = 0;
  const Time ends = now();
  if (loop.began) iteration_took(loop, microseconds(ends - *loop.began));
  loop.began = ends;
  if (is_left_to_frames(loop)) return leave_to_frames();
  if (!may_go_on_trying(loop)) return give_up_trial(loop);
  const Segment::Way way = segment_way(loop);
  if (way == segment_.way()) return;
  segment_.settle();
  segment_.run(way);
}

RunnerChoice::Way Runner::way(const KnownLoop& loop) const {
  using Way = RunnerChoice::Way;
  switch (mode_) {
    case RunnerMode::Inline: return Way::Inline;
    case RunnerMode::Serial:
    case RunnerMode::Beside: return Way::Beside;
    case RunnerMode::Turns: {
      constexpr Way turns[] = {Way::Inline, Way::Beside, Way::Frames};
      return turns[(loop.iterations + loop.in_frames) / kTurn % std::size(turns)];
    }
    case RunnerMode::Measured: break;
  }
  return exact_mode() ? Way::Beside : loop.choice.way();
}

Segment::Way Runner::segment_way(const KnownLoop& loop) const {
  if (mode_ == RunnerMode::Serial) return Segment::Way::Serial;
  return way(loop) == RunnerChoice::Way::Beside ? Segment::Way::Beside : Segment::Way::Inline;
}

bool Runner::is_left_to_frames(const KnownLoop& loop) const { return way(loop) == RunnerChoice::Way::Frames; }

/// The outcome of a trial holds for a while. Turns never end.
bool Runner::is_settled(const KnownLoop& loop) const {
  return mode_ == RunnerMode::Measured && loop.choice.is_settled();
}

// ---- what finding out costs ----

/// Measurements choose, so that a program is not to be slower for being co-executed.
bool Runner::is_thrifty() const { return mode_ == RunnerMode::Measured && !exact_mode() && lend_to_frame_tier; }

double Runner::elapsed() const { return thread_time_us() - began_; }

/// Whether watching, or what is left of a trial, may begin.
bool Runner::may_begin() const { return !is_thrifty() || allowance_.affords(elapsed()); }

/// In the middle of an iteration, which no longer counts.
void Runner::leave(KnownLoop& loop) {
  loop.began.reset();
  loop.charged = 0;
}

void Runner::stop_watching() {
  watched_ = 0;
  last_watched_at_.reset();
}

/// At an op that is watched.
bool Runner::may_go_on_watching() {
  if (!is_thrifty()) return true;
  const double at = elapsed();
  if (last_watched_at_) allowance_.spend(Allowance::presumed * (at - *last_watched_at_));
  last_watched_at_ = at;
  if (!allowance_.is_used_up(at)) return true;
  allowance_.failed();
  return false;
}

/// At an op that is followed. A trial of a loop that has no faster way than the frame tier's keeps to the allowance.
/// What the frame tier would have taken is known when the iteration ends.
bool Runner::may_go_on_trying(KnownLoop& loop) {
  if (!is_thrifty() || loop.choice.is_settled() || loop.choice.last_outcome() != RunnerChoice::Way::Frames) return true;
  if (loop.began) {
    const double charge = Allowance::presumed * microseconds(now() - *loop.began) - loop.charged;
    allowance_.spend(charge);
    loop.charged += charge;
  }
  return !allowance_.is_used_up(elapsed());
}

/// Of an iteration that was followed.
void Runner::iteration_took(KnownLoop& loop, double us) {
  if (!loop.choice.is_settled()) allowance_.spend(us - loop.choice.frames_us() - std::exchange(loop.charged, 0));
  loop.choice.ended(us);
}

/// What is left of it comes when there is something to spend again.
void Runner::give_up_trial(KnownLoop& loop) {
  allowance_.failed();
  loop.choice.interrupted();
  leave(loop);
  segment_.settle();
  put_off(false);
  rest_for(kLook);
}

void Runner::diverge() {
  divergences_++;
  tally(diverged_at_, 0);
  smooth_ = 0;
  leave(*at_.loop);
  segment_.settle();
  put_off(false);
  stop_watching();
  state_ = State::Watching;
  diverged_ = true;
  if (++in_a_row_ > kFreeDivergences) rest();
}

// ---- what the frame tier has ----

void Runner::lend(bool yes) {
  const bool may = mode_ == RunnerMode::Turns || (mode_ == RunnerMode::Measured && !exact_mode());
  if (yes == lent_ || (yes && !may) || !lend_to_frame_tier) return;
  lent_ = yes;
  lend_to_frame_tier(yes);
}

/// During a trial its iterations are timed. Until the next one nobody looks at them.
void Runner::leave_to_frames() {
  KnownLoop& loop = *at_.loop;
  segment_.settle();
  put_off(false);
  if (is_settled(loop)) {
    const double ops =
        static_cast<double>(loop.ops_outside) / static_cast<double>(std::max<uint64_t>(loop.in_frames, 1));
    return rest_for(static_cast<uint64_t>(std::max(ops, 1.0) * static_cast<double>(loop.choice.holds())));
  }
  loop.began.reset();
  round_.reset();
  state_ = State::Timing;
  lend(true);
}

/// At an op outside of frames that are served: iterations have ended where the loop is in another round than it was.
/// True: the loop is no longer the frame tier's.
bool Runner::time() {
  const FrameChain chain = place_.read(code_loops_);
  if (chain.empty()) return false;
  const std::span<const LoopRound> loops = loop_stack_.arrive(chain);
  KnownLoop& loop = *at_.loop;
  const auto here =
      std::find_if(loops.begin(), loops.end(), [&loop](const LoopRound& at) { return at.loop == loop.id; });
  if (here == loops.end() || (round_ && !round_->same_run(*here))) {  // the program has left it
    loop.choice.interrupted();
    leave(loop);
    if (!may_begin()) return rest_for(kLook), false;
    lend(false);
    state_ = State::Watching;
    return true;
  }
  loop.ops_outside++;
  const uint32_t rounds = round_ ? here->round - round_->round : 0;
  round_ = *here;
  if (loop.began && rounds == 0) return false;
  const Time ends = now();
  if (loop.began) {
    const double us = microseconds(ends - *loop.began);
    for (uint32_t i = 0; i < rounds; i++) loop.choice.ended(us / rounds);
  }
  loop.began = ends;
  loop.in_frames += rounds;
  if (is_left_to_frames(loop)) {
    if (is_settled(loop)) leave_to_frames();
    return false;
  }
  lend(false);
  loop.began = ends;
  state_ = State::Following;
  return true;
}

// ---- what the graph runner does ----

void Runner::done(const Job& job) {
  if (!capture::time_line_is_on()) return;
  using capture::Activity;
  const Pending& pending = job.pending();
  const std::string name =
      pending.targets.empty() ? std::to_string(pending.computing) + " ops" : std::string(pending.calls[0].op->name);
  const Job::Times& times = job.times();
  capture::add_to_time_line(
      {Activity::HandedOver, name, "", 0, times.made, times.made + std::chrono::microseconds(1), ++jobs_});
  capture::add_to_time_line({Activity::Job, name, "", 0, times.began, times.ended, jobs_});
}

void Runner::waited(Time from, Time until) {
  const SourceLine at = tally(waits_, std::chrono::duration<double, std::micro>(until - from).count());
  capture::add_to_time_line({capture::Activity::Waited, "wait", at.file, at.line, from, until});
}

void Runner::stop() {
  lend(false);
  segment_.settle();
  put_off(false);
  forget_iteration();
  state_ = State::Watching;
}

// ---- reports ----

uint64_t Runner::iterations() const {
  uint64_t sum = 0;
  for (const auto& [id, loop] : known_) sum += loop->iterations;
  return sum;
}

std::vector<LoopReport> Runner::loops() const {
  std::vector<LoopReport> reports;
  for (const auto& [id, loop] : known_) {
    if (loop->iterations + loop->in_frames == 0) continue;
    const SourceLine place = code_loops_.place_of(id);
    LoopReport& report = reports.emplace_back(
        LoopReport{place.file, place.line, loop->iterations, loop->beside, loop->in_frames, 0, false});
    for (const SwitchCase& at : assign_cases(loop->graph, TraceGraph::kIteration)) report.cases += at.cases.size();
    report.settled = loop->choice.is_settled();
  }
  return reports;
}

void run(bool yes, RunnerMode mode) {
  if (yes && !the_runner) the_runner = new Runner;  // for good: tensors may refer to it until the process ends
  if (!the_runner) return;
  if (!yes) the_runner->stop();
  the_runner->run(mode);
  hooks::call_watcher = yes ? the_runner : nullptr;
}

const Runner* runner() { return the_runner; }

}  // namespace terra::coexec
