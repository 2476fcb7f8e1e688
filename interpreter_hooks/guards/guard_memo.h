// The short way through an entry program: nothing has changed of what its last run rested on.
//
// Most of what an entry program reads and demands can't be otherwise unless some word of memory is: the version of a
// dict, a slot of an instance, an item of a list, the tag of a class, the epoch of tensors. After a run that held those
// words are noted. As long as they are unchanged, only the other instructions run: those on the tensors and numbers
// that a call brings with it.
//
// Laws. Words are compared in stages: each lies in an object that the words and instructions of the stages before have
// shown to be alive. Within a stage nothing depends on anything, so its words are compared without a branch between
// them. The instructions that are left keep the order of the program. A pointer that is found again says that some
// object is at that address, not that it is the one from before: everything learnt from it is compared too. Only what
// an unchanged dict or class has held all along is known to be the same object.
#pragma once
#include "interpreter_hooks/guards/guard_dependencies.h"

#include <deque>
#include <map>
#include <utility>
#include <vector>

namespace terra {
class TensorImpl;
}

namespace terra::capture {

class GuardMemo {
 public:
  /// True: the program would hold, and the registers that `note` was told of are as it would have left them. False:
  /// nothing is known, and the registers are as they were prepared.
  bool holds(Run& run, const RegisterFile& file);
  /// After that: the tensors in the registers that `note` was told are inputs.
  void lend(const Run& run, std::vector<TensorImpl*>& inputs) const;
  /// Between two passes with the same token the inputs are the same tensors, but for those at the places `others`.
  /// Tokens are never used again.
  uint64_t token() const { return token_; }
  const std::vector<uint32_t>& others() const { return others_; }

  /// To be called when `program` has held, before anything else runs. `needed` are registers that are read afterwards,
  /// `inputs` those of tensors that are only lent to the graph.
  void note(Program& program, Run& run, const std::vector<bool>& needed, const std::vector<Register>& inputs);
  /// The program has been run plainly where the entry could have served. What that has changed says nothing about what
  /// else changes.
  void forgive() { forgives_ = true; }
  /// Forgets the words that it has noted, as if nothing could change: fault injection.
  void rest_on_nothing();
  /// False where noting has not paid: what the program rests on changes from call to call.
  bool pays() const { return notes_ <= free_notes + passes_ / passes_per_note; }

  /// Words and instructions that a pass takes, and how many there were: for reports and tests.
  size_t words() const { return words_.size(); }
  size_t steps() const { return tensors_.size() + steps_.size(); }
  uint64_t passes() const { return passes_; }

 private:
  friend class Noting;

  struct Watched {
    const void* at;
    Word value;
  };
  struct Step {
    int origin;    ///< offset of the instruction in the program
    bool expects;  ///< demands the object that the read before it found at the noted run
    bool (*holds)(Word* at, Run& run);
    Word* at;
  };
  /// Its steps come before its words. Both are counted from the first stage on.
  struct Stage {
    uint32_t steps, words;
  };
  /// An argument that is a tensor of a graph. Read and checked before the first stage: it depends on nothing.
  struct Argument {
    uint32_t index;
    Register dst;
    PyTypeObject* type;
    const TensorFacts* facts;
    uint64_t serial;     ///< of the tensor that was seen to fit; 0: of none that would go on fitting
    uint32_t input = 0;  ///< its place in `inputs_`

    bool fits(const TensorImpl& tensor);
  };
  struct Made {
    Word words[2];
  };

  static constexpr uint64_t free_notes = 16, passes_per_note = 8;
  static constexpr int restless = 3;  ///< what has changed so often is not noted again

  bool is_unchanged(const Watched*& word, const Watched* end) const;
  bool changed(const Watched& word, Run& run, const RegisterFile& file);
  bool failed(Run& run, const RegisterFile& file);

  bool ready_ = false;
  bool forgives_ = false;  ///< until it notes again
  std::vector<Argument> tensors_;
  std::vector<Stage> stages_;
  std::vector<Step> steps_;
  std::vector<Watched> words_;
  std::deque<Made> made_;                              ///< instructions that aren't the program's
  std::vector<std::pair<Register, PyObject*>> found_;  ///< borrowed: good when all words are unchanged
  /// The same for inputs; those that are arguments are put there by each pass. The last place is for what is no input.
  std::vector<TensorImpl*> inputs_;
  std::vector<std::pair<uint32_t, Register>> read_;  ///< the others that don't stand, by place
  std::vector<uint32_t> others_;                     ///< the places of arguments and of those
  uint64_t token_ = 0;
  std::map<const void*, int> changed_words_;  ///< how often each was seen to change
  std::map<int, int> changed_reads_;          ///< the same for reads that found another object, by offset
  uint64_t notes_ = 0, passes_ = 0;
};

}  // namespace terra::capture
