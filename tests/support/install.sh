#!/bin/sh
# install.sh WHAT-FOR PACKAGE...: installs packages of Debian and its kin, as root or by sudo.
set -eu
purpose=$1
shift
if [ "$(id -u)" -eq 0 ]; then
    as_root=
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    as_root=sudo
else
    as_root=none
fi
if [ "$as_root" = none ] || ! command -v apt-get >/dev/null; then
    echo "missing: $*; install it with this system's packages (the tests of $purpose need it)" >&2
    exit 1
fi
$as_root apt-get update
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "$@"
