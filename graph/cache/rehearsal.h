// A run on copies: what a graph would compute and publish, with nothing of the program touched.
#pragma once
#include <map>
#include <utility>
#include <vector>

#include "engine/random/generator.h"
#include "graph/cache/compiled.h"

namespace terra::graph {

/// Inputs that share a storage have copies that share one; the gradient of an input that is an input itself is copied
/// with it. Nothing else that a copy refers to is the program's, except gradients that the graph doesn't know.
class Rehearsal {
 public:
  Rehearsal() = default;
  explicit Rehearsal(const std::vector<Tensor>& inputs) { add(inputs); }
  /// Further inputs. Their copies are the last ones.
  void add(const std::vector<Tensor>& inputs);
  /// The copy of an input.
  const Tensor& copy_of(const TensorImpl* input) const;

  /// Runs `compiled` on the copies, commit included. The generators that it draws from are as before when this returns.
  /// `same` is about the tensors that the copies stand for: what a run on them remembers, or would remember, is
  /// checked. With a `release` other threads may go on, and then it must draw nothing.
  RunResult run(Compiled& compiled, std::span<const Scalar> scalars, const std::function<bool()>& before_commit,
                std::vector<RunOutput>& outputs, SameTensors same = {}, Release* release = nullptr);
  /// The same for a run that `body` makes, which draws from these generators (null: the default one).
  RunResult run(const std::vector<Generator*>& generators, const std::function<RunResult()>& body);
  /// Moves every number in the copies by a unit in its last place.
  void shake();

  /// That have been copied.
  size_t bytes() const;
  const std::vector<Tensor>& inputs() const { return inputs_; }
  const std::vector<Tensor>& copies() const { return copies_; }
  /// The program's tensor behind a copy; any other tensor is returned as it is.
  Tensor original(const Tensor& tensor) const;
  /// The storage of the program behind a copied one, or null.
  const Storage* original(const Storage* copy) const;

  /// By how much the run moved the version of input `i`.
  uint32_t versions(size_t i) const { return copies_[i]->storage->version(); }
  /// The version of input `i` before the run.
  uint32_t version_before(size_t i) const { return versions_[i]; }

  struct Drawn {
    Generator* generator;
    RandomState after;  ///< as the run left it
  };
  std::vector<Drawn>& drawn() { return drawn_; }

 private:
  std::map<const Storage*, Ref<Storage>> storages_;
  std::vector<Tensor> inputs_, copies_;
  std::vector<uint32_t> versions_;
  std::vector<Drawn> drawn_;
};

}  // namespace terra::graph
