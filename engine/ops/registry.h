// Every op of the program, present.
#pragma once

namespace terra {

/// Makes sure that the records of all families are linked into the program and have registered themselves.
void register_all_ops();

}  // namespace terra
