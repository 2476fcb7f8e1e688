// Random numbers for work that may yet be dropped, on a thread that has given the host's lock away.
#pragma once
#include <span>
#include <vector>

#include "engine/random/generator.h"

namespace terra {

/// Copies of generators to draw from while others may use the real ones. Made and settled under the lock.
class DrawsApart {
 public:
  /// Null stands for the default generator.
  explicit DrawsApart(std::span<Generator* const> generators);

  /// True: nobody else has used the generators meanwhile, and now they are where the draws have left the copies. False:
  /// they are as the others have left them.
  bool settle();

  /// While it lives, this thread draws from the copies.
  class Scope {
   public:
    explicit Scope(DrawsApart& draws);
    ~Scope();
    Scope(const Scope&) = delete;

   private:
    DrawsApart* const outer_;
  };

 private:
  friend RandomState& drawing_state(Generator& generator);
  struct Copy {
    Generator* generator;
    RandomState before, state;
  };
  std::vector<Copy> copies_;
};

/// The state that draws of the calling thread from a generator advance.
RandomState& drawing_state(Generator& generator);

}  // namespace terra
