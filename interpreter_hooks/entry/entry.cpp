#include "interpreter_hooks/entry/entry.h"

#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/guards/tensors.h"

#include <algorithm>

namespace terra::capture {

namespace {

/// Two branches that are known to decide the same condition went the same way.
bool went_alike(const Entry& a, const Branch& x, const Entry& b, const Branch& y) {
  if (x.late != y.late) return false;
  if (x.loop && y.loop) return true;
  if (!x.late) return x.expected == y.expected;
  const Word *p = a.late.at(static_cast<int>(x.at)), *q = b.late.at(static_cast<int>(y.at));
  if (head(p).kind != head(q).kind) return false;
  const Op op = static_cast<Op>(head(p).kind);
  const bool values = op == Op::Equal || op == Op::Pinned;
  return values ? same_value(object_word(p[1]), object_word(q[1])) : p[1] == q[1];
}

}  // namespace

int Entry::branch_of_assert(uint32_t number) const {
  const auto found = std::find_if(branches.begin(), branches.end(),
                                  [&](const Branch& b) { return !b.late && !b.loop && b.at == number; });
  return found == branches.end() ? -1 : static_cast<int>(found - branches.begin());
}

std::vector<bool> Entry::read_later() const {
  std::vector<bool> read(file.size(), false);
  const auto note = [&](Register r) {
    if (r >= 0 && r != no_register) read[static_cast<size_t>(r)] = true;
  };
  for (Register r : scalars) note(r);
  effects.each_use(note);
  late.each([&](const Word* at) { each_operand(at, note); });
  return read;
}

int Entry::branch_of_late_guard(int offset) const {
  const auto found = std::find_if(branches.begin(), branches.end(), [&](const Branch& branch) {
    return branch.late && branch.at == static_cast<uint32_t>(offset);
  });
  return found == branches.end() ? -1 : static_cast<int>(found - branches.begin());
}

bool Entry::can_meet() const {
  const bool late =
      late_decides || std::any_of(branches.begin(), branches.end(), [](const Branch& b) { return b.late; });
  const bool asks = cut && std::any_of(places.begin(), places.end(), [](const Place& p) { return p.forgets; });
  return merges && !late && !asks && places.size() > 1;
}

bool may_follow(const Entry& entry, const Entry& failed, size_t branch) {
  const bool all_asserts_held = failed.branches[branch].late;
  for (size_t i = 0; i <= branch && i < entry.branches.size(); i++) {
    const Branch& there = failed.branches[i];
    if (entry.branches[i].loop != there.loop) return true;  // rounds one by one here, and a loop there
    const bool alike = went_alike(entry, entry.branches[i], failed, there);
    if (i == branch) return !alike;
    const bool seen = !there.late || all_asserts_held;  // late guards run after all asserts, in order
    if (!alike) return !seen;
  }
  return true;
}

bool relies_on(const Entry& entry, const Speculation& speculation) {
  bool found = false;
  entry.entry.each([&](const Word* at) {
    if (static_cast<Op>(head(at).kind) == Op::Tensor) {
      const TensorFacts& facts = *pointer<TensorFacts>(at[1]);
      found = found || facts.is_outdated(speculation.free_sizes(facts.path, facts.sizes.size()));
    }
    if (static_cast<Op>(head(at).kind) != Op::Equal || !is_number(object_word(at[1])) || head(at).a < 0) return;
    found = found || speculation.relaxed(entry.file.name(head(at).a));
  });
  return found;
}

}  // namespace terra::capture
