// Traces as text: "a b(a) L{c(b)|c(c)} d(b,c)". A letter is a record, in brackets behind it stand the records whose
// results it takes ("-": something from outside), L{round|round} are the rounds of loop L.
#pragma once
#include <string>
#include <vector>

#include "graph/coexec/trace_graph.h"

namespace terra::coexec::test {

LinearTrace trace(const std::string& text);
TraceGraph merged(const std::vector<std::string>& traces);

/// Letters for identities; a loop's number is that of its letter in the alphabet, A is 0.
std::string name_of(IdentityId id);

std::string graph_of(const std::vector<std::string>& traces);
std::string cases_of(const std::vector<std::string>& traces);

/// What stands between lines of a picture and their margin is as it is: one text, line by line.
std::string lines(std::initializer_list<const char*> picture);

}  // namespace terra::coexec::test
