"""The command lines on which kohort-share-groups and kafka-share-groups.sh are compared; CHANGING change the groups
`shared` and `absent` of modern_scene.py."""

from functools import partial

from tests.cli.dropin.changing import Change
from tests.cli.dropin.harness import Case

UNREADABLE, REFUSED, WRONG = 3, 4, 1
shares = partial(Case, program="share-groups", scene="modern")
failing = partial(shares, differs=("exit-status", "stack-trace"), status=UNREADABLE)
quiet = partial(shares, differs=("exit-status",), status=UNREADABLE)
refused = partial(Case, program="share-groups", scene="none", connects=False)
nowhere = "--bootstrap-server nowhere:1"

CASES = [
    *(shares(line=f"--list {words}") for words in (
        "", "--state", "--state empty", "--state Stable,dead", "--state ''", "--state NotReady", "--timeout 20000",
    )),
    *(shares(line=f"--describe --group {{{group}}} {words}")
      for group in ("sharing", "shared")
      for words in ("", "--verbose", "--members", "--members --verbose", "--state", "--state --verbose")),
    shares(line="--describe --group {shared} --group {sharing} --offsets --verbose"),
    shares(line="--describe --all-groups --state"),
    failing(line="--describe --group missing"),
    failing(line="--describe --group {counting} --members"),
    failing(line="--list --state stable --state empty", status=WRONG),
    failing(line="--list --timeout soon", status=WRONG),
    *(shares(line=f"--reset-offsets --group {{shared}} --dry-run {words}") for words in (
        "--all-topics --to-current", "--topic {orders}:0,2 --to-latest --export", "--topic {orders} --to-offset 2",
        "--topic {orders} --to-offset 99", "--topic {orders} --to-datetime 2026-01-01T00:00:00.000",
        "--topic {orders}:x --to-earliest", "--topic {orders}:1:2 --to-earliest",
    )),
    shares(line="--reset-offsets --group {sharing} --topic {orders} --to-earliest --execute"),
    shares(line="--reset-offsets --group missing --topic {orders} --to-latest --dry-run"),
    failing(line="--reset-offsets --group {shared} --topic nope --to-latest --dry-run"),
    failing(line="--reset-offsets --group {shared} --topic {orders}:9 --to-latest --dry-run"),
    failing(line="--reset-offsets --group a --group b --topic {orders} --to-latest --dry-run", status=WRONG),
    quiet(line="--delete-offsets --group missing --topic {orders}"),
    quiet(line="--delete-offsets --group {sharing} --topic {orders} --topic nope", status=REFUSED),
    quiet(line="--delete --group {sharing}", status=REFUSED),
    quiet(line="--delete --group missing"),
    *(refused(line=line) for line in ("", "--help", "--list", f"{nowhere} --list --describe --all-groups", nowhere)),
    *(refused(line=f"{nowhere} {line}") for line in (
        "--describe", "--describe --group a --members --state", "--describe --group a --state stable",
        "--describe --group a --state a --state b",
        "--delete", "--delete --group a --all-groups", "--delete --group a --all-topics", "--delete-offsets --group a",
        "--reset-offsets", "--reset-offsets --dry-run --execute", "--reset-offsets --execute",
        "--reset-offsets --execute --group a", "--reset-offsets --execute --group a --topic t",
        "--reset-offsets --execute --group a --topic t --all-topics",
        "--reset-offsets --execute --group a --topic t --from-file f",
        "--reset-offsets --execute --group a --topic t --to-latest --to-earliest", "--list --group a",
        "--describe --group a --topic t", "--describe --group a --all-groups",
    )),
    *(refused(line=line, differs=("parser-trace",)) for line in (
        "--nope", f"{nowhere} --list --members", f"{nowhere} --describe --group",
        f"{nowhere} --delete --state --offsets --verbose --members",
    )),
    shares(
        line="--list --command-config /nowhere", differs=("own-words", "exit-status", "stack-trace"),
        status=UNREADABLE, more="/nowhere: the file does not exist. Check the path.",
    ),
    refused(line="--version", differs=("version",)),
]  # fmt: skip

change = partial(Change, program="share-groups", scene="modern")
CHANGING = [
    *(change(line=f"--reset-offsets --group {{{group}}} --execute {words}") for group, words in (
        ("shared", "--all-topics --to-latest"), ("shared", "--topic {orders}:1 --to-offset 2 --export"),
        ("absent", "--topic {orders} --to-earliest"),
    )),
    change(line="--reset-offsets --group {shared} --execute --from-file {file}", file="{orders},0,3\n{orders},2,99\n"),
    change(line="--delete-offsets --group {shared} --topic {orders}"),
    change(line="--delete --group {shared}"),
    change(
        line="--delete --group {shared} --group missing --group {shared}",
        differs=("exit-status",), status=UNREADABLE,
    ),
]  # fmt: skip
