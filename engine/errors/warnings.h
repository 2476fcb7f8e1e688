// What the user is told without a failure: the host says how.
#pragma once

namespace terra {

/// Shows a sentence to the user. May throw where the user wants warnings to be errors. Null: nobody is told.
using WarningHook = void (*)(const char* sentence);

inline WarningHook& warning_hook() {
  static WarningHook hook = nullptr;
  return hook;
}

}  // namespace terra
