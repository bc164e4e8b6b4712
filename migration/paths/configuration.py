"""Lines of configuration, in the syntax of each library.

Sources: the documentation and code of each library's options, and Connect's prefixes `consumer.override.` of a
connector and `consumer.` of the workers (runtime.Worker.baseConsumerConfigs).
"""

from collections.abc import Callable, Mapping, Sequence

from migration.client_config import JAVA_CLASSES, LIBRARIES_WITH_FILES
from migration.clients import LIBRARIES

_JAVA = {name: java_class for java_class, name in JAVA_CLASSES.items()}
_FRANZ_GO = {
    "range": "kgo.RangeBalancer()",
    "roundrobin": "kgo.RoundRobinBalancer()",
    "sticky": "kgo.StickyBalancer()",
    "cooperative-sticky": "kgo.CooperativeStickyBalancer()",
}
_SARAMA = {
    "range": "sarama.NewBalanceStrategyRange()",
    "roundrobin": "sarama.NewBalanceStrategyRoundRobin()",
    "sticky": "sarama.NewBalanceStrategySticky()",
}
_KAFKA_PYTHON = {
    "range": "RangePartitionAssignor",
    "roundrobin": "RoundRobinPartitionAssignor",
    "sticky": "StickyPartitionAssignor",
    "cooperative-sticky": "CooperativeStickyAssignor",
}
_KAFKAJS = {"RoundRobinAssigner": "PartitionAssigners.roundRobin"}
_KAFKA_GO = {
    "range": "kafka.RangeGroupBalancer{}",
    "roundrobin": "kafka.RoundRobinGroupBalancer{}",
    "rack-affinity": "kafka.RackAffinityGroupBalancer{}",
}
_PLATFORMATIC = {"roundrobin": "{ name: 'roundrobin', version: 1 }"}
_CONNECTOR = "consumer.override."  # The prefix of Connect's consumer settings in a connector's configuration

JAVA_COOPERATIVE = _JAVA["cooperative-sticky"]
TIMEOUTS = ("session.timeout.ms", "heartbeat.interval.ms")
"""Settings of a classic member that the broker has under the consumer protocol."""
NEXT_GENERATION = 'kgo.WithContext(context.WithValue(ctx, "opt_in_kafka_next_gen_balancer_beta", true))'
"""The option that enables franz-go's consumer protocol."""


_UNKNOWN = "# group.remote.assignor=range, if the members were on range; by default the broker uses its first, uniform"


def assignors(libraries: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    return _each(libraries, lambda library: [_strategy(library, names)])


def consumer(
    libraries: Sequence[str], old_assignor: str | None, offered: Sequence[str] | None = None
) -> tuple[str, ...]:
    """The lines with which a member speaks the consumer protocol; Java's and librdkafka's if no library can. The
    lines request the broker's assignor that is closest to `old_assignor`, unless it is unknown or the brokers do
    not offer it (`offered`; None: unknown), as they refuse a member that requests it."""
    nearest = nearest_of_broker(old_assignor)
    asked = f"group.remote.assignor={nearest}" if nearest else _UNKNOWN
    if nearest is not None and offered is not None and nearest not in offered:
        asked = f"# no group.remote.assignor: the brokers do not offer {nearest}"
    able = [name for name in libraries if name in LIBRARIES and LIBRARIES[name].consumer is not None]
    return _each(able or ["java", "librdkafka"], lambda library: _consumer(library, nearest, asked))


def classic(libraries: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    return _each(libraries, lambda library: _classic(library, names))


def nearest_of_broker(old_assignor: str | None) -> str | None:
    """The broker's assignor closest to a client's; None if the client's is unknown."""
    if old_assignor is None:
        return None
    return "range" if old_assignor == "range" else "uniform"


def _each(libraries: Sequence[str], lines_of: Callable[[str], list[str]]) -> tuple[str, ...]:
    lines: list[str] = []
    for library in libraries:
        if library == "connect":
            lines += [*_CONNECT, *map(_connectors, lines_of("java"))]
        else:
            lines += [f"# {library}", *lines_of(library)]
    return tuple(lines)


_CONNECT = (
    "# connect: in the connector's configuration; the workers' connector.client.config.override.policy must allow it",
    "# or, for all connectors: in the workers' configuration, with consumer. instead of consumer.override.",
)


def _connectors(line: str) -> str:
    """A line for Java, or the setting in a comment, with the prefix for a connector's configuration."""
    comment, colon, setting = line.partition(": ")
    if not line.startswith("# "):
        return f"{_CONNECTOR}{line}"
    return f"{comment}: {_CONNECTOR}{setting}" if colon and comment.startswith(_ABOUT_A_SETTING) else line


_ABOUT_A_SETTING = ("# remove", "# restore")


def _strategy(library: str, names: Sequence[str]) -> str:
    if library == "java":
        return f"partition.assignment.strategy={_join(_JAVA, names, ',')}"
    if library not in _IN_CODE:
        return f"partition.assignment.strategy={','.join(names)}"
    known, before, after = _IN_CODE[library]
    return f"{before}{_join(known, names, ', ')}{after}"


def _join(known: Mapping[str, str], names: Sequence[str], comma: str) -> str:
    """The list of assignors; an unknown one appears by its protocol name, as only its owner knows the class."""
    return comma.join(known.get(name, f"<the class of {name!r}>") for name in names)


_IN_PYTHON = (_KAFKA_PYTHON, "partition_assignment_strategy=[", "]")
_IN_CODE = {
    "franz-go": (_FRANZ_GO, "kgo.Balancers(", ")"),
    "sarama": (_SARAMA, "config.Consumer.Group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{", "}"),
    "kafka-python": _IN_PYTHON,
    "aiokafka": _IN_PYTHON,
    "kafka-go": (_KAFKA_GO, "GroupBalancers: []kafka.GroupBalancer{", "}"),
    "kafkajs": (_KAFKAJS, "partitionAssigners: [", "]"),
    "platformatic-kafka": (_PLATFORMATIC, "protocols: [", "]"),
    "brod": ({"roundrobin_v2": "roundrobin_v2"}, "{partition_assignment_strategy, ", "}"),
}
"""Names of assignors, and what the list is written in."""


def _consumer(library: str, assignor: str | None, asked: str) -> list[str]:
    if library == "franz-go":
        balancer = _FRANZ_GO["range" if assignor == "range" else "cooperative-sticky"]
        return [NEXT_GENERATION, f"kgo.Balancers({balancer})"]
    if library in ("dekaf", "platformatic-kafka"):
        return _consumer_in_code(library, asked.removeprefix("group.remote.assignor="))
    gone = ["partition.assignment.strategy", *TIMEOUTS]
    gone += ["group.protocol.type"] if library == "librdkafka" else []
    return ["group.protocol=consumer", asked, *(f"# remove: {name}" for name in gone)]


def _consumer_in_code(library: str, asked: str) -> list[str]:
    """`asked`: the broker's assignor, or a comment in its place."""
    is_comment = asked.startswith("#")
    if library == "dekaf":  # It has no other protocol
        return [asked if is_comment else f'.WithGroupRemoteAssignor("{asked}")']
    return [
        "groupProtocol: 'consumer'",
        asked if is_comment else f"groupRemoteAssignor: '{asked}'",
        "# remove: protocols, partitionAssigner, sessionTimeout and heartbeatInterval, if they are set",
    ]


def _classic(library: str, names: Sequence[str]) -> list[str]:
    if library == "franz-go":
        return [f"# remove: {NEXT_GENERATION}", _strategy(library, names)]
    if library == "platformatic-kafka":
        return [
            "groupProtocol: 'classic'",
            _strategy(library, names),
            "# remove: groupRemoteAssignor, if it is set",
        ]
    if library not in LIBRARIES_WITH_FILES:  # it has no other protocol
        return [_strategy(library, names)]
    return [
        "group.protocol=classic",
        _strategy(library, names),
        "# remove: group.remote.assignor",
        *(f"# restore, if it was set: {name}" for name in TIMEOUTS),
    ]
