#include "interpreter_hooks/guards/guard_memo.h"

#include "interpreter_hooks/guards/functions.h"
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/guards/tensors.h"

#include "interpreter_hooks/bindings/tensor/tensor_object.h"

#include <algorithm>

namespace terra::capture {

namespace {

Word is_word(Register a) { return word_of(Head{code(Op::Is), 2, no_register, a, no_register}); }

/// Whether a read found something that other instructions look into, and that may well be the same next time.
bool is_holder(PyObject* object) { return !is_tensor(object) && !is_number(object); }

}  // namespace

/// One pass over a program that has just held.
class Noting final : public GuardDependencies {
 public:
  Noting(GuardMemo& guard_memo, Program& program, Run& run, const std::vector<bool>& needed)
      : GuardDependencies(run, needed.size()),
        guard_memo_(guard_memo),
        program_(program),
        needed_(needed),
        stage_of_register_(needed.size(), 0) {}

  void all(const std::vector<Register>& inputs) {
    guard_memo_.tensors_.clear();
    guard_memo_.steps_.clear();
    guard_memo_.made_.clear();
    for (int offset = 0; offset != program_.end(); offset += head(program_.at(offset)).words) one(offset);
    lay_out();
    lend(inputs);
    guard_memo_.found_.clear();
    for (size_t r = 0; r < needed_.size(); r++) {
      const auto reg = static_cast<Register>(r);
      if (needed_[r] && dependence(reg) != Dependence::Varies) guard_memo_.found_.emplace_back(reg, object(reg));
    }
  }

 private:
  static constexpr uint32_t nowhere = UINT32_MAX;
  inline static uint64_t last_token_ = 0;
  struct Noted {
    GuardMemo::Watched word;
    uint32_t stage;
  };

  void one(int offset) {
    const Word* at = program_.at(offset);
    const size_t words = words_.size();
    restless_ = false;
    stage_ = after_ = 0;
    each_operand(at, [&](Register r) { stage_ = std::max(stage_, stage_of(r)); });
    after_ = stage_;
    const Dependence found = rests_on(at, *this);
    if (found != Dependence::Varies && !restless_) {
      // What an instruction says of a register holds when its words are known: nobody looks further before.
      each_operand(at, [&](Register r) { reach(r, after_); });
      reach(head(at).dst, after_);
      return stands(head(at).dst, found);
    }
    for (; words_.size() > words; words_.pop_back()) known_.erase(words_.back().word.at);
    if (fused(at)) return;
    add_step(offset, at, kinds[head(at).kind].holds, program_.word(offset));
    const Register dst = head(at).dst;
    if (dst == no_register || !is_borrowed_read(at) || !is_holder(object(dst)) ||
        changed(guard_memo_.changed_reads_, offset))
      return;
    GuardMemo::Made& made = guard_memo_.made_.emplace_back(GuardMemo::Made{{is_word(dst), word_of(object(dst))}});
    add_step(offset, made.words, kinds[code(Op::Is)].holds, made.words, true);
    stands(dst, Dependence::Found);
  }

  /// The guard on a tensor that an argument is, joined with the read of the argument.
  bool fused(const Word* at) {
    if (static_cast<Op>(head(at).kind) != Op::Tensor) return false;
    const auto read =
        std::find_if(guard_memo_.steps_.begin(), guard_memo_.steps_.end(), [&](const GuardMemo::Step& step) {
          return step.holds == kinds[code(Op::Argument)].holds && head(step.at).dst == head(at).a;
        });
    if (read == guard_memo_.steps_.end()) return false;
    guard_memo_.tensors_.push_back({static_cast<uint32_t>(read->at[1]), head(at).a, pointer<PyTypeObject>(at[2]),
                                    pointer<TensorFacts>(at[1]), 0, nowhere});
    stage_of_step_.erase(stage_of_step_.begin() + (read - guard_memo_.steps_.begin()));
    guard_memo_.steps_.erase(read);
    return true;
  }

  void add_step(int origin, const Word* reads, bool (*holds)(Word*, Run&), Word* at, bool expects = false) {
    each_operand(reads, [&](Register r) {
      if (r >= 0) needed_[static_cast<size_t>(r)] = true;
      last_step_ = std::max(last_step_, stage_of(r));
    });
    guard_memo_.steps_.push_back({origin, expects, holds, at});
    stage_of_step_.push_back(last_step_);
    reach(head(reads).dst, last_step_);
  }

  uint32_t stage_of(Register r) const { return r < 0 ? 0 : stage_of_register_[static_cast<size_t>(r)]; }
  void reach(Register r, uint32_t stage) {
    if (r < 0 || r == no_register) return;
    uint32_t& known = stage_of_register_[static_cast<size_t>(r)];
    known = std::max(known, stage);
  }

  /// Sorts words into stages.
  void lay_out() {
    std::stable_sort(words_.begin(), words_.end(), [](const Noted& a, const Noted& b) { return a.stage < b.stage; });
    guard_memo_.words_.clear();
    guard_memo_.stages_.clear();
    const uint32_t last = std::max(last_step_, words_.empty() ? 0 : words_.back().stage);
    uint32_t step = 0;
    auto word = words_.begin();
    for (uint32_t stage = 0; stage <= last; stage++) {
      while (step < stage_of_step_.size() && stage_of_step_[step] == stage) step++;
      for (; word != words_.end() && word->stage == stage; ++word) guard_memo_.words_.push_back(word->word);
      guard_memo_.stages_.push_back({step, static_cast<uint32_t>(guard_memo_.words_.size())});
    }
  }

  /// A tensor that is the same object has the same impl for life.
  void lend(const std::vector<Register>& inputs) {
    guard_memo_.inputs_.clear();
    guard_memo_.read_.clear();
    guard_memo_.others_.clear();
    guard_memo_.token_ = ++last_token_;
    for (Register r : inputs) {
      const auto place = static_cast<uint32_t>(guard_memo_.inputs_.size());
      const bool same = dependence(r) == Dependence::Held;
      guard_memo_.inputs_.push_back(same ? hooks::impl_of(object(r)) : nullptr);
      if (!same) guard_memo_.others_.push_back(place);
      if (same || is_argument(r, place)) continue;
      guard_memo_.read_.emplace_back(place, r);
      if (r >= 0) needed_[static_cast<size_t>(r)] = true;
    }
    for (GuardMemo::Argument& argument : guard_memo_.tensors_)
      if (argument.input == nowhere) argument.input = static_cast<uint32_t>(guard_memo_.inputs_.size());
    guard_memo_.inputs_.push_back(nullptr);
  }

  /// True: what is in the register is read and checked before anything else, which puts it among the inputs.
  bool is_argument(Register r, uint32_t place) {
    const auto argument = std::find_if(guard_memo_.tensors_.begin(), guard_memo_.tensors_.end(),
                                       [&](const auto& each) { return each.dst == r && each.input == nowhere; });
    if (argument == guard_memo_.tensors_.end()) return false;
    argument->input = place;
    return true;
  }

  void note_word(const void* at) override {
    if (changed(guard_memo_.changed_words_, at)) restless_ = true;
    const auto [known, is_new] = known_.try_emplace(at, stage_);
    if (is_new) words_.push_back({{at, word_at(at)}, stage_});
    after_ = std::max(after_, known->second + 1);
  }
  void look_further() override { stage_ = after_; }

  template <class K>
  static bool changed(const std::map<K, int>& times, K which) {
    const auto found = times.find(which);
    return found != times.end() && found->second >= GuardMemo::restless;
  }

  GuardMemo& guard_memo_;
  Program& program_;
  std::vector<bool> needed_;
  std::vector<uint32_t> stage_of_register_;  ///< from which on one may look into what it holds
  std::vector<uint32_t> stage_of_step_;      ///< by step, ascending
  std::vector<Noted> words_;
  std::map<const void*, uint32_t> known_;  ///< the stages of words
  uint32_t last_step_ = 0;
  // Of the instruction that is looked at:
  uint32_t stage_ = 0;     ///< where its words go
  uint32_t after_ = 0;     ///< where all that it rests on is known
  bool restless_ = false;  ///< it rests on a word that changes all the time
};

/// Of one that isn't the tensor of the pass before.
[[gnu::noinline]] bool GuardMemo::Argument::fits(const TensorImpl& tensor) {
  if (!facts->hold(tensor)) return false;
  serial = follows_a_base(tensor) ? 0 : tensor.serial;
  return true;
}

bool GuardMemo::is_unchanged(const Watched*& word, const Watched* end) const {
  const auto difference = [](const Watched& w) { return word_at(w.at) ^ w.value; };
  const Watched* w = word;
  Word any = 0;
  for (; end - w >= 4; w += 4) any |= difference(w[0]) | difference(w[1]) | difference(w[2]) | difference(w[3]);
  for (; w != end; ++w) any |= difference(*w);
  if (!any) [[likely]] {
    word = end;
    return true;
  }
  while (word_at(word->at) == word->value) ++word;
  return false;
}

bool GuardMemo::changed(const Watched& word, Run& run, const RegisterFile& file) {
  if (!forgives_) changed_words_[word.at]++;
  ready_ = false;
  return failed(run, file);
}

bool GuardMemo::failed(Run& run, const RegisterFile& file) {
  file.release(run.registers);
  run.random.put_back();
  run.leaving.clear();
  return false;
}

bool GuardMemo::holds(Run& run, const RegisterFile& file) {
  if (!ready_) return false;
  for (Argument& argument : tensors_) {
    PyObject* const object = run.arguments[argument.index];
    run.registers[argument.dst] = object;
    if (!object || Py_TYPE(object) != argument.type) [[unlikely]]
      return failed(run, file);
    TensorImpl* const tensor = inputs_[argument.input] = hooks::impl_of(object);
    if (tensor->serial != argument.serial && !argument.fits(*tensor)) [[unlikely]]
      return failed(run, file);
  }
  for (const auto& [reg, object] : found_) run.registers[reg] = object;
  const Step* step = steps_.data();
  const Watched* word = words_.data();
  for (const Stage& stage : stages_) {
    for (const Step* const end = steps_.data() + stage.steps; step != end; ++step) {
      if (step->holds(step->at, run)) [[likely]]
        continue;
      if (step->expects) {
        if (!forgives_) changed_reads_[step->origin]++;
        ready_ = false;
      }
      return failed(run, file);
    }
    if (!is_unchanged(word, words_.data() + stage.words)) [[unlikely]]
      return changed(*word, run, file);
  }
  passes_++;
  return true;
}

void GuardMemo::lend(const Run& run, std::vector<TensorImpl*>& inputs) const {
  inputs.assign(inputs_.begin(), inputs_.end() - 1);
  for (const auto& [place, reg] : read_) inputs[place] = hooks::impl_of(run.registers[reg]);
}

void GuardMemo::note(Program& program, Run& run, const std::vector<bool>& needed, const std::vector<Register>& inputs) {
  if (!pays()) return;
  notes_++;
  forgives_ = false;
  Noting(*this, program, run, needed).all(inputs);
  ready_ = true;
}

void GuardMemo::rest_on_nothing() {
  words_.clear();
  for (Stage& stage : stages_) stage.words = 0;
}

}  // namespace terra::capture
