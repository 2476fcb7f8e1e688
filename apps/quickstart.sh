#!/bin/sh
# From a bare Debian 12 to a trained network: installs the packages, builds build/release and trains LeNet through
# captured graphs. Arguments go to the training program, for example --data FOLDER with the MNIST files.
set -eu
cd "$(dirname "$0")/.."
. apps/packages.sh
install_packages $BUILD_PACKAGES

cmake --preset release -DTERRA_TESTS=OFF
cmake --build --preset release --target terra-run -j "${TERRA_BUILD_JOBS:-$(nproc)}"
exec build/release/bin/terra-run --torch models/lenet/train.py "$@"
