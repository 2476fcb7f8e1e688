// For tests: each program that is compiled is printed and read back.
#pragma once

namespace terra::graph {

/// From now on compiling a program throws std::runtime_error, with both texts, where its text isn't read as the same
/// program. Programs that only their host can run (host calls) are held to it too: their text says what isn't in it.
void check_round_trips();

}  // namespace terra::graph
