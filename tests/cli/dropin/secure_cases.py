"""Command lines of users who may not do everything; the scene is that of test_secure.py."""

from tests.cli.dropin.harness import Case

UNREADABLE, REFUSED = 3, 4
TRACED = ("exit-status", "stack-trace")
ERRORS = "org.apache.kafka.common.errors"
WORKER = "--bootstrap-server {at} --command-config {worker}"


def worker(line: str, *differs: str, more: str = "", status: int = REFUSED) -> Case:
    return Case(line=f"{WORKER} {line}", connects=False, differs=differs, more=more, status=status)


def forbidden(line: str, wrapped: str = "") -> Case:
    more = f"{wrapped}{ERRORS}.GroupAuthorizationException: Not authorized to access group: {{hidden}}"
    return worker(line, "own-words", *TRACED, more=more)


def explained(line: str, more: str) -> Case:
    """What both tools say a broker refused; why, the other one says in its stack trace alone."""
    return worker(line, *TRACED, "reason", more=more)


CHANGES = [
    worker("--reset-offsets --group {ours} --topic {free} --to-latest --execute"),
    worker("--reset-offsets --group {ours} --topic {seen} --to-latest --dry-run"),
    worker("--reset-offsets --group {left} --topic {free} --to-latest --dry-run"),
    worker("--reset-offsets --group {ours} --all-topics --to-current --export --dry-run"),
    explained(
        "--reset-offsets --group {ours} --topic {free} --topic {seen} --to-latest --execute",
        f"{{seen}}-0: {ERRORS}.TopicAuthorizationException: Topic authorization failed.",
    ),
    explained(
        "--reset-offsets --group {left} --topic {free} --to-latest --execute",
        f"{{free}}-0: {ERRORS}.GroupAuthorizationException: Group authorization failed.",
    ),
    worker("--reset-offsets --group {ours} --topic {topic} --to-latest --execute", *TRACED),
    worker("--reset-offsets --group {ours} --topic {topic}:0 --to-latest --execute", *TRACED),
    forbidden(
        "--reset-offsets --group {hidden} --topic {free} --to-latest --execute",
        "java.util.concurrent.ExecutionException: ",
    ),
    worker("--delete-offsets --group {ours} --topic {free}"),
    worker("--delete-offsets --group {ours} --topic {free} --topic {seen}:0", "exit-status"),
    worker("--delete-offsets --group {ours} --topic {free} --topic {topic}", "exit-status"),
    worker("--delete-offsets --group {left} --topic {free}", "exit-status"),
    worker("--delete --group {left}", "exit-status"),
]
CASES = [
    *CHANGES,
    worker("--list", "sorted-rows"),
    worker("--list --state --type", "sorted-rows"),
    worker("--describe --all-groups --state"),
    worker("--describe --group {reading} --members"),
    worker("--describe --group {left}"),
    forbidden("--describe --group {hidden}"),
    forbidden("--describe --group {hidden} --group {left} --state"),
    worker("--describe --group {reading}", "partial-answer", *TRACED, more="{partial}", status=UNREADABLE),
    Case(
        line="--bootstrap-server {at} --command-config {wrong} --list",
        connects=False,
        differs=("own-words", *TRACED),
        more="{at}: Authentication failed: Invalid username or password. Check user name and password.",
        status=REFUSED,
    ),
]
