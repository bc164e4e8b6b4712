# The main job on the embedded sample: list, describe, validate-regex, dry-run, plan. `make demo` runs it.
# It reads no contexts. The sample stays in the data directory, where commands look for groups by default;
# a data directory with groups is unchanged: the tour then uses a copy of the sample.
set -u
for name in $(env | sed -n 's/^\(KOHORT_[A-Z_]*\)=.*/\1/p'); do unset "$name"; done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
XDG_CONFIG_HOME=$scratch/config
export XDG_CONFIG_HOME

show() {  # STATUS COMMAND: runs the command as it is printed
    printf '\n$ %s\n' "$2"
    sh -c "$2" 2>&1
    status=$?
    [ "$status" = "$1" ] || { echo "exit status $status, expected $1" >&2; exit 1; }
}

if kohort demo 2> "$scratch/refusal"; then
    kept="The sample is now what commands read if you name no cluster."
else
    kept="$(tail -1 "$scratch/refusal")
This tour used a copy of the sample; your groups are unchanged."
    XDG_DATA_HOME=$scratch/data
    export XDG_DATA_HOME
    kohort demo 2> /dev/null || exit 1
fi

show 0 "kohort list"
show 0 "kohort describe fraud --migration"
show 1 "kohort validate-regex '^audit-.*' '^(?!audit).*'"
show 0 "kohort dry-run clickstream --add 1 --compare"
show 0 "kohort plan billing --to cooperative --client java:3.7.0 | head -13"

echo
echo "$kept"
