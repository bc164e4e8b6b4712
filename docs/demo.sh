# The main job on the embedded sample: list, describe, validate-regex, dry-run, plan. `make demo` runs it.
set -u
XDG_DATA_HOME=$(mktemp -d)
export XDG_DATA_HOME
trap 'rm -rf "$XDG_DATA_HOME"' EXIT

run() {
    printf '\n$ %s\n' "$*"
    "$@"
    status=$?
    [ "$status" = "$expected" ] || { echo "exit status $status, expected $expected" >&2; exit 1; }
}

expected=0
run kohort demo
run kohort list
run kohort describe checkout --members --verbose
run kohort validate-regex '^audit-.*'
expected=1
run kohort validate-regex '^(?!audit).*'
expected=0
run kohort dry-run billing --assignor roundrobin
run kohort dry-run billing --assignor range --add 1
run kohort plan billing --to cooperative --client java:3.7.0 --output markdown
run kohort describe search-indexer --migration
run kohort plan search-indexer --to consumer --client librdkafka:2.15.0 --output markdown
expected=1
run kohort plan legacy-etl --to consumer --client java:4.1.0
