// What the user is told without a failure: the host says how.
#pragma once

namespace terra {

/// Shows a sentence to the user. May throw where the user wants warnings to be errors. Null: nobody is told.
using WarningHook = void (*)(const char* sentence);

inline WarningHook& warning_hook() {
  static WarningHook hook = nullptr;
  return hook;
}

inline void warn(const char* sentence) {
  if (warning_hook()) warning_hook()(sentence);
}
/// Once in a process: `told` is a flag of the place that warns.
inline void warn_once(bool& told, const char* sentence) {
  if (!told) warn((told = true, sentence));
}

}  // namespace terra
