// Whether what happened is what was expected: values, objects made on the way, tensors, and who shares what with whom.
#pragma once
#include "graph/cache/rehearsal.h"
#include "interpreter_hooks/bindings/object.h"
#include "interpreter_hooks/cpython/frame.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace terra::capture {

/// One thing that came out otherwise.
struct Difference {
  std::string what;           ///< "self.count"
  std::string expected, got;  ///< in words
  /// Only numbers are others, of the same type in the same places: rounding may have done that.
  bool of_values = false;
  std::string text() const { return what + ": expected " + expected + ", got " + got; }
};

/// Compares expected values with real ones. Objects that existed before have to be the very same, numbers and strings
/// have to be equal by type and bits, and objects that the rehearsal made need a counterpart each: of the same type,
/// with like contents, and the same one wherever it occurs. In exact mode (TERRA_EXACT=1) elements are compared by
/// bits, else by `tolerance`. The first difference is kept.
class Likeness {
 public:
  /// `rehearsal` may be null: no graph ran.
  explicit Likeness(const graph::Rehearsal* rehearsal);

  /// `object` was made by the rehearsal: an object of the effect program.
  void made(PyObject* object) { made_.insert(object); }
  bool was_made(PyObject* object) const { return made_.count(object); }
  /// `tensor` was made by the rehearsal's graph.
  void made(const Tensor& tensor) { made_tensors_.insert(tensor.get()); }

  /// Elements of `tensor`, which the rehearsal made or wrote, may differ by `distance`.
  void allow(const TensorImpl* tensor, double distance) { allowed_[tensor] = distance; }
  /// So may numbers.
  void allow_numbers(double distance) { allowed_numbers_ = distance; }

  /// A new reference (or null), which lives as long as this object: what is compared is known by its address.
  PyObject* keep(PyObject* object) {
    kept_.push_back(hooks::Object::steal(object));
    return object;
  }
  /// Null stands for "nothing there". Borrowed references that have to live as long as this object.
  bool alike(const std::string& what, PyObject* expected, PyObject* got);
  /// For tensors that no Python object is needed for.
  bool alike(const std::string& what, const Tensor& expected, const Tensor& got);
  /// Dtype, sizes and elements only, and these up to rounding: for what nobody has promised to add in one order.
  bool near_elements(const std::string& what, const TensorImpl& expected, const TensorImpl& got);
  /// Dtype, geometry and elements only.
  bool same_elements(const std::string& what, const TensorImpl& expected, const TensorImpl& got);
  bool differs(const std::string& what, std::string expected, std::string got, bool of_values = false);

  /// The real tensor that was found to be like `made`, which the rehearsal made; null if none was.
  const TensorImpl* counterpart(const TensorImpl* made) const {
    const auto found = tensors_.find(made);
    return found == tensors_.end() ? nullptr : found->second;
  }

  const std::optional<Difference>& difference() const { return difference_; }

 private:
  bool contents_alike(const std::string& what, PyObject* expected, PyObject* got);
  bool storages_alike(const std::string& what, const Storage* expected, const Storage* got);

  bool elements_alike(const std::string& what, const TensorImpl& expected, const TensorImpl& got, bool exact);

  const graph::Rehearsal* rehearsal_;
  std::vector<hooks::Object> kept_;
  std::set<PyObject*> made_;
  std::set<const TensorImpl*> made_tensors_;
  std::map<PyObject*, PyObject*> counterparts_;
  std::map<const TensorImpl*, const TensorImpl*> tensors_;
  std::map<const Storage*, const Storage*> storages_, storages_back_;
  std::map<const TensorImpl*, double> allowed_;
  double allowed_numbers_ = 0;
  std::optional<Difference> difference_;
};

}  // namespace terra::capture
