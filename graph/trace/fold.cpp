#include "graph/trace/fold.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

#include "graph/trace/copy.h"
#include "graph/trace/ids.h"
#include "graph/trace/same_form.h"

namespace terra::graph {
namespace {

/// Means that it can't be done.
struct Unfit {};

using Names = std::unordered_map<TraceId, TraceId>;
using State = LoopPlan::State;

/// States beside those of the plan.
constexpr State kStart = ~State{0}, kEnd = kStart - 1;
/// Rounds get a copy of the ways that they didn't go.
constexpr size_t kMostRecords = 20'000;

bool only_computes(const TraceRecord& record) {
  const auto& what = record.what;
  if (const auto* branch = std::get_if<BranchRecord>(&what))
    return std::all_of(std::begin(branch->body->ways), std::end(branch->body->ways),
                       [](const auto& way) { return std::all_of(way.begin(), way.end(), only_computes); });
  return std::holds_alternative<CallRecord>(what) || std::holds_alternative<AssertRecord>(what) ||
         std::holds_alternative<ItemRecord>(what) || std::holds_alternative<SizeRecord>(what) ||
         std::holds_alternative<NumberRecord>(what) || std::holds_alternative<FactRecord>(what) ||
         std::holds_alternative<GradModeRecord>(what) || std::holds_alternative<LoopRecord>(what);
}

class Folder {
 public:
  Folder(const std::vector<TraceRecord>& records, const LoopPlan& plan, std::span<const TraceId> outputs, TraceId& next)
      : records_(records), plan_(plan), outputs_(outputs), next_(next) {}

  std::optional<Folded> run() {
    try {
      read_visits();
      find_exit();
      find_ways();
      if (branching_.empty()) return {};
      find_local();
      write();
      check_scopes();
      return std::move(out_);
    } catch (const Unfit&) {
      return {};
    }
  }

 private:
  /// A truth was asked for; the start or the end of a round.
  struct Visit {
    State state;
    bool truth;
    size_t record;  ///< the assert; else the first record that isn't before it
    const std::vector<TraceId>* held;
  };
  using Way = std::pair<State, bool>;

  static void require(bool holds) {
    if (!holds) throw Unfit();
  }

  // ---- what the rounds did ----

  size_t rounds() const { return plan_.rounds.size(); }
  bool is_last(size_t round) const { return round + 1 == rounds(); }

  void read_visits() {
    require(rounds() >= 2 && plan_.held.size() == rounds() && plan_.end <= records_.size());
    auto place = plan_.places.begin();
    for (size_t k = 0; k < rounds(); ++k) {
      const size_t end = is_last(k) ? plan_.end : plan_.rounds[k + 1];
      begins_.push_back(visits_.size());
      visits_.push_back({kStart, true, plan_.rounds[k], &plan_.held[k]});
      for (size_t i = plan_.rounds[k]; i < end; ++i) {
        const auto* assert = std::get_if<AssertRecord>(&records_[i].what);
        if (!assert) continue;
        while (place != plan_.places.end() && place->record < i) ++place;
        require(place != plan_.places.end() && place->record == i && place->state < kEnd);
        visits_.push_back({place->state, assert->expected, i, &place->held});
      }
      if (!is_last(k)) visits_.push_back({kEnd, true, end, &plan_.held[k + 1]});
    }
  }

  /// What the last round asks for behind the exit is none of the loop's.
  void find_exit() {
    std::set<State> states;
    std::set<Way> ways;
    for (size_t v = 0; v < begins_.back(); ++v) {
      states.insert(visits_[v].state);
      ways.insert({visits_[v].state, visits_[v].truth});
    }
    size_t last = visits_.size() - 1;
    while (last > begins_.back() && !states.count(visits_[last].state)) --last;
    visits_.resize(last + 1);
    by_value_ = last > begins_.back();
    if (!by_value_) return;
    exit_ = visits_[last].state;
    require(!ways.count({exit_, visits_[last].truth}));
  }

  void find_ways() {
    for (size_t k = 0; k < rounds(); ++k) {
      const size_t end = is_last(k) ? visits_.size() : begins_[k + 1];
      std::set<State> met;
      for (size_t v = begins_[k]; v < end; ++v) {
        require(met.insert(visits_[v].state).second);
        if (v + 1 == end) break;
        const Way way{visits_[v].state, visits_[v].truth};
        const auto [known, is_new] = next_state_.try_emplace(way, visits_[v + 1].state);
        require(is_new || known->second == visits_[v + 1].state);
        example_.try_emplace(way, v);
        require(visits_[v].held->size() == visits_[example_.at(way)].held->size());
        if (next_state_.count({way.first, !way.second})) branching_.insert(way.first);
      }
    }
    require(!branching_.count(exit_));
    const std::set<State>& always = passed(kStart, 0);
    require(!by_value_ || always.count(exit_));
  }

  /// The states that every way from that one to the end of the round comes to, itself included.
  const std::set<State>& passed(State state, size_t depth) {
    const auto known = passed_.find(state);
    if (known != passed_.end()) return known->second;
    require(depth <= visits_.size());
    std::set<State> common;
    bool first = true;
    for (bool truth : {false, true}) {
      const auto next = next_state_.find({state, truth});
      if (next == next_state_.end()) continue;
      const std::set<State>& behind = passed(next->second, depth + 1);
      if (std::exchange(first, false))
        common = behind;
      else
        std::erase_if(common, [&](State s) { return !behind.count(s); });
    }
    common.insert(state);
    return passed_[state] = std::move(common);
  }

  /// Where the ways behind a state meet.
  State join_of(State state) {
    State nearest = kEnd;
    size_t most = 0;
    for (State s : passed(state, 0)) {
      if (s == state || passed(s, 0).size() <= most) continue;
      nearest = s;
      most = passed(s, 0).size();
    }
    return nearest;
  }

  /// Numbers that are others in each round.
  void find_local() {
    const size_t end = visits_.back().record;
    for (size_t i = plan_.rounds[0]; i < end; ++i)
      EachId(([&](TraceId& id, bool defines) {
        if (defines) local_.insert(id);
      }))(const_cast<TraceRecord&>(records_[i]));  // the visitor changes nothing
    for (const auto& held : plan_.held) {
      require(held.size() == plan_.held[0].size());
      for (size_t i = 0; i < held.size(); ++i)
        if (held[i] != plan_.held[0][i]) local_.insert(held[i]), local_.insert(plan_.held[0][i]);
    }
  }

  // ---- the rounds with branches ----

  void write() {
    for (size_t i = 0; i < plan_.rounds[0]; ++i) out_.records.push_back(copy_of(records_[i]));
    out_.plan.grown = plan_.grown;
    out_.plan.by_value = by_value_;
    out_.plan.before = plan_.held[0];
    Names names;
    for (size_t k = 0; k < rounds(); ++k) {
      out_.plan.rounds.push_back(out_.records.size());
      if (k == 1)
        for (TraceId id : plan_.held[1]) out_.plan.after.push_back(named(id, names, true));
      if (!is_last(k)) walk(begins_[k], kEnd, names, true, out_.records);
    }
    leave(names);
    for (size_t i = out_.left_at + 1; i < records_.size(); ++i) {
      TraceRecord copy = copy_of(records_[i]);
      if (auto* call = std::get_if<CallRecord>(&copy.what))
        for (TraceArg& arg : call->args)
          for (TraceId& id : arg.list)
            if (arg.grown != kNoValue && !renamed_again_.count(id)) id = named(id, names, true);
      out_.records.push_back(std::move(copy));
    }
    out_.renamed = std::move(names);
  }

  /// The last round, up to the exit.
  void leave(Names& names) {
    size_t from = plan_.rounds.back();
    if (by_value_) {
      from = out_.left_at = visits_[walk(begins_.back(), exit_, names, true, out_.records)].record;
    } else {
      const auto in_first = [&](size_t i) -> const TraceRecord& { return records_[plan_.rounds[0] + i - from]; };
      size_t& at = out_.left_at = from;
      for (; at < plan_.end && !opposite_facts(in_first(at), records_[at]); ++at)
        require(plan_.rounds[0] + at - from < plan_.rounds[1] && same_form(in_first(at), records_[at]));
      require(at < plan_.end);
    }
    for (size_t i = from; i <= out_.left_at; ++i) {
      TraceRecord copy = copy_of(records_[i]);
      rename(copy, names, true);
      out_.records.push_back(std::move(copy));
    }
    out_.exit = out_.records.size() - 1;
  }

  /// What a number of the round that is followed is here. `own`: the round is the one that is being written.
  TraceId named(TraceId id, const Names& names, bool own) const {
    const auto found = names.find(id);
    if (found != names.end()) return found->second;
    require(own || !local_.count(id));
    return id;
  }

  void rename(TraceRecord& record, Names& names, bool own) {
    EachId(([&](TraceId& id, bool defines) {
      if (id == kNoValue) return;
      if (!defines)
        id = named(id, names, own);
      else if (!own)
        id = names[id] = next_++;
    }))(record);
  }

  void copy(size_t i, Names& names, bool own, std::vector<TraceRecord>& out) {
    TraceRecord record = copy_of(records_[i]);
    rename(record, names, own);
    out.push_back(std::move(record));
    require(++copied_ < kMostRecords);
  }

  /// Writes what comes behind the truth of visit `v`, up to a visit in state `end`, which is returned.
  size_t walk(size_t v, State end, Names& names, bool own, std::vector<TraceRecord>& out) {
    for (bool first = true;; first = false) {
      if (!first) copy(visits_[v].record, names, own, out);
      require(v + 1 < visits_.size());
      const size_t from = visits_[v].record + (visits_[v].state != kStart);
      for (size_t i = from; i < visits_[v + 1].record; ++i) copy(i, names, own, out);
      ++v;
      while (visits_[v].state != end && branching_.count(visits_[v].state)) v = branch(v, names, own, out);
      if (visits_[v].state == end) return v;
      require(visits_[v].state != kEnd);
    }
  }

  /// Returns the visit where the ways meet.
  size_t branch(size_t v, Names& names, bool own, std::vector<TraceRecord>& out) {
    const Visit& here = visits_[v];
    const State join = join_of(here.state);
    const size_t other = example_.at({here.state, !here.truth});
    auto body = std::make_shared<BranchBody>();
    Names ours = names, theirs;
    for (size_t i = 0; i < here.held->size(); ++i)
      theirs[(*visits_[other].held)[i]] = named((*here.held)[i], names, own);
    const size_t end = walk(v, join, ours, own, body->ways[here.truth]);
    const size_t other_end = walk(other, join, theirs, false, body->ways[!here.truth]);
    for (const auto& way : body->ways) require(std::all_of(way.begin(), way.end(), only_computes));
    const std::vector<TraceId>&held = *visits_[end].held, &other_held = *visits_[other_end].held;
    require(held.size() == other_held.size());
    TraceRecord record;
    record.file = records_[here.record].file;
    record.line = records_[here.record].line;
    const TraceId truth = named(std::get<AssertRecord>(records_[here.record].what).tensor, names, own);
    for (size_t i = 0; i < held.size(); ++i) {
      BranchBody::Result result;
      result.of[here.truth] = named(held[i], ours, own);
      result.of[!here.truth] = named(other_held[i], theirs, false);
      result.outer = result.of[0];
      if (result.of[0] != result.of[1]) {
        result.outer = next_++;
        body->results.push_back(result);
      }
      if (result.outer == held[i] && !names.count(held[i])) continue;
      if (own && names.count(held[i])) renamed_again_.insert(held[i]);
      names[held[i]] = result.outer;
    }
    record.what = BranchRecord{truth, std::move(body)};
    out.push_back(std::move(record));
    return end;
  }

  // ---- what the ways keep to themselves ----

  void check_scopes() {
    for (size_t i = out_.plan.rounds[0]; i <= out_.exit; ++i) check_scope(out_.records[i]);
    const auto use = [&](TraceId id) { require(!hidden_.count(id) || out_.renamed.count(id)); };
    for (size_t i = out_.exit + 1; i < out_.records.size(); ++i)
      EachId(([&](TraceId& id, bool) { use(id); }))(out_.records[i]);
    for (TraceId id : outputs_) use(id);
  }

  void check_scope(TraceRecord& record) {
    const auto visible = [&](TraceId id) { require(!hidden_.count(id)); };
    const auto* branch = std::get_if<BranchRecord>(&record.what);
    if (!branch) return EachId([&](TraceId& id, bool) { visible(id); })(record);
    visible(branch->truth);
    for (int way : {0, 1}) {
      std::vector<TraceId> inside;
      for (TraceRecord& each : branch->body->ways[way]) {
        check_scope(each);
        EachId(([&](TraceId& id, bool defines) {
          if (defines) inside.push_back(id);
        }))(each);
      }
      for (const auto& result : branch->body->results) visible(result.of[way]);
      hidden_.insert(inside.begin(), inside.end());
    }
  }

  const std::vector<TraceRecord>& records_;
  const LoopPlan& plan_;
  const std::span<const TraceId> outputs_;
  TraceId& next_;
  std::vector<Visit> visits_;   ///< round by round
  std::vector<size_t> begins_;  ///< by round
  bool by_value_ = false;
  State exit_ = kEnd;
  std::map<Way, State> next_state_;
  std::map<Way, size_t> example_;  ///< a visit that went that way
  std::set<State> branching_;
  std::map<State, std::set<State>> passed_;
  std::unordered_set<TraceId> local_, renamed_again_, hidden_;
  size_t copied_ = 0;
  Folded out_;
};

}  // namespace

std::optional<Folded> fold(const std::vector<TraceRecord>& records, const LoopPlan& plan,
                           std::span<const TraceId> outputs, TraceId& next) {
  return Folder(records, plan, outputs, next).run();
}

}  // namespace terra::graph
