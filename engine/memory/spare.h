// Memory that a function keeps from one call to the next.
#pragma once
#include <optional>
#include <utility>

namespace terra {

/// A T that one call at a time uses and that keeps its memory in between. T::clear() empties it; that may run code of
/// the program, which may make the call again: such a call inside another has a T of its own.
template <class T>
class Spare {
 public:
  class Use {
   public:
    explicit Use(Spare& spare) : spare_(spare), inside_(std::exchange(spare.in_use_, true)) {
      if (inside_) own_.emplace();
    }
    ~Use() {
      get().clear();
      if (!inside_) spare_.in_use_ = false;
    }
    Use(const Use&) = delete;
    T& get() { return inside_ ? *own_ : spare_.kept_; }

   private:
    Spare& spare_;
    const bool inside_;
    std::optional<T> own_;
  };

 private:
  T kept_;
  bool in_use_ = false;
};

}  // namespace terra
