"""The command lines about resets and deletions that both tools are tried on; the scene is that of `change_scene.py`."""

from tests.cli.dropin.changing import Change
from tests.kafka.jars import kafka_version

USAGE, UNREADABLE, REFUSED = 1, 3, 4
ABSENT = "org.apache.kafka.common.errors.GroupIdNotFoundException: The group id does not exist."
FAILED = "\nError: Executing consumer group command failed due to "
SHOWN = "--reset-offsets --group {payments} --topic {orders} --dry-run"
EXECUTED = "--reset-offsets --group {payments} --topic {orders} --execute"
FROM_FILE = "--reset-offsets --group {payments} --from-file {file} --execute"
BOTH_FROM_FILE = "--reset-offsets --group {payments} --group {billing} --from-file {file} --execute"


def reset(rest: str) -> Change:
    return Change(line=f"--reset-offsets {rest}")


def both(line: str) -> Change:
    """Any other command line that both answer alike, down to the exit status."""
    return Change(line=line)


def failing(line: str, status: int = UNREADABLE, file: str | bytes = "", *, traced: bool = True) -> Change:
    """A command line that fails: the tool exits with 0, and prints where in Java it failed."""
    differs = ("exit-status", "stack-trace") if traced else ("exit-status",)
    return Change(line=line, differs=differs, status=status, file=file)


def explained(line: str, more: str, status: int = UNREADABLE) -> Change:
    """A command line that fails; why, the tool says in its stack trace alone."""
    differs = ("exit-status", "stack-trace", "reason")
    return Change(line=line, differs=differs, status=status, more=more)


def plainly(line: str, status: int = UNREADABLE) -> Change:
    return failing(line, status, traced=False)


def failing_reset(rest: str, status: int = UNREADABLE) -> Change:
    return failing(f"--reset-offsets {rest}", status)


def active(rest: str) -> Change:
    return plainly(f"--reset-offsets {rest}", REFUSED)


def untimely(text: str, shown: str) -> Change:
    """A time that ours refuses, with what it shows of it."""
    return Change(
        line=f"{EXECUTED} --to-datetime {text}",
        differs=("time", "exit-status"),
        status=USAGE,
        says=f'{FAILED}java.text.ParseException: Unparseable date: "{shown}"\n',
    )


def from_file(content: str | bytes, scope: str = "--group {payments}", more: str = "--dry-run") -> Change:
    return Change(line=f"--reset-offsets {scope} --from-file {{file}} {more}", file=content)


def read_as(instead: str, content: str, *differs: str) -> Change:
    """A file that ours reads as the tool reads another one."""
    return Change(line=FROM_FILE, file=content, differs=differs, like=FROM_FILE, like_file=instead)


def bad_file(content: str | bytes, why: str) -> Change:
    """A file that ours refuses; the tool takes it in part, or names a Java class."""
    return Change(
        line=FROM_FILE,
        file=content,
        differs=("file", "exit-status"),
        status=UNREADABLE,
        says=f"{FAILED}{{file}}{why}\n",
    )


SCENARIOS = [
    reset(f"--group {{payments}} {scope} {scenario}")
    for scope in ("--topic {orders} --dry-run", "--all-topics --execute")
    for scenario in (
        "--to-earliest", "--to-latest", "--to-current", "--to-offset 7", "--to-offset 15", "--to-offset -3",
        "--to-datetime 2026-01-01T00:07:30.000", "--to-datetime 2026-01-01T01:07:30.000+01:00",
        "--to-datetime 2027-01-01T00:00:00.000", "--by-duration {ago}", "--by-duration PT1S",
    )
]  # fmt: skip
SHIFTS = [
    reset("--group {payments} --all-topics --shift-by 2 --execute"),
    reset("--group {payments} --all-topics --shift-by -5 --execute"),
    reset("--group {payments} --topic {orders}:0,2 --shift-by 0 --dry-run"),
    reset("--group {payments} --topic {orders}:2 --shift-by 9223372036854775800 --dry-run"),
    reset("--group {payments} --topic {orders} --shift-by 1 --execute"),
    reset("--group {absent} --topic {orders}:0 --shift-by 1 --execute"),
]
AT, AGO = "--to-datetime", "--by-duration"
TIMES = [
    *(both(f"{SHOWN} {AT} {text}") for text in (
        "2026-01-01T00:07:30.5", "2026-01-01T00:07:00.000Z", "2026-01-01T05:37:30.000+05:30", "1970-01-01T00:00:00.000",
        "' 2026- 01-01T\t00:07:30.000 +01:00'", "'2026-01-01T00:07:30.000 '", "٢٠٢٦-٠١-٠١T00:07:30.000",
        "2026-001-1T000:7:030.00005",
    )),
    *(both(f"{SHOWN} {AGO} {text}") for text in ("P9000D", "-PT-1,5S", "-P1D")),
    *(failing(f"{EXECUTED} {AT} {text}", USAGE) for text in (
        "2026-01-01", "2026-01-01T00:07:30", "2026-13-01T00:07:30.000", "2026-01-01T00:07:30.000+25:00",
        "'2026-01-01T00:07:30.000 in the morning'", "'yesterday T'", "T", "''",
    )),
    *(failing(f"{EXECUTED} {AGO} {text}", USAGE) for text in (
        "P1Y", "PT", "1D", "''", "P1W", "P106751991167301D", "-P999999999999D", "P999999999999D",
        "-PT9999999999999999S", "PT9999999999999999S", "PT9223372036854775808S", "PT153722867280912931M",
        "PT92233720368547758070H", "PT1H9223372036854775807S",
    )),
    *(untimely(text := f"2026-01-01T00:07:30.000{zone}", text) for zone in ("+0130", "+14:01", "+00:60", "Zulu")),
    *(untimely(text, f"{text}Z") for text in ("20260-01-01T00:07:30.000", "292278993-01-01T00:07:30.000")),
    *(Change(line=f"{SHOWN} {when}", differs=("time",), like=f"{SHOWN} {AT} 1970-01-01T00:00:00.000") for when in (
        f"{AT} 1969-12-31T23:59:59.999", f"{AT} 1969-12-31T23:59:59.998", f"{AT} 1960-01-01T00:00:00.000",
        f"{AGO} P99999D", f"{AGO} P99999999999D",
    )),
]  # fmt: skip
DIGITS_AND_LIMITS = [
    reset("--group {payments} --topic {orders}:٣,0 --to-offset ٥ --timeout ٣٠٠٠٠ --execute"),
    reset("--group {payments} --topic {orders}:0 --shift-by -٢ --execute"),
    *(
        Change(
            line=f"{line} --timeout {timeout}",
            differs=("stack-trace", "timeout") if "reset" in line else ("timeout",),
            like=line,
        )
        for line in (
            "--reset-offsets --group {payments} --topic {orders}:0 --to-latest --execute",
            "--delete --group {payments}",
        )
        for timeout in ("2147483648", "9223372036854775807")
    ),
]
SCOPES = [
    reset("--group {absent} --topic {audits} --topic {long} --topic {orders} --to-current --dry-run"),
    reset("--group {payments} --to-latest --execute"),
    reset("--topic {orders} --to-latest --execute"),
    *(
        Change(
            line=f"--reset-offsets --group {{payments}} --topic {twice} {scenario}",
            differs=("stack-trace", "partition-twice"),
            like=f"--reset-offsets --group {{payments}} --topic {once} {scenario}",
        )
        for twice, once, scenario in (
            ("{orders}:1,1", "{orders}:1", "--to-offset 7 --execute"),
            ("{orders}:1,01,0", "{orders}:1,0", "--to-current --dry-run"),
            ("{orders}:2 --topic {orders}", "{orders}", "--to-latest --execute"),
        )
    ),
    *(reset("--group {payments} --topic " + rest) for rest in (
        "{orders}:1 --to-offset 6 --execute", "{orders}:0,2, --to-latest --dry-run",
        "{orders}:+1 --to-latest --dry-run", "{orders}:, --to-latest --execute",
        "{orders}:3 --topic {audits}:0,1 --topic {long} --to-latest --dry-run",
        "{orders} --topic {orders} --to-latest --dry-run", "{audits} --topic {long} --to-current --execute",
        "{long} --topic {audits} --to-offset 99 --dry-run",
        "{audits} --topic {orders}:1,2 --dry-run --to-datetime 2027-01-01T00:00:00.000",
        "{audits}:7,3 --all-topics --to-earliest --dry-run", "{orders}:x --to-latest --execute",
        "{orders}:1,,2 --to-latest --execute", "{orders}:2147483648 --to-latest --execute",
        "{orders}: --to-latest --execute", "{orders}:1:2 --to-latest --execute", ": --to-latest --execute",
        "{orders} --execute", "{orders} --to-latest", "{orders} --to-latest --to-earliest --execute",
        "{orders} --to-latest --dry-run --execute",
    )),
    *(failing_reset("--group {payments} --topic " + rest) for rest in (
        "nowhere --to-latest --execute", "nowhere:0 --to-latest --execute",
        "{orders} --topic nowhere --to-latest --execute",
        "{orders}:3,4,17 --topic {audits}:99 --to-latest --execute", "{orders}:-1 --to-latest --execute",
        "'no topic!' --to-latest --execute", "'no topic!:0' --to-latest --execute", "'' --to-latest --execute",
        ":0 --to-latest --execute",
    )),
]  # fmt: skip
GROUPS = [
    reset("--group {absent} --topic {orders} --to-earliest --dry-run"),
    reset("--group {absent} --topic {orders} --to-offset 6 --execute"),
    reset("--group {absent} --all-topics --to-latest --execute"),
    reset("--group {rested} --topic {orders} --to-latest --execute"),
    reset("--group {rested} --all-topics --shift-by -1 --dry-run"),
    reset("--group {payments} --group {billing} --all-topics --to-latest --execute"),
    reset("--group {absent} --group {payments} --group {billing} --topic {orders}:0 --to-earliest --execute"),
    reset("--group {payments} --group {payments} --topic {orders} --to-latest --execute"),
    reset("--group {odd} --group {payments} --all-topics --to-earliest --dry-run"),
    *(
        active(f"--group {group} --topic {{orders}} --to-earliest {how}")
        for group in ("{classic}", "{consumer}")
        for how in ("--dry-run", "--execute", "--execute --export")
    ),
    active("--group {classic} --topic nowhere --to-earliest --execute"),
    active("--group {classic} --group {payments} --group {consumer} --topic {orders} --to-latest --execute"),
    active("--group {payments} --group {classic} --all-topics --to-latest --export"),
    # What was done to the groups before the one that fails stays done.
    reset("--group {payments} --group {billing} --all-topics --topic {orders}:3 --shift-by 1 --execute"),
    reset(
        "--group {absent} --group {payments} --group {billing} --topic {orders}:1,2 --shift-by 1 --execute"
    ),
    failing_reset("--group {connect} --group {payments} --topic {orders} --to-latest --execute"),
    explained(
        "--reset-offsets --group {share} --group {billing} --topic {orders}:0,1 --to-latest --execute",
        f"{{orders}}-0: {ABSENT}\n{{orders}}-1: {ABSENT}",
    ),
    failing_reset("--group {connect} --topic {orders} --to-latest --execute"),
    explained(
        "--reset-offsets --group {share} --topic {orders}:2 --to-latest --execute", f"{{orders}}-2: {ABSENT}"
    ),
    reset("--group {share} --topic {orders} --to-latest --dry-run"),
    failing_reset("--group '' --topic {orders} --to-latest --execute"),
    active("--all-groups --topic {orders}:0 --to-latest --execute"),
    active("--all-groups --all-topics --to-earliest --export --dry-run"),
    reset("--all-groups --group {payments} --topic {orders} --to-latest --execute"),
]
EXPORTS = [
    reset("--group {payments} --all-topics --to-current --export --dry-run"),
    reset("--group {payments} --topic {long}:4 --to-latest --export --execute"),
    reset("--group {payments} --group {odd} --all-topics --to-current --export --dry-run"),
    reset("--group {payments} --group {payments} --topic {orders} --to-current --export --dry-run"),
    reset("--group {absent} --all-topics --to-current --export --dry-run"),
    reset("--group {payments} --topic {orders} --to-offset 15 --export"),
    *(
        reset(f"--group {name} --group {{billing}} --topic {{long}}:0 --to-latest --export --dry-run")
        for name in (
            '\'a "b" c\'', "a,b", "a#b", "\"a'b\"", "a+b", "a-b", "a.b", "'a\\b'", "'a;b'", "ä", "a~b",
            "abcdefghijklmnopqrstuvwx", "abcdefghijklmnopqrstuvwxy",
        )
    ),
]  # fmt: skip
READ_TWICE = ("stack-trace",) if kafka_version() == "4.3.1" else ()
"""Before 4.4 the tool first reads a file as if its lines had no groups, and prints why it cannot."""
TWO_LINES = "{orders},0,5\n{orders},1,6\n"
FILES = [
    from_file("{orders},0,5\n{orders},1,1\n{orders},2,99\n", more="--execute"),
    from_file("{orders},0,5\n{orders},1,6", more="--execute --export"),
    from_file("{orders},0,5\r\n{orders},1,6\r\n"),
    from_file("{orders},0,5\n\n\n"),
    from_file('"{orders}","0","5"\n'),
    from_file("{orders}, 0 ,+5\n"),
    from_file("{orders},0,5\n{orders},0,7\n", more="--execute"),
    from_file("{orders},0,5\n", more="--topic {audits} --execute"),
    from_file("{orders},0,5\n", more="--all-topics --execute"),
    from_file("{orders},0,5\n", more=""),
    from_file("{orders},0,5\n", scope="--group {absent}", more="--execute"),
    *(
        Change(line=line, file="{payments},{orders},0,5\n{billing},{orders},0,1\n", differs=READ_TWICE)
        for line in (FROM_FILE, BOTH_FROM_FILE)
    ),
    failing(BOTH_FROM_FILE, file="{payments},{orders},0,5\n", traced=bool(READ_TWICE)),
    failing(
        FROM_FILE.replace("{payments}", "{billing}"),
        file="{payments},{orders},0,5\n",
        traced=bool(READ_TWICE),
    ),
    failing(BOTH_FROM_FILE, file="{orders},0,5\n", traced=False),
    failing(FROM_FILE.replace("{payments}", "{classic}"), REFUSED, "{orders},0,5\n", traced=False),
    failing(
        "--reset-offsets --group {payments} --topic nowhere --from-file {file} --execute",
        file="{orders},0,5\n",
    ),
    *(failing(FROM_FILE, file=content) for content in ("nowhere,0,5\n", "no topic,0,5\n", b"\xff\xfe,0,5\n")),
    *(
        explained(f"--reset-offsets --group {{payments}} --from-file {file} --execute", f"{file}: {why}")
        for file, why in (("/no/such/file", "No such file or directory"), ("/", "Is a directory"))
    ),
    failing("--reset-offsets --group {payments} --from-file '' --execute", 1),
    read_as(TWO_LINES, "{orders},0,5\n\n{orders},1,6\n", "stack-trace", "file"),
    read_as(TWO_LINES, f"\n \n{TWO_LINES}", "stack-trace", "file"),
    read_as("{orders},0,5\n", "\ufeff{orders},0,5\n", "stack-trace", "file"),
    read_as(TWO_LINES, "{orders},0,5\r{orders},1,6\r", "file"),
    bad_file("{orders},0,5,\n", ", line 1: '' is not a valid offset"),
    bad_file("{orders},٠,5\n", ", line 1: '٠' is not a valid partition"),
    bad_file("", ": contains no offsets"),
    bad_file(
        "{orders},0\n", ", line 1: 2 fields; expected topic,partition,offset or group,topic,partition,offset"
    ),
    bad_file("{orders},,\n", ", line 1: '' is not a valid partition"),
    bad_file(
        "{orders},0,5\n{payments},{orders},1,6\n", ", line 2: 4 fields; expected topic,partition,offset"
    ),
    bad_file(
        "topic,partition,offset\n{orders},0,5\n",
        ", line 1: 'partition' is not a valid partition; this file has no header",
    ),
    bad_file("{orders},0,5\n{orders},1,1.5\n", ", line 2: '1.5' is not a valid offset"),
    bad_file("{orders},0,-1\n", ", line 1: '-1' is not a valid offset"),
    bad_file("{orders},0,9223372036854775808\n", ", line 1: '9223372036854775808' is not a valid offset"),
    bad_file("{orders},2147483648,0\n", ", line 1: '2147483648' is not a valid partition"),
    bad_file('"{orders},0,5\n', ", line 1: unexpected end of data"),
    Change(
        line=f"{FROM_FILE} --timeout 1500",
        file="{orders},0,5\n{orders},9,5\n",
        differs=("file-partition", "exit-status"),
        status=UNREADABLE,
        says=f'{FAILED}The partitions "{{orders}}-9" do not exist\n',
    ),
]
DELETED_OFFSETS = [
    both("--delete-offsets --group {rested} --topic {orders}"),
    both("--delete-offsets --group {billing} --topic {long} --topic {orders}"),
    both("--delete-offsets --group {classic} --topic {audits}:0"),
    plainly("--delete-offsets --group {classic} --topic {orders}", REFUSED),
    plainly("--delete-offsets --group {consumer} --topic {orders}:1 --topic {audits}:0,10", REFUSED),
    plainly("--delete-offsets --group {connect} --topic {orders}:1", REFUSED),
    plainly("--delete-offsets --group {share} --topic {orders}:0"),
    plainly("--delete-offsets --group {absent} --topic {orders}:0"),
    plainly("--delete-offsets --group {absent} --topic nowhere"),
    plainly("--delete-offsets --group '' --topic {orders}:0"),
    failing("--delete-offsets --group {payments} --group {billing} --topic {orders}", USAGE),
    both("--delete-offsets --group {payments}"),
    both("--delete-offsets --topic {orders}"),
    *(both("--delete-offsets --group {payments} --topic " + rest) for rest in (
        "{orders}", "{orders}:0,3 --topic {audits} --topic {audits}:1", "{orders}:1,1", "{orders}:x",
        "{orders}:",
    )),
    *(plainly("--delete-offsets --group {payments} --topic " + rest) for rest in (
        "nowhere", "nowhere --topic {orders}", "nowhere:0 --topic {orders}:0,9",
        "'no topic!' --topic {orders}:0", "''", ":0", "{orders}:-1",
    )),
]  # fmt: skip
DELETED_GROUPS = [
    both("--delete --group {payments}"),
    both("--delete --group {payments} --group {billing} --group {odd}"),
    both("--delete --group {payments} --group {payments}"),
    both("--delete --group {rested}"),
    both("--delete --group {payments} --topic {orders}"),
    both("--delete --group {payments} --execute"),
    both("--delete"),
    plainly("--delete --group {absent}"),
    plainly("--delete --group ''"),
    plainly("--delete --group {payments} --group {absent} --group {billing}"),
    plainly("--delete --group {classic}", REFUSED),
    plainly("--delete --group {consumer} --group {payments} --group {absent}", REFUSED),
    plainly("--delete --group {share} --group {connect} --group {billing}", REFUSED),
    plainly("--delete --all-groups", REFUSED),
]
CASES: list[Change] = [
    *SCENARIOS, *SHIFTS, *TIMES, *DIGITS_AND_LIMITS, *SCOPES, *GROUPS, *EXPORTS, *FILES, *DELETED_OFFSETS,
    *DELETED_GROUPS,
]  # fmt: skip
