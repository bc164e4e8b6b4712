"""The small files of a data directory: they are read as written, and other content is a clear error."""

from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coordinator.store.directory_files import (
    ConfigKind,
    read_checkpoint,
    read_configs,
    write_checkpoint,
    write_configs,
)
from tests.support.long import cases
from wire.log.errors import DamagedLog

PARTITIONS = st.tuples(st.text("abc._-", min_size=1), st.integers(0, 2**31 - 1))


@given(offsets=st.dictionaries(PARTITIONS, st.integers(0, 2**63 - 1)))
def test_offsets_are_read_as_written(offsets: dict[tuple[str, int], int]) -> None:
    with TemporaryDirectory() as name:
        path = Path(name) / "checkpoint"
        write_checkpoint(path, offsets)
        assert read_checkpoint(path) == offsets


def test_a_brokers_checkpoint_is_read(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint"
    assert read_checkpoint(path) == {}
    for nothing in (b"", b"0", b"0\n0\n"):
        path.write_bytes(nothing)
        assert read_checkpoint(path) == {}
    path.write_bytes(b"0\n2\n__consumer_offsets 7 1234\norders 0 5\n")
    assert read_checkpoint(path) == {("__consumer_offsets", 7): 1234, ("orders", 0): 5}


@pytest.mark.parametrize(
    ("content", "position"),
    [
        (b"1\n0\n", 0),
        (b"x\n0\n", 0),
        (b"\xff\xfe", 0),
        (b"0\nmany\n", 2),
        (b"0\n2\norders 0 5\n", 2),
        (b"0\n2\norders 0 5\norders 1\n", 15),
        (b"0\n1\norders -1 5\n", 4),
        (b"0\n1\norders 0 99999999999999999999\n", 4),
        (b"0\n1\n\xc3\xbc 0 x\n", 4),
    ],
)
def test_an_invalid_checkpoint_is_refused(tmp_path: Path, content: bytes, position: int) -> None:
    path = tmp_path / "checkpoint"
    path.write_bytes(content)
    with pytest.raises(DamagedLog, match="checkpoint") as refused:
        read_checkpoint(path)
    assert refused.value.position == position


@given(configs=st.dictionaries(st.text(), st.dictionaries(st.text(), st.text(), min_size=1)))
def test_group_configs_are_read_as_written(configs: dict[str, dict[str, str]]) -> None:
    with TemporaryDirectory() as name:
        write_configs(Path(name), ConfigKind.GROUP, configs)
        assert read_configs(Path(name), ConfigKind.GROUP) == configs


@settings(max_examples=cases("KOHORT_EXAMPLES", 150, many=2_000))
@given(
    content=st.one_of(
        st.binary(max_size=60),
        st.text("0123456789 \n-orders\u2028", max_size=40).map(str.encode),
        st.text('{}[]",:kohort1groupsnull ', max_size=60).map(str.encode),
        st.integers(1, 3_000).map(lambda depth: b"[" * depth),
        st.just(b'{"kohort": 1' + b"0" * 5_000 + b"}"),
    )
)
def test_anything_else_is_refused(content: bytes) -> None:
    with TemporaryDirectory() as name:
        for file in ("checkpoint", ConfigKind.GROUP.file):
            (Path(name) / file).write_bytes(content)
        with suppress(DamagedLog):
            read_checkpoint(Path(name) / "checkpoint")
        with suppress(DamagedLog):
            read_configs(Path(name), ConfigKind.GROUP)
