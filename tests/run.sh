#!/bin/sh
# Builds everything with warnings as errors and runs all tests: sh tests/run.sh [--long] [--only PATTERN]
# With CI=true the unit tests also run under the address and undefined-behaviour sanitizers.
set -eu
cd "$(dirname "$0")/.."
. apps/packages.sh
install_packages $BUILD_PACKAGES $TEST_PACKAGES

failed_to_build() {
  echo "The build failed: $1"
  echo "0 passed, 1 failed"
  exit 1
}

jobs=${TERRA_BUILD_JOBS:-$(nproc)}
{ cmake --preset release -DTERRA_TESTS=ON -DTERRA_WERROR=ON && cmake --build --preset release -j "$jobs"; } ||
  failed_to_build release
sanitized=
if [ "${CI:-}" = true ]; then
  { cmake --preset asan && cmake --build --preset asan --target unit_tests -j "$jobs"; } || failed_to_build asan
  sanitized="--sanitized build/asan"
fi
exec /usr/bin/python3 tests/run_tests.py --build build/release $sanitized "$@"
