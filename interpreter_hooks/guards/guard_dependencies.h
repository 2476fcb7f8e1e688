// What the instructions of an entry program rest on, as words of memory (guard_memo.h says what for).
#pragma once
#include "interpreter_hooks/guards/kinds.h"

#include <cstring>
#include <functional>
#include <vector>

namespace terra::capture {

/// A word of somebody else's object, whatever type it has there.
inline Word word_at(const void* at) {
  Word word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

/// What unchanged words say about a register, or about an instruction as a whole (then Found and Held are the same).
enum class Dependence : uint8_t {
  Varies,  ///< nothing: the instruction has to run
  Found,   ///< its object is at the address where one was before
  Held,    ///< it is the very object of before: something unchanged has held it since
};

/// The registers of a run whose program has held, and the words noted so far.
class GuardDependencies {
 public:
  GuardDependencies(Run& run, size_t registers) : run_(run), dependence_(registers, Dependence::Varies) {}
  virtual ~GuardDependencies() = default;

  Dependence dependence(Register r) const { return r < 0 ? Dependence::Held : dependence_[static_cast<size_t>(r)]; }
  PyObject* object(Register r) const { return run_.registers[r]; }
  /// The eight bytes at `at` decide. They can be read while everything is known that the operands rest on.
  template <class T>
  void rest_on(const T* at) {
    static_assert(sizeof(T) == sizeof(Word));
    note_word(at);
  }
  /// What is noted from here on can only be read while the words before are unchanged: they lead there.
  virtual void look_further() = 0;

 protected:
  void stands(Register r, Dependence dependence) {
    if (r >= 0 && r != no_register) dependence_[static_cast<size_t>(r)] = dependence;
  }
  virtual void note_word(const void* at) = 0;

 private:
  Run& run_;
  std::vector<Dependence> dependence_;
};

/// Notes what the instruction rests on. It has just held, and so has everything before it.
Dependence rests_on(const Word* at, GuardDependencies& s);

/// True for a read whose result the registers only borrow.
bool is_borrowed_read(const Word* at);
/// Calls visit(register) for every register that an instruction reads.
void each_operand(const Word* at, const std::function<void(Register)>& visit);

}  // namespace terra::capture
