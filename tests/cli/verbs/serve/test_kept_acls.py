"""ACLs that clients create and delete are kept in the data directory, in addition to the file of ACLs."""

import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.cli.served_data import Served, serving
from wire.acls import Operation, PatternType, Permission, ResourceType
from wire.errors import ErrorCode

FILE = """
kohort: 1
acls:
  - {principal: "User:orders", operations: [READ, WRITE], topic: orders}
"""
OF_FILE = {("orders", "User:orders", Operation.READ), ("orders", "User:orders", Operation.WRITE)}
CREATED = ("orders", "User:clients", Operation.READ)
Entry = tuple[str, str, Operation]
OPTIONS = ("--config", "super.users=User:ANONYMOUS", "--access")


def _fields(entry: Entry, suffix: str = "") -> dict[str, Any]:
    name, principal, operation = entry
    return {
        f"resource_type{suffix}": ResourceType.TOPIC,
        f"resource_name{suffix}": name,
        f"principal{suffix}": principal,
        f"host{suffix}": "*",
        "operation": operation,
        "permission_type": Permission.ALLOW,
    }


def create(served: Served, entry: Entry) -> int:
    fields = {**_fields(entry), "resource_pattern_type": PatternType.LITERAL}
    answer = served.ask(lambda client: client.ask("CreateAcls", 3, creations=[fields]))
    return int(answer["results"][0]["error_code"])


def delete(served: Served, entry: Entry) -> int:
    fields = {**_fields(entry, "_filter"), "pattern_type_filter": PatternType.LITERAL}
    answer = served.ask(lambda client: client.ask("DeleteAcls", 3, filters=[fields]))
    return len(answer["filter_results"][0]["matching_acls"])


def shown(served: Served) -> set[Entry]:
    kinds = ("resource_type_filter", "pattern_type_filter", "operation", "permission_type")
    answer = served.ask(lambda client: client.ask("DescribeAcls", 3, **dict.fromkeys(kinds, 1)))
    assert answer["error_code"] in (ErrorCode.NONE, ErrorCode.SECURITY_DISABLED)
    return {
        (of["resource_name"], acl["principal"], Operation(acl["operation"]))
        for of in answer["resources"]
        for acl in of["acls"]
    }


def test_changes_of_clients_survive_a_kill_and_new_ones_of_the_file_count(tmp_path: Path) -> None:
    file, data = tmp_path / "access.yaml", tmp_path / "data"
    file.write_text(FILE)
    read, written = sorted(OF_FILE, key=lambda entry: entry[2])

    def started(options: Sequence[str] = (*OPTIONS, str(file))) -> Any:
        return serving(data, *options)

    with started() as served:
        assert shown(served) == OF_FILE
        assert create(served, CREATED) == ErrorCode.NONE
        assert delete(served, written) == 1
        served.kill()
    assert "of clients added" not in served.stderr

    file.write_text(FILE + '  - {principal: "User:new", operations: [READ], topic: orders}\n')
    new = ("orders", "User:new", Operation.READ)
    with started() as served:
        assert shown(served) == {read, CREATED, new}
        served.stop()
    assert "kohort: 1 ACL of clients added\n" in served.stderr
    assert "kohort: 1 ACL of the file left out, as clients deleted them\n" in served.stderr

    with started(()) as served:  # no ACLs requested
        assert shown(served) == set()
        assert create(served, new) == ErrorCode.SECURITY_DISABLED
        served.stop(signal.SIGINT)
    assert "2 changes of ACLs by clients, and no ACLs count" in served.stderr

    with started() as served:
        assert shown(served) == {read, CREATED, new}
        assert create(served, written) == ErrorCode.NONE
        assert delete(served, CREATED) == 1
        served.kill()
    with started() as served:
        assert shown(served) == {*OF_FILE, new}
        served.stop()
    assert "of clients added" not in served.stderr
    assert "left out" not in served.stderr
