// Loops whose rounds go different ways at branches on tensors.
//
// Where tensors are known to decide something, the state of the program is read at every truth that a round asks for,
// as it is when a round begins. So the trace says which rounds came to the same state by different ways, and the ways
// become branches of one record (graph/trace/fold.h). What a way reads of the outside when it is first gone is read
// once, before the loop; it has to have been gone once more since, with nothing left to read.
#include "interpreter_hooks/recorder/region/loops.h"
#include "interpreter_hooks/recorder/trace/builder.h"

#include <algorithm>
#include <set>

namespace terra::capture {

namespace {

constexpr size_t most_visits = 1000;
constexpr size_t none = ~size_t{0};
/// Rounds in which what the loop reads is read, and variables get their first value.
constexpr size_t most_unlike = 2;

size_t items_of(const ProgramState& state) {
  size_t items = 0;
  for (const ProgramState::List& list : state.lists) items += list.items;
  return items;
}

}  // namespace

void Loops::asks(bool truth, bool first) {
  if (open_.empty() || !r_.speculation().parts_ways()) return;
  number_locals();
  for (size_t number : open_) {
    Watch& watch = watches_[number];
    watch.visits_known = watch.visits_known && first && watch.visits.size() < most_visits;
    if (!watch.visits_known) continue;
    const ShadowFrame& top = *r_.top();
    const bool last = watch.frame == &top && top.pending.offset == watch.body.decision;
    ProgramState state = ProgramStateReader(r_, watch.began).read_alive(true, last ? watch.body.twin : -1);
    watch.forgets |= state.forgets;
    if (!state.readable) {
      watch.visits_known = false;
      continue;
    }
    const auto [known, is_new] = watch.states.try_emplace(std::move(state.words), watch.states.size());
    watch.visits.push_back({r_.trace().record_count(), marks(), r_.writes_.size(), known->second, truth,
                            std::move(state.values), items_of(state)});
  }
}

/// From this round on to the next one nothing happened that rounds can't do again.
bool Loops::stays(const Watch& watch, size_t k) {
  const Round &now = watch.rounds[k], &next = watch.rounds[k + 1];
  return now.alive.like(next.alive) && now.marks.late == next.marks.late && now.marks.outputs == next.marks.outputs &&
         now.writes == next.writes;
}

/// The truth at which the last round leaves the loop: the last one that is asked for in a state in which rounds from
/// `first` on asked for it. `none`: a number ends the loop.
size_t Loops::exit_of(const Watch& watch, size_t first) {
  const size_t from = watch.rounds[first].record, last = watch.rounds.back().record;
  std::set<graph::LoopPlan::State> states;
  for (const Visit& visit : watch.visits)
    if (visit.record >= from && visit.record < last) states.insert(visit.state);
  size_t exit = none;
  for (size_t v = 0; v < watch.visits.size(); v++) {
    const Visit& visit = watch.visits[v];
    if (visit.record >= last && visit.record < watch.end && states.count(visit.state)) exit = v;
  }
  return exit;
}

/// The first of the rounds at the end that all begin in one state.
size_t Loops::first_of_same(const Watch& watch) {
  size_t first = watch.rounds.size() - 1;
  while (first > 0 && stays(watch, first - 1)) first--;
  return first;
}

namespace {

template <class Visits>
bool goes_different_ways(const Visits& visits) {
  std::set<std::pair<graph::LoopPlan::State, bool>> ways;
  for (const auto& visit : visits) ways.insert({visit.state, visit.truth});
  return std::any_of(ways.begin(), ways.end(), [&](const auto& way) { return ways.count({way.first, !way.second}); });
}

}  // namespace

/// Another call may go ways that these rounds went too seldom, or whose states weren't read.
bool Loops::may_show_more(const Watch& watch) const {
  if (!r_.speculation().parts_ways()) return watch.rounds.front().branches != watch.rounds.back().branches;
  return watch.visits_known && goes_different_ways(watch.visits) && first_of_same(watch) <= most_unlike;
}

/// Every way has been gone at least once without anything new being read.
bool Loops::is_seen_clean(const Watch& watch, size_t first, size_t exit) {
  std::set<std::pair<graph::LoopPlan::State, bool>> all, clean;
  auto visit = watch.visits.begin();
  while (visit != watch.visits.end() && visit->record < watch.rounds[first].record) ++visit;
  const auto end = exit == none ? watch.visits.end() : watch.visits.begin() + static_cast<std::ptrdiff_t>(exit);
  for (size_t k = first; k < watch.rounds.size(); k++) {
    const bool last = k + 1 == watch.rounds.size();
    std::pair<graph::LoopPlan::State, bool> way{none, true};
    Marks before = watch.rounds[k].marks;
    const auto behind = [&](const Marks& now) {
      all.insert(way);
      if (now == before) clean.insert(way);
      before = now;
    };
    for (; visit != watch.visits.end() && (last ? visit <= end : visit->record < watch.rounds[k + 1].record); ++visit) {
      behind(visit->marks);
      way = {visit->state, visit->truth};
      if (visit == end) break;
    }
    if (!last) behind(watch.rounds[k + 1].marks);
  }
  return all == clean;
}

/// Lists grow as much in each round, whichever way it goes, and what a round does before the exit is all in the state.
bool Loops::leaves_alike(const Watch& watch, size_t first, size_t exit) const {
  const auto& rounds = watch.rounds;
  const auto& began = rounds[first].alive.lists;
  for (size_t k = first; k + 1 < rounds.size(); k++) {
    const auto &now = rounds[k].alive.lists, &next = rounds[k + 1].alive.lists;
    for (size_t i = 0; i < began.size(); i++) {
      const size_t each = rounds[first + 1].alive.lists[i].items - began[i].items;
      if (now[i].number != began[i].number || next[i].number != began[i].number) return false;
      if (next[i].items < now[i].items || next[i].items - now[i].items != each) return false;
      if (each && (exit != none || r_.peek(began[i].object)->asked >= watch.began)) return false;
    }
  }
  if (exit == none) return true;
  const Visit& visit = watch.visits[exit];
  const Round& round = rounds[first];
  return visit.writes == round.writes && visit.marks.late == round.marks.late &&
         visit.marks.outputs == round.marks.outputs && visit.listed == items_of(rounds.back().alive);
}

bool Loops::roll_branches(Watch& watch, const std::vector<graph::TraceId>& outputs) {
  auto& rounds = watch.rounds;
  if (!watch.visits_known || watch.visits.empty() || rounds.size() < 2) return false;
  if (r_.speculation().loop_is_unrolled(watch.place) || r_.speculation().loop_is_split(watch.place)) return false;
  if (!goes_different_ways(watch.visits) || (cut_ && watch.forgets)) return false;
  watch.end = std::min(watch.end, r_.trace().record_count());
  const size_t first = first_of_same(watch);
  if (first + 1 == rounds.size()) return false;
  const size_t exit = exit_of(watch, first);
  if (!is_seen_clean(watch, first, exit)) return false;
  if (!leaves_alike(watch, first, exit)) return false;
  graph::LoopPlan plan;
  for (size_t k = first; k < rounds.size(); k++) {
    plan.rounds.push_back(rounds[k].record);
    plan.held.push_back(rounds[k].alive.values);
  }
  const ProgramState &before = rounds[first].alive, &after = rounds[first + 1].alive;
  for (size_t i = 0; i < before.lists.size(); i++)
    plan.grown.push_back({before.lists[i].number, before.lists[i].items, after.lists[i].items});
  for (const Visit& visit : watch.visits)
    if (visit.record >= plan.rounds[0] && visit.record < watch.end)
      plan.places.push_back({visit.record, visit.state, visit.held});
  plan.end = watch.end;
  const graph::Rolled made = r_.trace().roll(plan, outputs);
  if (!made.count) return false;
  by_value_.push_back({watch.place, true});
  replaced(watch, made, rounds[first].branches);
  return true;
}

}  // namespace terra::capture
