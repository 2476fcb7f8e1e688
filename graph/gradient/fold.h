// The parts of a region as one.
//
//   def step(x, h):
//       h = cell(x, h)
//       return h, score(h)      # two parts: all of the gradient of h passes between them
//
// As long as nobody looks at what passes there, one backward program does for all parts.
#pragma once
#include <vector>

#include "graph/trace/program.h"

namespace terra::graph {

/// Its roots are those results of the region that the program sees, its targets the inputs that gradients come to.
/// What calls have saved stands in the order of the parts. None of the parts may lead to a function of the program.
ProgramPart fold(const std::vector<ProgramRoot>& roots, const std::vector<ProgramPart>& parts);

/// Which of the targets of `all` is this one of a part, an input.
size_t target_of(const ProgramPart& all, const GradientTarget& input);

/// By root of `all`: others lead to it, so that all of its gradient is in one place only between the parts.
std::vector<bool> leads_on(const ProgramPart& all, const std::vector<ProgramPart>& parts);

/// Makes expected[r] true for each root r that gradients come to when they come to those that it is true for.
void close_over(std::vector<bool>& expected, const std::vector<ProgramPart>& parts);

/// The backward program of `all`, from that of the parts, for gradients from behind the region for these roots only, by
/// number among all that there are. Its gradients are sums over the parts, in the order in which a pass over the parts
/// adds them up.
Program backward_of_all(const Program& backward, size_t roots, const std::vector<ProgramPart>& parts,
                        const ProgramPart& all, const std::vector<uint32_t>& given);

}  // namespace terra::graph
