// The main function of every unit test program; compiled once, since Catch's takes seconds.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
