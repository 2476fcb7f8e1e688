# The Debian 12 packages Terra stands on, and their installation. Sourced by quickstart.sh and tests/run.sh.
BUILD_PACKAGES="cmake ninja-build g++ pkg-config python3 libpython3.11-dev libeigen3-dev libopenblas-serial-dev
  libdnnl-dev libtcmalloc-minimal4 libspdlog-dev libcli11-dev nlohmann-json3-dev libexpat1-dev zlib1g-dev"
TEST_PACKAGES="catch2 libpython3.11-testsuite python3-numpy python3-venv"

# install_packages PACKAGE...: installs those that are missing, as root or through sudo; says nothing if none is.
install_packages() {
  missing=
  for package in "$@"; do
    case $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) in
      installed) ;;
      *) missing="$missing $package" ;;
    esac
  done
  [ -n "$missing" ] || return 0
  echo "Installing$missing"
  as_root=
  [ "$(id -u)" = 0 ] || as_root=sudo
  $as_root apt-get update -qq
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
}
