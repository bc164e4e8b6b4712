#!/bin/sh
# settings.sh ORIGINAL: print a properties file as it is after the step: ORIGINAL without the settings of KOHORT_REMOVE
# and of KOHORT_CONFIG, then the lines of KOHORT_CONFIG. A setting is left out with the lines that continue it.
# settings.sh FILE --write: write it to FILE. What FILE was before the migration is kept in FILE.before-PLAN, and every
# step and the rollback start from that.
set -eu
file=$1
if [ "${2:-}" = --write ]; then
    original=$file.before-$KOHORT_PLAN part=$file.part.$$
    [ -e "$original" ] || { cp -p -- "$file" "$part" && mv -- "$part" "$original"; }
    "$0" "$original" > "$part"
    cat "$part" > "$file" # keeps its owner, mode and inode: it may be a link, or mounted in a container
    rm -- "$part"
    exit
fi
LC_ALL=C awk '
    function name(line) {
        sub(/^[ \t\f]+/, "", line)
        sub(/[ \t\f\r=:].*/, "", line)
        return line
    }
    function is_continued(line) {
        sub(/\r$/, "", line)
        match(line, /\\*$/)
        return RLENGTH % 2
    }
    BEGIN {
        count = split(ENVIRON["KOHORT_REMOVE"], removed, ",")
        for (i = 1; i <= count; i++) replaced[removed[i]]
    }
    is_new { lines = lines $0 "\n"; if ($0 !~ /^[#!]/) replaced[name($0)]; next }
    !continued { is_comment = /^[ \t\f]*([#!\r]|$)/; is_left_out = !is_comment && (name($0) in replaced) }
    !is_left_out
    { continued = !is_comment && is_continued($0) }
    END { printf "%s", lines }
' is_new=1 "$KOHORT_CONFIG" is_new=0 - < "$file"
