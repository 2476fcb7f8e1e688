#include "graph/trace/roll.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "graph/trace/fold.h"
#include "graph/trace/ids.h"
#include "graph/trace/same_form.h"

namespace terra::graph {
namespace {

/// Calls visit(LoopBody&) for every loop, those in the rounds of others and the ways of branches included.
template <class F>
void each_loop(TraceRecord& record, const F& visit) {
  if (auto* loop = std::get_if<LoopRecord>(&record.what)) {
    visit(*loop->body);
    for (TraceRecord& inner : loop->body->records) each_loop(inner, visit);
  }
  if (auto* branch = std::get_if<BranchRecord>(&record.what))
    for (auto& way : branch->body->ways)
      for (TraceRecord& inner : way) each_loop(inner, visit);
}

/// Calls visit(CallRecord&) for every call, those in the rounds of loops and the ways of branches included.
template <class F>
void each_call(TraceRecord& record, const F& visit) {
  if (auto* call = std::get_if<CallRecord>(&record.what)) visit(*call);
  if (auto* loop = std::get_if<LoopRecord>(&record.what))
    for (TraceRecord& inner : loop->body->records) each_call(inner, visit);
  if (auto* branch = std::get_if<BranchRecord>(&record.what))
    for (auto& way : branch->body->ways)
      for (TraceRecord& inner : way) each_call(inner, visit);
}

class Roller {
 public:
  Roller(std::vector<TraceRecord>& records, const LoopPlan& plan, std::span<const TraceId> outputs, TraceId& next)
      : records_(records), plan_(plan), outputs_(outputs), next_(next), held_(plan.before.size()) {
    if (plan.grown.empty()) return;
    for (TraceRecord& record : records_)
      each_loop(record, [&](LoopBody& body) {
        for (const LoopBody::Collected& c : body.collected) items_[c.sequence] = c.items;
      });
  }
  /// Behind the loop some of its numbers have other names.
  void rename(const std::unordered_map<TraceId, TraceId>& renamed) { renamed_ = &renamed; }

  Rolled run() {
    if (plan_.rounds.size() < 2 || plan_.after.size() != held_ || !find_exit() || !ends_as_planned() || !check_uses())
      return {};
    Rolled rolled{plan_.rounds[0], plan_.rounds[last_] + exit_ + 1 - plan_.rounds[0], last_, 0};
    for (size_t i = 0; i < rolled.count; ++i)
      rolled.asserts += std::holds_alternative<AssertRecord>(records_[rolled.first + i].what);
    replace(rolled);
    return rolled;
  }

 private:
  /// A place: a number below `held_` counts what the program holds when a round starts, one above what the round makes.
  using Place = size_t;
  using Round = std::vector<TraceId>;  ///< the numbers at the places

  std::optional<Place> place_of(TraceId id) const {
    const auto found = places_.find(id);
    return found == places_.end() ? std::nullopt : std::optional(found->second);
  }
  /// What a number of the first round is in another.
  TraceId in_round(TraceId id, const Round& round) const {
    const auto place = place_of(id);
    return place && *place < round.size() ? round[*place] : id;
  }
  bool is_carried(Place place) const { return place < held_ && plan_.before[place] != plan_.after[place]; }

  TraceRecord& first(size_t i) { return records_[plan_.rounds[0] + i]; }

  // ---- comparing ----

  bool find_exit() {
    const size_t length = plan_.rounds[1] - plan_.rounds[0];
    rounds_.push_back(plan_.before);
    for (Place i = 0; i < held_; ++i) places_.emplace(plan_.before[i], i);
    for (size_t i = 0; i < length; ++i) {
      if (!same_form(first(i), first(i)) || takes_growing(first(i))) return false;
      EachId(([&](TraceId& id, bool defines) {
        if (!defines || id == kNoValue) return;
        places_.emplace(id, rounds_[0].size());
        rounds_[0].push_back(id);
      }))(first(i));
    }
    // What a round fetches from elsewhere might be held twice after the next one, which then begins in another state.
    // (Numbers that nothing mentions were made in loops inside that have become records.)
    std::unordered_set<TraceId> fetched;
    for (TraceId id : plan_.after)
      if (!place_of(id)) fetched.insert(id);
    if (!fetched.empty() && mentions(fetched)) return false;
    for (size_t k = 1; k < plan_.rounds.size(); ++k) {
      Round round;
      for (TraceId id : plan_.after) round.push_back(in_round(id, rounds_[k - 1]));
      size_t i = 0;
      for (; i < length; ++i) {
        if (plan_.rounds[k] + i >= records_.size()) return false;
        TraceRecord& record = records_[plan_.rounds[k] + i];
        const bool leaves = opposite_facts(first(i), record);
        if ((!leaves && !same_form(first(i), record)) || !same_numbers(first(i), record, round)) return false;
        if (leaves) break;
      }
      rounds_.push_back(std::move(round));
      if (i < length) {
        last_ = k, exit_ = i;
        // A fact that changes between single rounds says nothing about how a loop ends.
        return k > 1 || k + 1 == plan_.rounds.size();
      }
      if (k + 1 < plan_.rounds.size() && plan_.rounds[k + 1] != plan_.rounds[k] + length) return false;
    }
    return false;
  }

  /// Where a tensor's value ends the loop its rounds become a graph of their own, with no tape and no lists; otherwise
  /// what they assert and read has its place in the trace.
  bool ends_as_planned() {
    if (plan_.by_value != std::holds_alternative<AssertRecord>(first(exit_).what)) return false;
    const bool grows = std::any_of(plan_.grown.begin(), plan_.grown.end(),
                                   [](const LoopPlan::Grown& g) { return g.before != g.after; });
    if (plan_.by_value && grows) return false;
    const size_t length = plan_.rounds[1] - plan_.rounds[0];
    for (size_t i = 0; i < length; ++i) {
      const auto& what = first(i).what;
      const bool of_tape = std::holds_alternative<BackwardRecord>(what) ||
                           std::holds_alternative<ReadGradRecord>(what) ||
                           std::holds_alternative<WriteGradRecord>(what);
      const bool of_value = std::holds_alternative<AssertRecord>(what) || std::holds_alternative<ItemRecord>(what);
      if (plan_.by_value ? of_tape : of_value) return false;
    }
    return true;
  }

  /// A list that is longer in each round makes another call of each.
  bool takes_growing(TraceRecord& record) const {
    bool takes = false;
    each_call(record, [&](CallRecord& call) {
      for (const TraceArg& arg : call.args)
        for (const LoopPlan::Grown& grown : plan_.grown)
          takes = takes || (arg.grown == grown.list && grown.before != grown.after);
    });
    return takes;
  }

  bool mentions(const std::unordered_set<TraceId>& ids) {
    bool found = std::any_of(outputs_.begin(), outputs_.end(), [&](TraceId id) { return ids.count(id) > 0; });
    for (TraceRecord& record : records_)
      EachId(([&](TraceId& id, bool) { found = found || ids.count(id) > 0; }))(record);
    return found;
  }

  bool same_numbers(TraceRecord& a, TraceRecord& b, Round& round) const {
    std::vector<std::pair<TraceId, bool>> expected;
    EachId(([&](TraceId& id, bool defines) { expected.emplace_back(id, defines); }))(a);
    size_t at = 0;
    bool same = true;
    EachId(([&](TraceId& id, bool) {
      if (at >= expected.size()) return void(same = false);
      const auto [other, defines] = expected[at++];
      if (defines && other != kNoValue && id != kNoValue)
        round.push_back(id);
      else
        same = same && in_round(other, round) == id;
    }))(b);
    return same && at == expected.size();
  }

  // ---- what is used behind the loop ----

  bool check_uses() {
    std::unordered_set<TraceId> made;
    for (const Round& round : rounds_) made.insert(round.begin() + static_cast<std::ptrdiff_t>(held_), round.end());
    const Round& left = rounds_[last_];
    // What is carried may be older than the loop. Where it was made in the trace nobody but the program can hold it,
    // and at one place only; an input could be met again, and a list may have it among older items.
    const std::unordered_set<TraceId> older = made_before();
    std::unordered_set<TraceId> unclear;
    for (Place i = 0; i < left.size(); ++i) {
      if (i < held_ && !is_carried(i)) continue;
      const bool inside = i >= held_ || made.count(left[i]) || older.count(left[i]);
      if (inside) left_.emplace(left[i], i);
      if (!inside || !made.count(left[i])) unclear.insert(left[i]);
    }
    if (renamed_) {
      const auto now = left_;
      for (const auto& [behind, inside] : *renamed_)
        if (const auto place = now.find(inside); place != now.end()) left_[behind] = place->second;
    }
    const size_t behind = plan_.rounds[last_] + exit_ + 1;
    bool fits = true;
    std::unordered_set<const TraceId*> covered;
    for (size_t i = behind; i < records_.size(); ++i)
      each_call(records_[i], [&](CallRecord& call) {
        fits = fits && covers(call, covered);
        for (const TraceArg& arg : call.args)
          for (const TraceId& id : arg.list)
            fits = fits && (arg.grown == kNoValue || covered.count(&id) || !unclear.count(id));
      });
    const auto use = [&](TraceId id) {
      if (left_.count(id))
        wanted_.insert(id);
      else
        fits = fits && !made.count(id) && !unclear.count(id);
    };
    for (size_t i = behind; i < records_.size(); ++i)
      EachId(([&](TraceId& id, bool defines) {
        if (!defines && !covered.count(&id)) use(id);
      }))(records_[i]);
    for (TraceId id : outputs_) use(id);
    for (const LoopPlan::Later& later : plan_.later)
      for (TraceId id : later.held)
        if (later.record >= behind) use(id);
    return fits;
  }

  std::unordered_set<TraceId> made_before() {
    std::unordered_set<TraceId> ids;
    for (size_t i = 0; i < plan_.rounds[0]; ++i)
      EachId(([&](TraceId& id, bool defines) {
        if (defines) ids.insert(id);
      }))(records_[i]);
    return ids;
  }

  /// The numbers of a list's items that the rounds appended.
  struct Stretch {
    size_t from = 0, each = 0;  ///< the first one, and how many a round appends
  };

  /// Of a list that is longer after the first round. A number counts as many items as it stands for: loops inside were
  /// rolled before. None: a sequence has items of the first round and others.
  std::optional<Stretch> stretch(const TraceArg& arg, const LoopPlan::Grown& grown) const {
    const auto skip = [&](size_t& at, size_t& items, size_t count) {
      while (items < count && at < arg.list.size()) items += items_of(arg.list[at++]);
      return items == count;
    };
    size_t at = 0, items = 0;
    if (!skip(at, items, grown.before)) return {};
    const size_t from = at;
    if (!skip(at, items, grown.after) || arg.list.size() < from + (at - from) * last_) return {};
    return Stretch{from, at - from};
  }

  size_t items_of(TraceId id) const {
    const auto found = items_.find(id);
    return found == items_.end() ? 1 : found->second;
  }

  /// Lists that the loop appended to: their items of all rounds become one sequence.
  bool covers(CallRecord& call, std::unordered_set<const TraceId*>& covered) const {
    for (TraceArg& arg : call.args) {
      for (const LoopPlan::Grown& grown : plan_.grown) {
        if (arg.grown != grown.list || grown.after == grown.before) continue;
        const std::optional<Stretch> made = stretch(arg, grown);
        if (call.results.size() > 1 || !made) return false;
        for (size_t i = 0; i < made->each * last_; ++i) {
          const TraceId& id = arg.list[made->from + i];
          if (in_round(arg.list[made->from + i % made->each], rounds_[i / made->each]) != id) return false;
          covered.insert(&id);
        }
      }
    }
    return true;
  }

  // ---- replacing ----

  TraceId inner(TraceId id) {
    const auto place = place_of(id);
    if (!place || !is_carried(*place)) return id;
    const auto [found, is_new] = parameters_.try_emplace(*place, next_);
    if (is_new) ++next_;
    return found->second;
  }

  void replace(const Rolled& rolled) {
    auto body = std::make_shared<LoopBody>();
    body->exit = exit_;
    const size_t length = plan_.rounds[1] - plan_.rounds[0];
    collect(*body, rolled.first + rolled.count);
    for (size_t i = 0; i < length; ++i) {
      EachId(([&](TraceId& id, bool defines) {
        if (!defines) id = inner(id);
      }))(first(i));
      body->records.push_back(std::move(first(i)));
    }
    for (TraceId id : wanted_) {
      const Place place = left_.at(id);
      body->left.push_back({place < held_ ? inner(plan_.before[place]) : rounds_[0][place], id});
    }
    std::sort(body->left.begin(), body->left.end(), [](const auto& a, const auto& b) { return a.outer < b.outer; });
    // What is carried on may itself be what another carried value was in the round before.
    for (size_t done = 0; done < parameters_.size();) {
      done = parameters_.size();
      const auto now = parameters_;
      for (const auto& [place, parameter] : now) inner(plan_.after[place]);
    }
    for (const auto& [place, parameter] : parameters_)
      body->carried.push_back({plan_.before[place], parameter, inner(plan_.after[place])});
    std::sort(body->carried.begin(), body->carried.end(),
              [](const auto& a, const auto& b) { return a.inner < b.inner; });
    TraceRecord loop;
    loop.file = body->records[0].file;
    loop.line = body->records[0].line;
    loop.what = LoopRecord{std::move(body)};
    const auto from = records_.begin() + static_cast<std::ptrdiff_t>(rolled.first);
    *from = std::move(loop);
    records_.erase(from + 1, from + static_cast<std::ptrdiff_t>(rolled.count));
  }

  void collect(LoopBody& body, size_t behind) {
    for (const LoopPlan::Grown& grown : plan_.grown) {
      TraceId sequence = kNoValue;
      const auto shorten = [&](CallRecord& call) {
        for (TraceArg& arg : call.args) {
          if (grown.after == grown.before || arg.grown != grown.list) continue;
          const Stretch made = *stretch(arg, grown);
          const auto from = arg.list.begin() + static_cast<std::ptrdiff_t>(made.from);
          const auto end = from + static_cast<std::ptrdiff_t>(made.each * last_);
          if (sequence == kNoValue) {
            sequence = next_++;
            LoopBody::Collected& collected = body.collected.emplace_back();
            collected.sequence = sequence;
            for (auto at = from; at != end; ++at) collected.items += items_of(*at);
            for (size_t i = 0; i < made.each; ++i) collected.inner.push_back(inner(arg.list[made.from + i]));
          }
          *from = sequence;
          arg.list.erase(from + 1, end);
        }
      };
      for (size_t i = behind; i < records_.size(); ++i) each_call(records_[i], shorten);
    }
  }

  std::vector<TraceRecord>& records_;
  const LoopPlan& plan_;
  const std::span<const TraceId> outputs_;
  TraceId& next_;
  const size_t held_;
  std::unordered_map<TraceId, size_t> items_;  ///< of sequences: how many items they stand for in this trace
  std::unordered_map<TraceId, Place> places_;  ///< of the numbers of the first round
  std::vector<Round> rounds_;
  size_t last_ = 0, exit_ = 0;               ///< the round in which the loop is left, and the record
  std::unordered_map<TraceId, Place> left_;  ///< numbers that are alive when the loop is left
  std::unordered_set<TraceId> wanted_;       ///< those of them that are used
  std::unordered_map<Place, TraceId> parameters_;
  const std::unordered_map<TraceId, TraceId>* renamed_ = nullptr;
};

Rolled roll_folded(Trace& trace, const LoopPlan& plan, std::span<const TraceId> outputs, TraceId& next) {
  std::optional<Folded> folded = fold(trace.records, plan, outputs, next);
  if (!folded) return {};
  Roller roller(folded->records, folded->plan, outputs, next);
  roller.rename(folded->renamed);
  Rolled rolled = roller.run();
  if (rolled.count == 0 || rolled.first + rolled.count - 1 != folded->exit) return {};
  rolled.count = folded->left_at + 1 - rolled.first;
  rolled.asserts = 0;
  for (size_t i = 0; i < rolled.count; ++i)
    rolled.asserts += std::holds_alternative<AssertRecord>(trace.records[rolled.first + i].what);
  trace.records = std::move(folded->records);
  return rolled;
}

}  // namespace

Rolled roll(Trace& trace, const LoopPlan& plan, std::span<const TraceId> outputs, TraceId& next) {
  if (!plan.places.empty()) return roll_folded(trace, plan, outputs, next);
  return Roller(trace.records, plan, outputs, next).run();
}

}  // namespace terra::graph
