// Random numbers of Python and numpy inside runs: a run that is not committed leaves every generator as it found it.
#pragma once
#include "interpreter_hooks/cpython/frame.h"

#include <memory>
#include <vector>

namespace terra::capture {

/// True where the state of random.Random lies as this file expects it.
bool random_state_is_known();
/// At most so many arguments of one draw.
constexpr size_t most_draw_arguments = 7;
/// A RandomState or Generator of numpy.
bool is_numpy_generator(PyObject* object);

/// The states that generators had when a run first drew from them.
class RandomStates {
 public:
  RandomStates() = default;
  ~RandomStates() { put_back(); }
  RandomStates(RandomStates&&) = default;
  RandomStates& operator=(RandomStates&&) = default;
  /// Before a number is drawn from `generator` (an instance of _random.Random, borrowed for the run, or one of numpy).
  /// False: its state can't be had.
  bool save(PyObject* generator);
  void put_back() {
    if (saved_) restore();
  }
  bool drawn() const { return saved_ != nullptr; }
  /// The numbers have been used: nothing is put back.
  void keep() { saved_.reset(); }

 private:
  struct State;
  struct Deleter {
    void operator()(std::vector<State>* states) const;
  };
  void restore();
  std::unique_ptr<std::vector<State>, Deleter> saved_;
};

}  // namespace terra::capture
