"""The command lines that both tools are tried on: list, describe, validate-regex, and invalid ones. The scene
`fleet` has a group of every kind (tests/cli/fleet.py), `quiet` the groups of tests/cli/dropin/scenes.py."""

from tests.cli.dropin.harness import Case

UNREADABLE, WRONG = 3, 1


def failing(line: str, status: int = UNREADABLE, scene: str = "quiet") -> Case:
    return Case(line=line, scene=scene, differs=("exit-status", "stack-trace"), status=status)


def helpless(line: str, words: str, status: int = UNREADABLE) -> Case:
    return Case(
        line=line,
        scene="none",
        differs=("own-words", "exit-status", "stack-trace"),
        more=words,
        status=status,
        connects=False,
    )


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
    listed("--list"),
    listed("-list"),
    listed("--list --state"),
    listed("--list --type"),
    listed("--list --type --state"),
    listed("--state --type --list"),
    quiet("--list --state stable"),
    listed("--list --state=Empty,Stable --type"),
    listed("--list --state ' stable , EMPTY '"),
    listed("--list --state empty,"),
    listed("--list --state ,"),
    listed("--list --state ''"),
    listed("--list --state= --state"),
    quiet("--list --state completingrebalance"),
    quiet("--list --state preparingrebalance,assigning --type"),
    quiet("--list --type consumer --state Reconciling,Dead"),
    quiet("--list --state dead"),
    quiet("--list --type consumer"),
    listed("--list --type Classic,CONSUMER --state"),
    listed("--list --type classic --state empty,stable"),
    listed("--list --timeout 20000 words that are ignored"),
    listed("--list --all-groups --all-topics --execute --to-earliest"),
    listed("--list -- --describe"),
    listed("--list=yes -"),
    listed("--list --type -- --members"),
    quiet("--list --state -"),
    quiet("--list --state foo"),
    quiet("--list --state empty,,stable"),
    quiet("--list --state NotReady"),
    quiet("--list --type share"),
    quiet("--list --type classic,generic"),
    failing("--list --state stable --state empty", WRONG),
    failing("--list --type classic --type consumer", WRONG),
    failing("--list --timeout soon", WRONG),
    failing("--list --timeout 9223372036854775808", WRONG),
    failing("--list --shift-by 1.5", WRONG),
    failing("--list --to-offset ''", WRONG),
    failing("--list --by-duration PT1S --by-duration PT2S", WRONG),
    failing("--list --timeout 1000 --timeout 2000", WRONG),
    failing("--list --bootstrap-server {server}", WRONG),
]

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
    quiet("--describe --group {short} --command-config {fine}"),
    quiet("--describe --group {short} --command-config {own_key}"),
    *(
        Case(
            line=f"--describe --group {{short}} --state --command-config {{{file}}}",
            scene="quiet",
            differs=("properties", "exit-status"),
            more=f"{{{file}}}, line {words}",
            status=UNREADABLE,
        )
        for file, words in {
            "unknown_key": "2: 'sasl.pasword' is not a Kafka client property; did you mean sasl.password?",
            "no_text": "1: byte 10 is not UTF-8. Save the file as UTF-8, or write the character as \\uXXXX.",
        }.items()
    ),
    Case(
        line="--describe --group {short} --command-config {no_number}",
        scene="quiet",
        differs=("own-words", "exit-status", "stack-trace"),
        more="{no_number}, line 1: request.timeout.ms: 'soon' is not a positive number of milliseconds.",
        status=UNREADABLE,
    ),
]

STEERING = [
    Case(line=line, scene="steering", differs=("control-characters",))
    for line in ("--describe --group {steering}", "--describe --group {steering} --state")
]

ALL_GROUPS = [Case(line=f"--describe --all-groups{how}", scene="quiet") for how in HOW]

REFUSED_CONNECTION = (
    "127.0.0.1:1: connection refused. Nothing listens on that port: "
    "check host and port, and that the broker runs."
)
NO_CLUSTER = [
    helpless("--bootstrap-server 127.0.0.1:1 --list --timeout 1000", REFUSED_CONNECTION),
    helpless("--bootstrap-server 127.0.0.1:1 --describe --group a --timeout 1000", REFUSED_CONNECTION),
    helpless(
        "--bootstrap-server nocolon --list",
        "'nocolon' is not a broker address: write it as host:port, for example broker-1:9092 or [::1]:9092",
    ),
    helpless(
        "--bootstrap-server localhost:9092 --list --command-config /nowhere/client.properties",
        "/nowhere/client.properties: the file does not exist. Check the path.",
    ),
    *(
        helpless(
            f"--bootstrap-server {server} --delete --all-groups",
            "no bootstrap server is given: write it as host:port, for example broker-1:9092",
            WRONG,
        )
        for server in ("''", "' '")
    ),
    *(
        Case(
            line=f"--bootstrap-server {servers} --list",
            scene="none",
            differs=("exit-status", "stack-trace"),
            status=WRONG,
            connects=False,
        )
        for servers in ("127.0.0.1:1,", ",127.0.0.1:1", "127.0.0.1:1,,127.0.0.1:2", ",", "'127.0.0.1:1, '")
    ),
    helpless(
        "--bootstrap-server 127.0.0.1:1 --list --command-config ''",
        "--command-config is empty: name a properties file, or leave it out",
        WRONG,
    ),
]

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
    refused("--validate-regex='a=b' --timeout soon"),
    refused(
        "--validate-regex '((a{100}){100}){20}'", "regex-warning", "exit-status", status=WRONG,
        more="do not subscribe to it, it would harm the brokers: its repetitions expand to 406,060 instructions, "
        "which cost the broker memory and time without a limit.",
    ),
]  # fmt: skip

USAGE = [
    refused(""),
    refused("--help"),
    refused("--help --list --describe --members"),
    refused("--version", "version"),
    refused("--list --version --type", "version"),
    refused("--list"),
    refused("--describe --group a"),
    refused("--bootstrap-server nowhere:9092"),
    refused("--bootstrap-server nowhere:9092 --timeout 5"),
    refused("--bootstrap-server nowhere:9092 --list --describe --all-groups"),
    refused("--bootstrap-server nowhere:9092 --describe"),
    refused("--bootstrap-server nowhere:9092 --describe --state"),
    refused("--bootstrap-server nowhere:9092 --describe --group a --members --offsets"),
    refused("--bootstrap-server nowhere:9092 --describe --group a --members --state"),
    refused("--bootstrap-server nowhere:9092 --describe --group a --state stable"),
    refused("--bootstrap-server nowhere:9092 --describe --group a --all-groups"),
    refused("--bootstrap-server nowhere:9092 --describe --group a --topic b"),
    refused("--bootstrap-server nowhere:9092 --list --group a"),
    refused("--bootstrap-server nowhere:9092 --list --topic a"),
    refused("--validate-regex a --list --bootstrap-server nowhere:9092"),
    refused("--validate-regex a --validate-regex b"),
    refused("--validate-regex a --describe"),
    misread("--validate-regex"),
    misread("--bootstrap-server nowhere:9092 --list --foo"),
    misread("--bootstrap-server nowhere:9092 --list --foo=bar"),
    misread("--bootstrap-server nowhere:9092 --list -foo"),
    misread("--bootstrap-server nowhere:9092 --lis"),
    misread("--bootstrap-server nowhere:9092 --describe --groups a"),
    misread("--bootstrap-server nowhere:9092 --list ---list"),
    misread("--list --bootstrap-server"),
    misread("--bootstrap-server nowhere:9092 --describe --group"),
    misread("--bootstrap-server nowhere:9092 --list --members"),
    misread(
        "--bootstrap-server nowhere:9092 --delete --group a --state --type --verbose --offsets --members"
    ),
    misread("--bootstrap-server nowhere:9092 --describe --group a --type"),
    misread("--bootstrap-server nowhere:9092 --describe --group a --state a --state b"),
    misread("--version --foo"),
]

CASES = [*LIST, *DESCRIBE, *PROPERTIES, *STEERING, *ALL_GROUPS, *NO_CLUSTER, *SILENT, *REGEX, *USAGE]
