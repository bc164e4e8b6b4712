"""`--validate-regex`, alone and with `--describe`, which no release of the tool accepts: KIP-848 has it."""

from collections.abc import Sequence

from cli.dropin.cluster import open_cluster
from cli.dropin.parse import Options
from cli.dropin.printing import print_error, print_remark
from cli.errors import ExitStatus
from cli.render.cells import safe_text
from cli.sources.live import LiveSource
from cli.sources.wire_source import WireSource
from groups.counts import counted
from groups.listing import GroupFilter, GroupType
from groups.model import Group, Problem
from groups.regex.broker import judge

CONSUMERS = frozenset({GroupType.CLASSIC, GroupType.CONSUMER})


def run_validation(options: Options) -> int:
    """Print whether the brokers accept the regex, whether it would harm them, which topics match, and what it would
    change for the named groups."""
    regex = options.regex or ""
    verdict = judge(regex)
    if not verdict.valid:
        # The tool does not print the part of the pattern that RE2/J names after its reason.
        reason = str(verdict.reason).partition(": `")[0]
        print(f"The regular expression `{safe_text(regex)}` is invalid: {reason}.")
        return ExitStatus.FALSE
    print(f"The regular expression `{safe_text(regex)}` is valid.")
    if verdict.regex is None:
        print_remark(f"\nWarning: do not subscribe to it, it would harm the brokers: {verdict.danger}.")
        return ExitStatus.FALSE
    if not options.bootstrap_server:
        return ExitStatus.DONE
    with open_cluster(options) as source:  # internal topics are included: brokers match these too
        if isinstance(source, WireSource):
            topics = list(source.client.metadata().topics)
        else:
            topics = [topic.name for topic in source.topics(None, end_offsets=False).items]
        matching = verdict.regex.matches(topics)
        print(
            f"It matches {len(matching)} of {len(topics)} topics{': ' if matching else '.'}{', '.join(matching)}"
        )
        return _compare_groups(source, options, matching, topics)


def _compare_groups(
    source: LiveSource, options: Options, matching: Sequence[str], topics: Sequence[str]
) -> int:
    """Print for each group how its topics would change. UNREADABLE if a group could not be read."""
    names, problems = options.groups, tuple[Problem, ...]()
    if options.has("all-groups"):
        listed = source.select_groups(GroupFilter(types=CONSUMERS), described=False)
        names, problems = tuple(sorted(group.id for group in listed.items)), listed.problems
    if names:
        described = source.describe(list(dict.fromkeys(names)), offsets=False)
        problems += described.problems
        for group in described.items:
            print(_compared(group, frozenset(matching), topics))
    for problem in problems:
        print_error(f"{problem.subject}: {problem.message}")
    return ExitStatus.UNREADABLE if problems else ExitStatus.DONE


def _compared(group: Group, matching: frozenset[str], topics: Sequence[str]) -> str:
    """How a group's topics would change: those that its members name, and that their regexes match."""
    name = safe_text(group.id)
    subscriptions = [member.subscription for member in group.members if member.subscription is not None]
    if not subscriptions:
        return f"Group {name}: its subscriptions are not known: it has no members, or their bytes cannot be read."
    current: set[str] = set()
    for subscription in subscriptions:
        current.update(subscription.topics)
        verdict = judge(subscription.regex) if subscription.regex is not None else None
        if verdict is not None and verdict.regex is not None:
            current.update(verdict.regex.matches(topics))
    changes = [
        f"would {verb} {counted(len(changed), 'topic')}: {safe_text(', '.join(sorted(changed)))}"
        for verb, changed in (("gain", matching - current), ("lose", current - matching))
        if changed
    ]
    return f"Group {name}: {'; '.join(changes) or 'would read the same topics'}."
