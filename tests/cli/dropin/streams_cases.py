"""The command lines on which kohort-streams-groups and kafka-streams-groups.sh are compared; CHANGING change the group
`rested` of modern_scene.py."""

from functools import partial

from tests.cli.dropin.changing import Change
from tests.cli.dropin.harness import Case

UNREADABLE, REFUSED = 3, 4
streams = partial(Case, program="streams-groups", scene="modern")
failing = partial(streams, differs=("stack-trace",))
quiet = partial(streams, differs=("exit-status",), status=UNREADABLE)
refused = partial(Case, program="streams-groups", scene="none", connects=False)
nowhere = "--bootstrap-server nowhere:1"

CASES = [
    *(streams(line=f"--list {words}") for words in (
        "", "--state", "--state empty", "--state Stable,notready", "--state ''", "--state Preparing",
        "--timeout 20000", "--timeout soon", "--timeout 1 --timeout 2",
    )),
    *(streams(line=f"--describe --group {{counting}} {words}") for words in (
        "", "--verbose", "--offsets", "--members", "--members --verbose", "--state", "--state --verbose", "--topology",
    )),
    streams(line="--describe --group {counting} --group {counting} --state"),
    *(failing(line=f"--describe --group {group}") for group in ("missing", "{sharing} --members")),
    failing(line="--describe --group {counting} --group missing --state"),
    quiet(line="--reset-offsets --group {counting} --all-input-topics --to-earliest --dry-run", status=REFUSED),
    quiet(line="--reset-offsets --group missing --input-topic {orders} --to-latest --dry-run"),
    failing(line="--reset-offsets --group missing --all-input-topics --to-latest --dry-run"),
    failing(line="--reset-offsets --group missing --input-topic nope --to-latest --dry-run"),
    failing(line="--reset-offsets --group missing --input-topic {orders}:9 --to-latest --dry-run"),
    *(streams(line=f"--reset-offsets --group missing --dry-run {words}") for words in (
        "--to-latest", "--input-topic {orders}:x --to-latest",
    )),
    quiet(line="--delete-offsets --group missing --input-topic {orders}"),
    failing(line="--delete-offsets --group missing --all-input-topics"),
    quiet(line="--delete-offsets --group {counting} --input-topic {orders} --input-topic nope", status=REFUSED),
    quiet(line="--delete --group {counting}", status=REFUSED),
    quiet(line="--delete --group missing --delete-all-internal-topics"),
    streams(
        line="--list --command-config /nowhere", differs=("own-words", "stack-trace"),
        more="/nowhere: the file does not exist. Check the path.",
    ),
    *(refused(line=line) for line in ("", "--help", "--list", f"{nowhere} --list --describe --all-groups", nowhere)),
    *(refused(line=f"{nowhere} {line}") for line in (
        "--describe", "--describe --group a --members --topology", "--describe --group a --state stable",
        "--delete", "--delete --group a --all-groups", "--delete --group a --input-topic t",
        "--delete-offsets --group a",
        "--delete-offsets --group a --group b --all-input-topics", "--reset-offsets",
        "--reset-offsets --dry-run --execute", "--reset-offsets --execute",
        "--reset-offsets --execute --all-groups --to-latest --shift-by 1", "--list --group a", "--list --dry-run",
        "--list --describe --group a --members", "--describe --group a --input-topic t",
        "--list --delete-all-internal-topics", "--reset-offsets --dry-run --group a --delete-all-internal-topics",
        "--delete --group a --delete-internal-topic t",
    )),
    *(refused(line=line, differs=("parser-trace",)) for line in (
        "--nope", f"{nowhere} --list --members", f"{nowhere} --describe --group",
        f"{nowhere} --delete --state --offsets --topology --verbose --members",
    )),
    refused(line="--version", differs=("version",)),
]  # fmt: skip

change = partial(Change, program="streams-groups", scene="modern")
CHANGING = [
    *(change(line=f"--reset-offsets --group {{rested}} {words}") for words in (
        "--all-input-topics --to-latest --execute", "--input-topic {orders}:0,2 --shift-by 2 --execute --export",
        "--input-topic {orders} --to-offset 99 --execute", "--all-input-topics --to-current --dry-run",
        "--input-topic {orders} --to-earliest --execute --delete-all-internal-topics",
        "--input-topic {orders}:1 --to-earliest --execute --delete-internal-topic {changelog}",
        "--all-input-topics --by-duration P300D --dry-run --export",
        "--all-input-topics --to-datetime 2026-01-01T00:00:00.000 --dry-run", "--all-input-topics --dry-run",
    )),
    change(line="--reset-offsets --group {rested} --execute --from-file {file}", file="{orders},0,3\n{orders},2,0\n"),
    change(line="--describe --group {rested}"),
    change(line="--describe --group {rested} --state --verbose"),
    change(line="--delete-offsets --group {rested} --all-input-topics"),
    change(line="--delete-offsets --group {rested} --input-topic {orders}:1"),
    change(line="--delete --group {rested}"),
    change(line="--delete --group {rested} --delete-all-internal-topics"),
    change(line="--delete --group {rested} --group missing", differs=("exit-status",), status=UNREADABLE),
]  # fmt: skip
