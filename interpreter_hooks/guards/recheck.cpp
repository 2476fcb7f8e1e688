#include "interpreter_hooks/guards/recheck.h"

#include "interpreter_hooks/guards/functions.h"
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/guards/tensors.h"

#include "interpreter_hooks/bindings/tensor_object.h"

#include <algorithm>
#include <cstring>
#include <unordered_set>

namespace terra::capture {

namespace {

/// [facts, type, index]: an argument that is a tensor, read and checked at once.
bool tensor_argument_holds(Word* at, Run& run) {
  PyObject* object = run.arguments[at[3]];
  run.registers[head(at).dst] = object;
  return object && Py_TYPE(object) == pointer<PyTypeObject>(at[2]) &&
         pointer<TensorFacts>(at[1])->hold(*hooks::impl_of(object));
}

Word first_word(Op op, Register dst, Register a) {
  const Head head{code(op), 4, dst, a, no_register};
  Word word;
  std::memcpy(&word, &head, sizeof word);
  return word;
}

/// Whether a read found something that other instructions look into, and that may well be the same next time.
bool is_holder(PyObject* object) { return !is_tensor(object) && !is_number(object); }

}  // namespace

/// One pass over a program that has just held.
class Noting final : public Standings {
 public:
  Noting(Recheck& recheck, Program& program, Run& run, const std::vector<bool>& needed)
      : Standings(run, needed.size()), recheck_(recheck), program_(program), needed_(needed) {}

  void all() {
    recheck_.words_.clear();
    recheck_.steps_.clear();
    recheck_.made_.clear();
    recheck_.found_.clear();
    for (int offset = 0; offset != program_.end(); offset += head(program_.at(offset)).words) one(offset);
    for (size_t r = 0; r < needed_.size(); r++) {
      const auto reg = static_cast<Register>(r);
      if (needed_[r] && standing(reg) != Standing::Varies) recheck_.found_.emplace_back(reg, object(reg));
    }
  }

 private:
  void one(int offset) {
    const Word* at = program_.at(offset);
    const size_t words = recheck_.words_.size();
    restless_ = false;
    const Standing found = rests_on(at, *this);
    if (found != Standing::Varies && !restless_) return stands(head(at).dst, found);
    for (; recheck_.words_.size() > words; recheck_.words_.pop_back()) known_.erase(recheck_.words_.back().at);
    if (fused(at)) return;
    add_step(offset, kinds[head(at).kind].holds, program_.word(offset));
    use(at);
    const Register dst = head(at).dst;
    if (dst == no_register || !is_borrowed_read(at) || !is_holder(object(dst)) ||
        changed(recheck_.changed_reads_, offset))
      return;
    Word* made = make({first_word(Op::Is, no_register, dst), word_of(object(dst))});
    add_step(offset, is_holds, made, true);
    stands(dst, Standing::Found);
  }

  /// The guard on a tensor that an argument is, joined with the read of the argument.
  bool fused(const Word* at) {
    if (static_cast<Op>(head(at).kind) != Op::Tensor) return false;
    const auto read = std::find_if(recheck_.steps_.begin(), recheck_.steps_.end(), [&](const Recheck::Step& step) {
      return step.holds == argument_holds && head(step.at).dst == head(at).a;
    });
    if (read == recheck_.steps_.end()) return false;
    read->at = make({first_word(Op::Argument, head(at).a, no_register), at[1], at[2], read->at[1]});
    read->holds = tensor_argument_holds;
    return true;
  }

  void add_step(int origin, bool (*holds)(Word*, Run&), Word* at, bool expects = false) {
    recheck_.steps_.push_back({static_cast<uint32_t>(recheck_.words_.size()), origin, expects, holds, at});
  }
  Word* make(std::initializer_list<Word> words) {
    std::copy(words.begin(), words.end(), recheck_.made_.emplace_back().words);
    return recheck_.made_.back().words;
  }
  /// The registers that an instruction reads are needed by the steps behind.
  void use(const Word* at) {
    each_operand(at, [&](Register r) {
      if (r >= 0) needed_[static_cast<size_t>(r)] = true;
    });
  }

  void note_word(const void* at) override {
    if (changed(recheck_.changed_words_, at)) restless_ = true;
    if (known_.insert(at).second) recheck_.words_.push_back({at, word_at(at)});
  }
  template <class K>
  static bool changed(const std::map<K, int>& times, K which) {
    const auto found = times.find(which);
    return found != times.end() && found->second >= Recheck::restless;
  }

  Recheck& recheck_;
  Program& program_;
  std::vector<bool> needed_;
  std::unordered_set<const void*> known_;
  bool restless_ = false;  ///< the instruction rests on a word that changes all the time
};

bool Recheck::changed(const Watched& word, Run& run, const RegisterFile& file) {
  changed_words_[word.at]++;
  ready_ = false;
  return failed(run, file);
}

bool Recheck::failed(Run& run, const RegisterFile& file) {
  file.release(run.registers);
  run.random.put_back();
  return false;
}

bool Recheck::holds(Run& run, const RegisterFile& file) {
  if (!ready_) return false;
  for (const auto& [reg, object] : found_) run.registers[reg] = object;
  const Watched *word = words_.data(), *const end = word + words_.size();
  for (const Step& step : steps_) {
    for (const Watched* stop = words_.data() + step.words; word != stop; ++word)
      if (word_at(word->at) != word->value) [[unlikely]]
        return changed(*word, run, file);
    if (!step.holds(step.at, run)) [[unlikely]] {
      if (step.expects) {
        changed_reads_[step.origin]++;
        ready_ = false;
      }
      return failed(run, file);
    }
  }
  for (; word != end; ++word)
    if (word_at(word->at) != word->value) [[unlikely]]
      return changed(*word, run, file);
  passes_++;
  return true;
}

void Recheck::note(Program& program, Run& run, const std::vector<bool>& needed) {
  if (!pays()) return;
  notes_++;
  Noting(*this, program, run, needed).all();
  ready_ = true;
}

}  // namespace terra::capture
