#!/bin/sh
# Installs the browser that pages are tested in, and a font, where they are missing: Chromium, from the packages of
# Debian and its kin.
set -eu
# Not `chromium-browser`: where Ubuntu has that name, it is a stand-in that asks for a snap.
for browser in chromium google-chrome google-chrome-stable; do
    command -v "$browser" >/dev/null && exit 0
done
if [ "$(id -u)" -eq 0 ]; then
    as_root=
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    as_root=sudo
else
    as_root=none
fi
if [ "$as_root" = none ] || ! command -v apt-get >/dev/null; then
    echo "no Chromium: install it with this system's packages (the tests of pages need it)" >&2
    exit 1
fi
$as_root apt-get update
$as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install --yes --no-install-recommends chromium fonts-dejavu-core
