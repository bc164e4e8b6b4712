"""The command lines that both tools are tried on: list, describe, validate-regex, and invalid ones. The scene
`fleet` has a group of every kind (tests/cli/fleet.py), `quiet` the groups of tests/cli/dropin/scenes.py."""

from tests.cli.dropin.harness import Case
from tests.cli.dropin.scenes import LONG

UNREADABLE, WRONG = 3, 1


def failing(line: str, status: int = UNREADABLE, scene: str = "quiet") -> Case:
    return Case(line=line, scene=scene, differs=("exit-status", "stack-trace"), status=status)


def helpless(line: str, words: str, status: int = UNREADABLE) -> Case:
    return Case(
        line=line, scene="none", differs=("own-words", "exit-status", "stack-trace"), more=words,
        status=status, connects=False,
    )  # fmt: skip


def misread(line: str) -> Case:
    return refused(line, "parser-trace")


def refused(line: str, *differs: str, more: str = "", status: int | None = None) -> Case:
    return Case(line=line, scene="none", connects=False, differs=differs, more=more, status=status)


def listed(line: str) -> Case:
    return Case(line=line, scene="quiet", differs=("sorted-rows",))


def quiet(line: str) -> Case:
    return Case(line=line, scene="quiet")


TOO_LONG = "a" * 32_768
HOW = ("", " --offsets --verbose", " --members", " --members --verbose", " --state", " --verbose --state")

LIST = [
    *(listed(f"--list {words}") for words in (
        "--state", "--type", "--type --state", "--state=Empty,Stable --type", "--state ' stable , EMPTY '",
        "--state empty,", "--state ,", "--state ''", "--state= --state", "--type Classic,CONSUMER --state",
        "--type classic --state empty,stable", "--timeout 20000 words that are ignored",
        "--all-groups --all-topics --execute --to-earliest", "-- --describe", "--type -- --members",
    )),
    *(listed(line) for line in ("--list", "-list", "--state --type --list", "--list=yes -")),
    *(quiet(f"--list {words}") for words in (
        "--state stable", "--state completingrebalance", "--state preparingrebalance,assigning --type",
        "--type consumer --state Reconciling,Dead", "--state dead", "--type consumer", "--state -",
        "--state foo", "--state empty,,stable", "--state NotReady", "--type share", "--type classic,generic",
    )),
    *(failing(f"--list {words}", WRONG) for words in (
        "--state stable --state empty", "--type classic --type consumer", "--timeout soon",
        "--timeout 9223372036854775808", "--shift-by 1.5", "--to-offset ''",
        "--by-duration PT1S --by-duration PT2S", "--timeout 1000 --timeout 2000", "--bootstrap-server {server}",
    )),
]  # fmt: skip

DESCRIBE = [
    *(
        quiet(f"--describe --group {{{group}}}{how}")
        for group in ("partial", "completing", "left", "preparing", "reconciling")
        for how in HOW
    ),
    *(
        Case(line=f"--describe --group {{{group}}}{how}")
        for group in ("confluent-cooperative", "consumer-regex", "java-static", "mixed", "simple")
        for how in HOW
    ),
    *(quiet(f"--describe --group {{{group}}}") for group in ("short", "odd", "unused")),
    quiet("--describe --group {odd} --members"),
    quiet("--describe --group {unused} --members"),
    quiet("--describe --group {unused} --state"),
    Case(line="--describe --group {mixed} --group {simple} --group {java-range} --group {simple}"),
    Case(line="--describe --group {mixed} --group {java-static} --members --verbose --members"),
    quiet("-describe -group={short} -state"),
    failing("--describe --group {share}", scene="fleet"),
    failing("--describe --group {streams} --members", scene="fleet"),
    failing("--describe --group {connect}"),
    failing("--describe --group missing"),
    failing("--describe --group missing --state"),
    failing("--describe --group missing --members"),
    failing("--describe --group {short} --group missing"),
    failing("--describe --group ''"),
]

PROPERTIES = [
    *(quiet(f"--describe --group {{short}} --command-config {{{file}}}") for file in ("fine", "own_key")),
    *(
        Case(
            line=f"--describe --group {{short}} {state}--command-config {{{file}}}", scene="quiet", differs=differs,
            more=f"{{{file}}}, line {words}", status=UNREADABLE,
        )
        for file, state, differs, words in (
            ("unknown_key", "--state ", ("properties", "exit-status"),
             "2: 'sasl.pasword' is not a Kafka client property; did you mean sasl.password?"),
            ("no_text", "--state ", ("properties", "exit-status"),
             "1: byte 10 is not UTF-8. Save the file as UTF-8, or write the character as \\uXXXX."),
            ("no_number", "", ("own-words", "exit-status", "stack-trace"),
             "1: request.timeout.ms: 'soon' is not a positive number of milliseconds."),
        )
    ),
]  # fmt: skip

STEERING = [
    Case(line=line, scene="steering", differs=("control-characters",))
    for line in ("--describe --group {steering}", "--describe --group {steering} --state")
]

ALL_GROUPS = [Case(line=f"--describe --all-groups{how}", scene="quiet") for how in HOW]

REFUSED_CONNECTION = (
    "127.0.0.1:1: connection refused. Nothing listens on that port: "
    "check host and port, and that the broker runs."
)
NO_SERVER = "no bootstrap server is given: write it as host:port, for example broker-1:9092"
NO_PORT = "'nocolon' is not a broker address: write it as host:port, for example broker-1:9092 or [::1]:9092"
NO_CLUSTER = [
    *(helpless(f"--bootstrap-server 127.0.0.1:1 {line} --timeout 1000", REFUSED_CONNECTION)
      for line in ("--list", "--describe --group a")),
    helpless("--bootstrap-server nocolon --list", NO_PORT),
    helpless(
        "--bootstrap-server localhost:9092 --list --command-config /nowhere/client.properties",
        "/nowhere/client.properties: the file does not exist. Check the path.",
    ),
    *(helpless(f"--bootstrap-server {server} --delete --all-groups", NO_SERVER, WRONG) for server in ("''", "' '")),
    *(refused(f"--bootstrap-server {servers} --list", "exit-status", "stack-trace", status=WRONG)
      for servers in ("127.0.0.1:1,", ",127.0.0.1:1", "127.0.0.1:1,,127.0.0.1:2", ",", "'127.0.0.1:1, '")),
    helpless(
        "--bootstrap-server 127.0.0.1:1 --list --command-config ''",
        "--command-config is empty: name a properties file, or leave it out", WRONG,
    ),
]  # fmt: skip

SILENT = [
    Case(
        line=f"--bootstrap-server {{silent}} {line} --timeout 500",
        scene="silent",
        differs=("own-words", "exit-status", *traced),
        more="{silent}: timed out waiting for the answer to ApiVersions. "
        "Check that the host is up and no firewall drops the packets, or allow more time.",
        status=UNREADABLE,
        connects=False,
    )
    for line, traced in (
        ("--list", ("stack-trace",)),
        ("--describe --group a --members", ("stack-trace",)),
        ("--reset-offsets --group a --topic b --to-latest --execute", ("stack-trace",)),
        ("--delete-offsets --group a --topic b:0", ()),
        ("--delete --group a", ()),
    )
]
"""A broker that has stopped in its tracks."""

DOCUMENTED = (
    ("--describe --validate-regex 'o.*|t'", 0, "`o.*|t` is valid.\nIt matches 2 of 4 topics: orders, t"),
    ("--verify-regex nothing", 0, "`nothing` is valid.\nIt matches 0 of 4 topics."),
    ("--describe --validate-regex 'a['", WRONG, "`a[` is invalid: missing closing ]."),
    (
        "--describe --group {partial} --group {unused} --verify-regex 'o.*|t'", 0,
        "`o.*|t` is valid.\nIt matches 2 of 4 topics: orders, t\nGroup partial: would read the same topics.\n"
        "Group unused: its subscriptions are not known: it has no members, or their bytes cannot be read.",
    ),
    (
        "--describe --group {reconciling} --validate-regex '[at].*'", 0,
        f"`[at].*` is valid.\nIt matches 2 of 4 topics: {LONG}, t\n"
        f"Group reconciling: would gain 2 topics: {LONG}, t; would lose 1 topic: orders.",
    ),
    (
        "--describe --group missing --validate-regex t", UNREADABLE,
        "`t` is valid.\nIt matches 1 of 4 topics: t\n\nError: missing: no such group",
    ),
)  # fmt: skip
"""What KIP-848 describes (C63), our exit status and what ours prints; the tool refuses all of it."""

REGEX = [
    *(
        refused(f"--validate-regex {regex}")
        for regex in ("'^orders-.*'", "''", "'a|b'", "'(?i)\\pL+'", "'\\Q[\\E'", "日本", "--list", "'a%sb'")
    ),
    *(
        refused(f"--validate-regex '{regex}'", "exit-status", status=WRONG)
        for regex in ("a[", "(?=a)", "a{1001}", "*", "(a", "\\8", "[z-a]", "(?P<n", "a**")
    ),
    *(
        refused(
            f"--validate-regex {regex}", "regex-reason", "exit-status", status=WRONG,
            more=f"The regular expression `{regex}` is invalid: {why}.",
        )
        for regex, why in (
            ("a)", "unexpected )"),
            (TOO_LONG, "longer than 32767 bytes, the maximum of a record key"),
        )
    ),
    *(
        Case(line=f"--validate-regex {regex}", scene="quiet", differs=("regex-preview",), more=f"It matches {topics}")
        for regex, topics in (("'o.*|t'", "2 of 4 topics: orders, t"), ("nothing", "0 of 4 topics."))
    ),
    *(
        Case(
            line=line, scene="quiet", differs=("document-regex",), status=status,
            more=f"The regular expression {more}",
        )
        for line, status, more in DOCUMENTED
    ),
    refused(
        "--verify-regex 'a['", "document-regex", status=WRONG,
        more="The regular expression `a[` is invalid: missing closing ].",
    ),
    refused("--validate-regex='a=b' --timeout soon"),
    refused(
        "--validate-regex '((a{100}){100}){20}'", "regex-warning", "exit-status", status=WRONG,
        more="do not subscribe to it, it would harm the brokers: its repetitions expand to 406,060 instructions, "
        "which cost the broker memory and time without a limit.",
    ),
]  # fmt: skip

USAGE = [
    refused("", "document-regex"),
    refused("--help", "document-regex"),
    refused("--help --list --describe --members", "document-regex"),
    refused("--version", "version"),
    refused("--list --version --type", "version"),
    refused("--list"),
    refused("--describe --group a"),
    refused("--validate-regex a --list --bootstrap-server nowhere:9092"),
    refused("--validate-regex a --validate-regex b"),
    refused("--validate-regex a --describe"),
    misread("--validate-regex"),
    misread("--list --bootstrap-server"),
    misread("--version --foo"),
    *(refused(f"--bootstrap-server nowhere:9092 {line}") for line in (
        "", "--timeout 5", "--list --describe --all-groups", "--describe", "--describe --state",
        "--describe --group a --members --offsets", "--describe --group a --members --state",
        "--describe --group a --state stable", "--describe --group a --all-groups",
        "--describe --group a --topic b", "--list --group a", "--list --topic a",
    )),
    *(misread(f"--bootstrap-server nowhere:9092 {line}") for line in (
        "--list --foo", "--list --foo=bar", "--list -foo", "--lis", "--describe --groups a", "--list ---list",
        "--describe --group", "--list --members",
        "--delete --group a --state --type --verbose --offsets --members", "--describe --group a --type",
        "--describe --group a --state a --state b",
    )),
]  # fmt: skip

CASES = [*LIST, *DESCRIBE, *PROPERTIES, *STEERING, *ALL_GROUPS, *NO_CLUSTER, *SILENT, *REGEX, *USAGE]
