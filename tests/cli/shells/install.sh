#!/bin/sh
# Installs bash, zsh, fish and tmux, where they are missing.
set -eu
missing=
for program in bash zsh fish tmux; do
    command -v "$program" >/dev/null || missing="$missing $program"
done
[ -n "$missing" ] || exit 0
exec sh tests/support/install.sh "completion and kohort top" $missing
