"""Command lines of users who may not do everything; the scene is that of test_secure.py."""

from __future__ import annotations

from tests.cli.dropin.harness import Case

UNREADABLE, REFUSED = 3, 4
TRACED = ("exit-status", "stack-trace")


WORKER = "--bootstrap-server {at} --command-config {worker}"


def allowed(line: str, *differs: str) -> Case:
    """What both tools answer alike."""
    return Case(line=f"{WORKER} {line}", connects=False, differs=differs)


def forbidden(line: str) -> Case:
    """What a broker refuses because of the hidden group."""
    return Case(
        line=f"{WORKER} {line}",
        connects=False,
        differs=("own-words", *TRACED),
        more="org.apache.kafka.common.errors.GroupAuthorizationException: Not authorized to access group: {hidden}",
        status=REFUSED,
    )


def barred(line: str, *, traced: bool = False) -> Case:
    """What both tools say a broker refused, in the same words."""
    return Case(
        line=f"{WORKER} {line}",
        connects=False,
        differs=TRACED if traced else ("exit-status",),
        status=REFUSED,
    )


def explained(line: str, more: str) -> Case:
    """What both tools say a broker refused; why, the other one says in its stack trace alone."""
    return Case(
        line=f"{WORKER} {line}", connects=False, differs=(*TRACED, "reason"), status=REFUSED, more=more
    )


CHANGES = [
    allowed("--reset-offsets --group {ours} --topic {free} --to-latest --execute"),
    allowed("--reset-offsets --group {ours} --topic {seen} --to-latest --dry-run"),
    allowed("--reset-offsets --group {left} --topic {free} --to-latest --dry-run"),
    allowed("--reset-offsets --group {ours} --all-topics --to-current --export --dry-run"),
    explained(
        "--reset-offsets --group {ours} --topic {free} --topic {seen} --to-latest --execute",
        "{seen}-0: org.apache.kafka.common.errors.TopicAuthorizationException: Topic authorization failed.",
    ),
    explained(
        "--reset-offsets --group {left} --topic {free} --to-latest --execute",
        "{free}-0: org.apache.kafka.common.errors.GroupAuthorizationException: Group authorization failed.",
    ),
    barred("--reset-offsets --group {ours} --topic {topic} --to-latest --execute", traced=True),
    barred("--reset-offsets --group {ours} --topic {topic}:0 --to-latest --execute", traced=True),
    Case(
        line=f"{WORKER} --reset-offsets --group {{hidden}} --topic {{free}} --to-latest --execute",
        connects=False,
        differs=("own-words", *TRACED),
        more="java.util.concurrent.ExecutionException: org.apache.kafka.common.errors.GroupAuthorizationException: "
        "Not authorized to access group: {hidden}",
        status=REFUSED,
    ),
    allowed("--delete-offsets --group {ours} --topic {free}"),
    barred("--delete-offsets --group {ours} --topic {free} --topic {seen}:0"),
    barred("--delete-offsets --group {ours} --topic {free} --topic {topic}"),
    barred("--delete-offsets --group {left} --topic {free}"),
    barred("--delete --group {left}"),
]
CASES = [
    *CHANGES,
    allowed("--list", "sorted-rows"),
    allowed("--list --state --type", "sorted-rows"),
    allowed("--describe --all-groups --state"),
    allowed("--describe --group {reading} --members"),
    allowed("--describe --group {left}"),
    forbidden("--describe --group {hidden}"),
    forbidden("--describe --group {hidden} --group {left} --state"),
    Case(
        line=f"{WORKER} --describe --group {{reading}}",
        connects=False,
        differs=("partial-answer", *TRACED),
        more="{partial}",
        status=UNREADABLE,
    ),
    Case(
        line="--bootstrap-server {at} --command-config {wrong} --list",
        connects=False,
        differs=("own-words", *TRACED),
        more="{at}: Authentication failed: Invalid username or password. Check user name and password.",
        status=REFUSED,
    ),
]
