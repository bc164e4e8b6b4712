#!/bin/sh
# Installs the browser that pages are tested in, and a font, where they are missing: Chromium.
set -eu
# Not `chromium-browser`: where Ubuntu has that name, it is a stand-in that asks for a snap.
for browser in chromium google-chrome google-chrome-stable; do
    command -v "$browser" >/dev/null && exit 0
done
exec sh tests/support/install.sh pages chromium fonts-dejavu-core
