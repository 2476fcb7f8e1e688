#include "interpreter_hooks/entry/speculation.h"

#include <bit>

namespace terra::capture {

namespace {

/// "self.layers[3].norm.count" -> "self ... .count"; "self.sizes[2]" -> "self ... sizes[]"; "" for a bare name.
std::string family(const std::string& path) {
  size_t root = path.find_first_of(".[");
  if (root == std::string::npos) return "";
  size_t last = path.find_last_of(".[");
  std::string name = path.substr(last);
  if (name[0] == '[') {
    bool index = name.size() > 1 && (name[1] >= '0' && name[1] <= '9');
    if (index) {
      size_t container = path.find_last_of(".", last);
      name = (container == std::string::npos ? path.substr(0, last) : path.substr(container, last - container)) + "[]";
    }
  }
  return path.substr(0, root) + " ... " + name;
}

}  // namespace

bool Speculation::relax(const std::string& path) {
  if (path.empty()) return false;
  std::string kin = family(path);
  if (!kin.empty()) families_.insert(kin);
  return paths_.insert(path).second;
}

bool Speculation::met(const std::string& path, PyObject* number) {
  uint64_t bits = 0;
  if (PyFloat_CheckExact(number)) {
    bits = std::bit_cast<uint64_t>(PyFloat_AS_DOUBLE(number));
  } else {
    int overflow = 0;
    bits = static_cast<uint64_t>(PyLong_AsLongLongAndOverflow(number, &overflow));
    if (overflow) return false;
  }
  const auto [before, is_new] = met_.try_emplace(path, Py_TYPE(number), bits);
  const bool same = before->second.second == bits, same_type = before->second.first == Py_TYPE(number);
  before->second = {Py_TYPE(number), bits};
  return !is_new && same_type && !same && relax(path);
}

bool Speculation::may_fix_length(const std::string& path, size_t length) {
  std::set<size_t>& met = lengths_[path];
  if (met.size() <= most_lengths) met.insert(length);
  return met.size() <= most_lengths;
}

bool Speculation::relaxed(const std::string& path) const {
  if (paths_.empty()) return false;
  if (paths_.count(path)) return true;
  std::string kin = family(path);
  return !kin.empty() && families_.count(kin);
}

bool Speculation::free(const std::string& path, size_t rank, FreeSizes more) {
  if (path.empty() || !more || (free_sizes(path, rank) & more) == more) return false;
  sizes_[{path, rank}] |= more;
  if (std::string kin = family(path); !kin.empty()) sizes_[{kin, rank}] |= more;
  return true;
}

FreeSizes Speculation::free_sizes(const std::string& path, size_t rank) const {
  if (sizes_.empty() || path.empty()) return 0;
  FreeSizes free = 0;
  if (auto own = sizes_.find({path, rank}); own != sizes_.end()) free |= own->second;
  std::string kin = family(path);
  if (auto all = kin.empty() ? sizes_.end() : sizes_.find({kin, rank}); all != sizes_.end()) free |= all->second;
  return free;
}

}  // namespace terra::capture
