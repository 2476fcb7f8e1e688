#!/bin/sh
# Builds everything and runs all tests: sh tests/run.sh [--long] [--only PATTERN]
# With CI=true warnings are errors, and the unit tests also run under the address and undefined-behaviour sanitizers.
# --long adds what takes hours rather than minutes: those and the thread sanitizer, also over Python programs, and all
# tests in more configurations.
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
werror=OFF  # as sh apps/quickstart.sh builds, so that what it has built stays
[ "${CI:-}" != true ] || werror=ON
{ cmake --preset release -DTERRA_TESTS=ON -DTERRA_WERROR=$werror && cmake --build --preset release -j "$jobs"; } ||
  failed_to_build release

presets= targets=unit_tests
[ "${CI:-}" != true ] || presets=asan
case " $* " in *" --long "*) presets="asan tsan" targets="unit_tests terra-run" ;; esac
sanitized=
for preset in $presets; do
  { cmake --preset "$preset" && cmake --build --preset "$preset" --target $targets -j "$jobs"; } ||
    failed_to_build "$preset"
  sanitized="$sanitized --sanitized build/$preset"
done
exec /usr/bin/python3 tests/run_tests.py --build build/release $sanitized "$@"
