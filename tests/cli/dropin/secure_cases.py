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


CASES = [
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
