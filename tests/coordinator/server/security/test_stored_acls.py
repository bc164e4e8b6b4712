"""Changed ACLs that are stored, and the errors if they cannot be stored or are damaged."""

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import pytest

from coordinator.errors import RequestRefused
from coordinator.server.security.authorizer import Authorizer, StoredAcls
from coordinator.store.data_directory import DataDirectory, StorageSettings
from coordinator.store.directory_files import ConfigKind
from wire.acls import Acl, Operation, ResourceType
from wire.errors import ErrorCode
from wire.log.errors import Unusable

READ, WRITE, ALTER = (
    Acl(resource_type=ResourceType.TOPIC, name="t", principal="User:a", operation=operation)
    for operation in (Operation.READ, Operation.WRITE, Operation.ALTER)
)


@contextmanager
def kept(path: Path, *acls: Acl) -> Iterator[tuple[StoredAcls, Authorizer]]:
    authorizer = Authorizer(acls)
    with closing(DataDirectory.open(path, StorageSettings(partitions=1))) as data:
        yield StoredAcls(authorizer, data), authorizer


def test_a_change_that_cannot_be_stored_has_no_effect(tmp_path: Path) -> None:
    with kept(tmp_path, READ) as (acls, authorizer):
        (tmp_path / ConfigKind.ACL.file).mkdir()
        for change in (partial(acls.create, [WRITE]), partial(acls.delete, [READ])):
            with pytest.raises(RequestRefused) as refused:
                change()
            assert refused.value.code is ErrorCode.KAFKA_STORAGE_ERROR
        assert [*authorizer.acls] == [READ]


@pytest.mark.parametrize("damage", [("created", "moved"), ("WRITE", "WRIT"), ("principal", "principals")])
def test_what_is_no_acl_is_not_gone_on_from(tmp_path: Path, damage: tuple[str, str]) -> None:
    with kept(tmp_path, READ) as (acls, _):
        acls.create([WRITE])
    file = tmp_path / ConfigKind.ACL.file
    file.write_text(file.read_text().replace(*damage))
    with pytest.raises(Unusable, match=re.escape(str(file))), kept(tmp_path, READ):
        pass
