"""Checks of a scenario file beyond types: names that do not exist, settings that conflict."""

from collections.abc import Collection, Iterator, Mapping

from assignors.assignor import Leader, Side
from assignors.errors import AssignorError, NoCommonProtocolError
from assignors.registry import find, rebalance_protocol
from coordinator.configs.settings import Config
from coordinator.consumer.library import LIBRARIES, AfterError, MemberSettings
from coordinator.errors import InvalidSetting
from coordinator.faults import ChangeTopic
from coordinator.simulation import scenario as model
from groups.model import wrong_topic_name
from groups.regex.java import JavaSyntaxError, parse_java
from groups.regex.posix import NotAskedError, PosixRegex, PosixSyntaxError
from groups.regex.program import UnsureError
from groups.streams_releases import ThreadRelease
from groups.trees import Malformed, shown
from wire.suggestion import did_you_mean

CLASSIC, CONSUMER = "classic", "consumer"
ONLY_OF = {
    CLASSIC: ("assignors", "subscription_version", "batch_topic_changes"),
    CONSUMER: ("remote_assignor", "local_assignors"),
}
"""By protocol: the keys of a member that only this protocol has."""
CLASSIC_SETTINGS = ("session.timeout.ms", "heartbeat.interval.ms")
"""Java refuses these with group.protocol=consumer (ConsumerConfig): there they are the broker's settings."""
_METHODS = ("assigned", "revoked", "lost")


def check_settings(
    kind: type[Config] | type[MemberSettings], settings: Mapping[str, str], *path: str
) -> None:
    """Raises Malformed: with the path of the invalid setting, if it is a single one."""
    try:
        kind.parse(settings)
    except InvalidSetting as error:
        named = [name for name in settings if str(error).startswith((f"{name} ", f"{name}:"))]
        raise Malformed(str(error), *path, *named[:1]) from None


def unknown(what: str, name: str, known: Collection[str]) -> str:
    """The message for a name that does not exist, with the nearest name, or all names that exist."""
    hint = did_you_mean(name, sorted(known))
    if not hint:
        listed = ", ".join(sorted(known)[:8]) + (", …" if len(known) > 8 else "")
        hint = f", only {listed}" if known else "; none is listed"
    return f"there is no {what} {shown(name)}{hint}"


def check_faults(faults: model.NetworkFaults) -> None:
    """Raises Malformed: the bounds of the delay are not two numbers in order."""
    if len(faults.delay_ms) != 2 or faults.delay_ms[0] > faults.delay_ms[1]:
        raise Malformed("expected the shortest and the longest delay, as [1, 80]", "delay_ms")


def check_network_partition(partition: model.NetworkPartition) -> None:
    """Raises Malformed: the partition has no members."""
    if not partition.members:
        raise Malformed("lists no member", "members")


def check_member(script: model.MemberScript) -> None:
    """Raises Malformed: the member's library would refuse such a consumer."""
    if script.library not in LIBRARIES:
        raise Malformed(unknown("library", script.library, LIBRARIES), "library")
    if script.protocol not in ONLY_OF:
        raise Malformed(f"expected classic or consumer; found {shown(script.protocol)}", "protocol")
    for method in script.listener:
        if method not in _METHODS:
            raise Malformed(unknown("method", method, _METHODS), "listener", method)
        if script.listener[method].unsubscribes and method != "assigned":
            message = "only `assigned` may unsubscribe; what clients do in the others is not simulated"
            raise Malformed(message, "listener", method, "unsubscribes")
    if script.after_error not in (None, *(choice.value for choice in AfterError)):
        names = ", ".join(choice.value for choice in AfterError)
        raise Malformed(f"expected one of {names}; found {shown(script.after_error)}", "after_error")
    _check_subscription(script.topics, script.regex, script)
    check_settings(MemberSettings, script.config, "config")
    if script.protocol == CLASSIC:
        _check_classic(script)
    else:
        _check_consumer(script)
    try:
        ThreadRelease.of(script.release, script.upgrade_from)
    except ValueError as error:
        raise Malformed(str(error), "release" if script.upgrade_from is None else "upgrade_from") from None


def check_subscribe(event: model.Subscribe, script: model.MemberScript) -> None:
    """`script` configures the member. Raises Malformed: it subscribes to nothing, or the member would refuse it."""
    if not event.topics and not event.regex:
        raise Malformed("needs topics or a regex; the verb unsubscribe ends a subscription", "topics")
    _check_subscription(event.topics, event.regex, script)


def missing_topics(scenario: model.Scenario) -> Iterator[str]:
    """Sentences about subscriptions to topics that never exist: possible, and often a misspelled name."""
    exist = {*scenario.topics, *(event.topic for event in scenario.events if isinstance(event, ChangeTopic))}
    subscribed = [(name, script.topics) for name, script in scenario.members.items()]
    for event in scenario.events:
        if isinstance(event, model.Restart):
            subscribed.append((event.member, event.script.topics))
        elif isinstance(event, model.Subscribe):
            subscribed.append((event.member, event.topics))
    missing = dict.fromkeys(
        (name, topic) for name, topics in subscribed for topic in topics if topic not in exist
    )
    for name, topic in missing:
        yield f"{name} subscribes to {topic}, which never exists{did_you_mean(topic, sorted(exist))}"


def check_assign(event: model.Assign) -> None:
    """Raises Malformed: there are no partitions, or a topic's name is invalid."""
    for topic in event.partitions:
        if (wrong := wrong_topic_name(topic)) is not None:
            raise Malformed(wrong, "partitions", topic)
    if not any(event.partitions.values()):
        raise Malformed("lists no partition; the verb unsubscribe ends an assignment", "partitions")


def _check_subscription(topics: tuple[str, ...], regex: str | None, script: model.MemberScript) -> None:
    if topics and regex is not None:
        raise Malformed("a subscription has topics or a regex, and this one has both", "regex")
    for number, topic in enumerate(topics):
        if (wrong := wrong_topic_name(topic)) is not None:
            raise Malformed(wrong, "topics", number)
    if regex is not None:
        _check_regex(regex, script)


def _check_regex(regex: str, script: model.MemberScript) -> None:
    """Raises Malformed: the client refuses the regex; RE2/J of the broker is the simulation's business."""
    if not regex:
        raise Malformed("is empty; both libraries refuse that", "regex")
    try:
        if LIBRARIES[script.library].leader is Leader.LIBRDKAFKA:
            if not regex.startswith("^"):
                raise Malformed(
                    "librdkafka considers it the name of a topic unless it begins with ^", "regex"
                )
            PosixRegex(regex)
        elif script.protocol == CLASSIC:
            parse_java(regex)
    except JavaSyntaxError as error:
        raise Malformed(f"not a Java Pattern: {error}", "regex") from None
    except PosixSyntaxError as error:
        raise Malformed(f"not an extended regular expression of POSIX: {error}", "regex") from None
    except (UnsureError, NotAskedError):
        pass


def _check_classic(script: model.MemberScript) -> None:
    for key in ONLY_OF[CONSUMER]:
        if getattr(script, key):
            raise Malformed(f"a member of the classic protocol has no {key}", key)
    if not 0 <= script.subscription_version <= 3:
        raise Malformed(
            f"expected a version from 0 to 3, found {script.subscription_version}", "subscription_version"
        )
    leader = LIBRARIES[script.library].leader
    for number, name in enumerate(script.assignors):
        if name in script.assignors[:number]:
            raise Malformed(f"{shown(name)} is listed twice", "assignors", number)
        try:
            find(name, Side.CLIENT, leader)
        except AssignorError as error:
            raise Malformed(str(error), "assignors", number) from None
    try:
        rebalance_protocol(script.assignors or LIBRARIES[script.library].assignors, leader)
    except NoCommonProtocolError as error:
        raise Malformed(f"{error}: {script.library} refuses such a consumer", "assignors") from None


def _check_consumer(script: model.MemberScript) -> None:
    if script.assignors:
        raise Malformed("a member of the consumer protocol has remote_assignor in their place", "assignors")
    if script.subscription_version != 3:
        raise Malformed("only the classic protocol has it", "subscription_version")
    if script.batch_topic_changes_s:
        raise Malformed("only the classic protocol has it", "batch_topic_changes")
    for name in CLASSIC_SETTINGS:
        if name in script.config:
            message = f"the broker sets it under the consumer protocol: use settings, group.consumer.{name}"
            raise Malformed(message, "config", name)
    if script.remote_assignor is not None:
        try:
            find(script.remote_assignor, Side.BROKER)
        except AssignorError as error:
            raise Malformed(str(error), "remote_assignor") from None
        if script.local_assignors:
            raise Malformed("a member has a remote assignor or local ones", "local_assignors")
    for number, name in enumerate(script.local_assignors):
        try:
            assignor = find(name, Side.CLIENT, LIBRARIES[script.library].leader)
        except AssignorError as error:
            raise Malformed(str(error), "local_assignors", number) from None
        if assignor.may_share:
            why = f"{name} assigns a partition to several members, which the consumer protocol does not allow"
            raise Malformed(why, "local_assignors", number)
