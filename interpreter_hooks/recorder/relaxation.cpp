#include "interpreter_hooks/recorder/relaxation.h"

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

bool Relaxation::relax(const std::string& path) {
  if (path.empty()) return false;
  std::string kin = family(path);
  if (!kin.empty()) families_.insert(kin);
  return paths_.insert(path).second;
}

bool Relaxation::relaxed(const std::string& path) const {
  if (paths_.empty()) return false;
  if (paths_.count(path)) return true;
  std::string kin = family(path);
  return !kin.empty() && families_.count(kin);
}

}  // namespace terra::capture
