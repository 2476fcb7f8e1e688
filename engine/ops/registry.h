// Brings every op record into the program.
#pragma once

namespace terra {

/// Records register themselves when their file is linked in, and a static library only gives the files that somebody
/// refers to: this refers to one record of every family. Idempotent.
void register_all_ops();

}  // namespace terra
