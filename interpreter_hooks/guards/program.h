// Programs over a register file of Python objects: packed 64-bit words, one table row per kind of instruction.
//
// One captured entry has up to three of them that share the registers: the entry program (reads, guards and host
// arithmetic before the graph; may fail, and then nothing has happened), the late program (host arithmetic on numbers
// that the graph produced) and the effect program (interpreter_hooks/effects).
#pragma once
#include "interpreter_hooks/cpython/frame.h"
#include "interpreter_hooks/guards/random.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace terra::capture {

using Word = uint64_t;

/// Index of a register; negative indices are constants (-1 is the first).
using Register = int16_t;
constexpr Register no_register = INT16_MAX;
constexpr size_t most_registers = INT16_MAX;   ///< 0 .. no_register - 1
constexpr size_t most_constants = -INT16_MIN;  ///< -1 .. INT16_MIN

/// First word of an instruction; `words` counts this one and the operand words behind it.
struct Head {
  uint8_t kind;
  uint8_t words;
  Register dst, a, b;
};
static_assert(sizeof(Head) == sizeof(Word));
/// Of operand words behind a head, and of registers packed into them.
constexpr size_t most_operands = std::numeric_limits<decltype(Head::words)>::max() - 1;
constexpr size_t registers_per_word = sizeof(Word) / sizeof(Register);
constexpr size_t most_packed = most_operands * registers_per_word;

inline Head head(const Word* at) { return std::bit_cast<Head>(*at); }
inline Word word_of(const Head& head) { return std::bit_cast<Word>(head); }
/// The register at a place of a packed list that begins at `words`.
inline Register packed_register(const Word* words, size_t place) {
  Register r;
  std::memcpy(&r, reinterpret_cast<const char*>(words) + place * sizeof r, sizeof r);
  return r;
}
template <class T>
T* pointer(Word word) {
  return reinterpret_cast<T*>(word);
}
inline PyObject* object_word(Word word) { return pointer<PyObject>(word); }
template <class T>
Word word_of(T* object) {
  return reinterpret_cast<Word>(object);
}

/// What the stores of a run let go, as far as it may take anything along: gathered by one guard per place, judged by
/// one.
class Leaving {
 public:
  /// `object` is borrowed for the run.
  void add(PyObject* object) {
    if (count_ < most_inline) {
      few_[count_] = object;
    } else {
      if (many_.empty()) many_.assign(few_, few_ + count_);
      many_.push_back(object);
    }
    count_++;
  }
  void clear() {
    count_ = 0;
    many_.clear();
  }
  std::span<PyObject*> all() { return {many_.empty() ? few_ : many_.data(), count_}; }

 private:
  static constexpr size_t most_inline = 8;
  size_t count_ = 0;
  PyObject* few_[most_inline];
  std::vector<PyObject*> many_;  ///< all of them, where there are more
};

/// What one run works on. Registers that a read filled are borrowed (nothing that could free them runs before the
/// effects); registers marked `owned` in the file hold new references.
struct Run {
  PyObject** registers = nullptr;
  PyObject* const* arguments = nullptr;  ///< localsplus of the frame that did not start
  PyFunctionObject* function = nullptr;
  RandomStates random{};  ///< what the run has drawn from; put back unless it is committed
  Leaving leaving{};      ///< what its stores will let go
};

struct ClassFacts;
struct TensorFacts;

/// How often a file has gone stale.
inline constinit uint64_t files_gone_stale = 0;

/// The registers of an entry: names for people, and everything its programs own.
class RegisterFile {
 public:
  RegisterFile();
  RegisterFile(const RegisterFile&) = delete;
  ~RegisterFile();

  /// A new register. `name` is the path by which its value was reached ("self.layers[0].weight"). When there is no
  /// room for it, the file is spoilt and the register is one that there is.
  Register add(std::string name, bool owned);
  /// The register that always holds `object`; the file keeps a strong reference. Spoilt as above.
  Register constant(PyObject* object);
  /// More registers were asked for than there can be: nothing that uses the file must run.
  bool spoilt() const { return spoilt_; }
  /// Keeps `object` alive as long as the file.
  template <class T>
  T* keep(T* object) {
    Py_XINCREF(reinterpret_cast<PyObject*>(object));
    kept_.push_back(reinterpret_cast<PyObject*>(object));
    return object;
  }
  /// The same for what nothing but guards is to do with: where `object` can be watched it may die, and then its address
  /// tells nothing any more and the file is stale.
  template <class T>
  T* watch(T* object) {
    watch_object(reinterpret_cast<PyObject*>(object));
    return object;
  }
  /// The globals of a function, which guards compare with. `alone`: nobody else has its code, so that no other function
  /// is going to. Then the globals live as long as the function does, and the file keeps neither, for both may refer to
  /// each other, and to the file by way of the code, where the collector sees nothing.
  PyObject* keep_globals(PyFunctionObject* function, bool alone);
  /// True when an object that guards compare with has died: programs on this file must not run, nor be shown.
  bool stale() const { return stale_; }
  /// `object`, which it watches, dies.
  void lose(PyObject* object);

  /// What the facts are about is watched.
  ClassFacts* keep(std::unique_ptr<ClassFacts> facts);
  TensorFacts* keep(std::unique_ptr<TensorFacts> facts);

  size_t size() const { return names_.size(); }
  bool full() const { return names_.size() >= most_registers || constants_.size() >= most_constants; }
  bool owned(Register r) const { return r >= 0 && owned_[r]; }
  std::string name(Register r) const;

  /// Number of pointers that `prepare` fills.
  size_t words() const { return constants_.size() + names_.size(); }
  /// Makes `space` (words() pointers) a set of registers for one run and returns register 0.
  PyObject** prepare(PyObject** space) const;
  /// Drops the references that the run's owned registers hold.
  void release(PyObject** registers) const;
  const std::vector<PyObject*>& constants() const { return constants_; }

 private:
  void watch_object(PyObject* object);

  std::vector<PyObject*> constants_;  // strong
  std::vector<PyObject*> kept_;       // strong
  std::vector<PyObject*> watched_;    // borrowed
  bool stale_ = false;
  bool spoilt_ = false;
  std::vector<std::string> names_;
  std::vector<bool> owned_;
  std::vector<Register> owned_list_;
  std::vector<std::unique_ptr<ClassFacts>> classes_;
  std::vector<std::unique_ptr<TensorFacts>> tensors_;
};

/// A row of the table of kinds. `holds` is the fast path: no Python code, no allocation of collected objects; it may
/// re-arm its own words. `text` says in words what the instruction demands.
struct Kind {
  const char* name;
  bool guard;  ///< can fail by design: counted and numbered, target of fault injection
  bool (*holds)(Word* at, Run& run);
  std::string (*text)(const Word* at, const RegisterFile& file);
};

/// A stream of instructions whose kinds are the rows of `table`.
class Program {
 public:
  explicit Program(const Kind* table) : table_(table) {}

  /// An instruction with more operand words than most_operands is left out, and the program is spoilt.
  template <class K>
  void emit(K kind, Register dst, Register a, Register b, const std::vector<Word>& operands = {}) {
    emit_code(static_cast<uint8_t>(kind), dst, a, b, operands);
  }
  /// An instruction is missing: the program must not run.
  bool spoilt() const { return spoilt_; }

  /// Runs to the end; -1, or the offset of the first instruction that does not hold.
  int run(Run& run) {
    for (Word *at = words_.data(), *end = at + words_.size(); at != end; at += head(at).words) {
      if (!table_[head(at).kind].holds(at, run)) [[unlikely]]
        return static_cast<int>(at - words_.data());
    }
    return -1;
  }
  /// Once more the one at an offset, whose result has been dropped.
  bool run_at(int offset, Run& run) {
    Word* const at = &words_[static_cast<size_t>(offset)];
    return table_[head(at).kind].holds(at, run);
  }
  /// Goes on past instructions that fail while go_on(at) says so.
  template <class F>
  void run_past(Run& run, F go_on) {
    for (Word *at = words_.data(), *end = at + words_.size(); at != end; at += head(at).words) {
      if (!table_[head(at).kind].holds(at, run) && !go_on(at)) return;
    }
  }
  /// The same with the `fail`-th guard (0-based, -1 for none) made to fail: fault injection.
  int run_failing(Run& run, int fail);

  int end() const { return static_cast<int>(words_.size()); }
  const Word* at(int offset) const { return &words_[offset]; }
  Word* word(int offset) { return &words_[offset]; }
  bool empty() const { return words_.empty(); }
  int guards() const;
  std::string text(int offset, const RegisterFile& file) const;
  std::vector<std::string> texts(const RegisterFile& file, bool guards_only) const;
  /// Calls visit(const Word* at) for every instruction.
  template <class F>
  void each(F visit) const {
    for (size_t i = 0; i < words_.size(); i += head(&words_[i]).words) visit(&words_[i]);
  }

 private:
  void emit_code(uint8_t kind, Register dst, Register a, Register b, const std::vector<Word>& operands);
  const Kind* table_;
  std::vector<Word> words_;
  bool spoilt_ = false;
};

}  // namespace terra::capture
