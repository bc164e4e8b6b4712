"""The file of users and ACLs: its content, and the errors of invalid files, which never contain a password."""

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from coordinator.server.security.access_file import read_access_file
from coordinator.server.security.sasl import Users
from groups.yaml_files import TreeError
from wire.acls import Acl, Operation, PatternType, Permission, ResourceType

DOCS = Path(__file__).parents[4] / "docs"
EXAMPLE = (DOCS / "security.md").read_text().split("<!-- access -->\n```yaml\n")[1].split("```")[0]


def written(directory: Path, text: str) -> Path:
    file = directory / "access.yaml"
    file.write_text(text)
    file.chmod(0o600)
    return file


def test_the_example_of_the_documentation(tmp_path: Path) -> None:
    (tmp_path / "admin.password").write_text("of a file\n")
    (tmp_path / "admin.password").chmod(0o600)
    read = read_access_file(written(tmp_path, EXAMPLE), {"ORDERS_PASSWORD": "of a variable"})
    users = Users(read.passwords)
    assert users.has_password("admin", "of a file")
    assert users.has_password("orders", "of a variable")
    assert users.has_password("reports", "reports-secret")
    assert not users.has_password("reports", "")
    assert not users.has_password("stranger", "")
    assert read.warnings == ()
    assert read.acls is not None
    assert len(read.acls) == 6
    assert read.acls[0] == Acl(
        resource_type=ResourceType.GROUP, name="orders-", pattern=PatternType.PREFIXED,
        principal="User:orders", operation=Operation.READ,
    )  # fmt: skip
    assert read.acls[-1].permission is Permission.DENY
    jsonschema.validate(yaml.safe_load(EXAMPLE), json.loads((DOCS / "schemas" / "access.json").read_text()))


def test_no_acls_is_not_the_same_as_none_that_allow(tmp_path: Path) -> None:
    assert read_access_file(written(tmp_path, "kohort: 1\n")).acls is None
    assert read_access_file(written(tmp_path, "kohort: 1\nacls: []\n")).acls == ()


WRONG = {
    "users: {}": "access.yaml:1: kohort: missing",
    "kohort: 2": "access.yaml:1: kohort: format 2 is newer",
    "kohort: 1\nusers:\n  a: {password: ''}": "access.yaml:3: users.a.password: the password is empty",
    "kohort: 1\nusers:\n  a: topsecret": "access.yaml:3: users.a: expected a mapping",
    "kohort: 1\nusers:\n  a: {password: [topsecret]}": "access.yaml:3: users.a.password: expected a text",
    "kohort: 1\nusers:\n  a: {password: topsecret, password_env: X}": "access.yaml:3: users.a: needs exactly one of",
    "kohort: 1\nusers:\n  a: {password_env: X}": "access.yaml:3: users.a.password_env: there is no such",
    "kohort: 1\nusers:\n  a: {password_file: x}": "access.yaml:3: users.a.password_file: ",
    "kohort: 1\nusers:\n  a: {pasword: topsecret}": "users.a.pasword: unknown field; did you mean password?",
    "kohort: 1\nacls:\n- {principal: User:a, operations: [READ]}": "access.yaml:3: acls[0]: needs exactly one of",
    "kohort: 1\nacls:\n- {principal: a, operations: [READ], group: g}": "acls[0].principal: expected TYPE:NAME",
    "kohort: 1\nacls:\n- {principal: User:a, operations: [WRITE], group: g}": "acls[0].operations[0]: expected one",
    "kohort: 1\nacls:\n- {principal: User:a, operations: [], group: g}": "acls[0].operations: lists no",
    "kohort: 1\nacls:\n- {principal: User:a, operations: [READ], group: g, pattern: X}": "acls[0].pattern: expected",
    "kohort: 1\nacls:\n- {principal: User:a, operations: [READ], group: ''}": "acls[0].group: the name is empty",
}  # fmt: skip


@pytest.mark.parametrize(("text", "said"), WRONG.items())
def test_an_error_has_its_line_and_no_password(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(TreeError) as error:
        read_access_file(written(tmp_path, text), {})
    assert said in str(error.value)
    assert "topsecret" not in str(error.value)


def test_a_file_that_others_can_read_is_warned_of(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("x")
    secret.chmod(0o644)
    file = written(tmp_path, "kohort: 1\nusers:\n  a: {password_file: secret}\n  b: {password: y}\n")
    file.chmod(0o640)
    warnings = read_access_file(file).warnings
    assert [f"chmod 600 {file}" in warnings[0], f"chmod 600 {secret}" in warnings[1]] == [True, True]
