// Compiling for new sizes takes time in the middle of a run: whether it is worth it, the tiers above decide.
#pragma once

namespace terra::graph {

/// Asked and told by graphs that keep an instance for each combination of sizes (shaped.h). Both may be null: then
/// everything is built.
struct BuildPolicy {
  /// A run has come with sizes that there is no instance for, for the time number `times_met`. An instance is likely to
  /// cost so much. False: the run is Busy, and will ask again when such sizes come back.
  bool (*allows)(double microseconds, int times_met) = nullptr;
  /// One has been built and has cost so much processor time.
  void (*built)(double microseconds) = nullptr;
};

/// Of the process; set once, before anything is captured.
void set_build_policy(BuildPolicy policy);
const BuildPolicy& build_policy();

}  // namespace terra::graph
