"""The same files from a directory and from an object store."""

from pathlib import Path

import pytest

from pipeline.sources.files import list_segments, read_index
from pipeline.sources.filesystem import absolute, is_local, opened
from pipeline.sources.names import directory_names, is_whole
from pipeline.sources.splits import last_batch
from tests.coordinator.store.real_log import RealLog
from tests.pipeline.sources.object_store import BUCKET, object_store
from tests.wire.log.memory_file import places
from wire.log.blocks import blocks_of
from wire.log.segments import read_segment


def s3_options(endpoint: str) -> dict[str, str]:
    return {
        "fs.s3a.endpoint": endpoint,
        "fs.s3a.endpoint.region": "eu-west-1",
        "fs.s3a.access.key": "reader",
        "fs.s3a.secret.key": "not checked",
        "fs.s3a.connection.ssl.enabled": "false",
    }


def test_a_log_in_an_object_store(real_log: RealLog) -> None:
    local = list_segments([str(real_log.data)]).segments
    with object_store(real_log.data.parent) as endpoint:
        options = s3_options(endpoint)
        root = f"s3a://{BUCKET}/{real_log.data.name}"
        remote = list_segments([root], options).segments

        def said(path: str) -> str:
            return path.removeprefix(root).removeprefix(str(real_log.data))

        assert [(said(entry.path), entry.size, entry.partition, entry.has_index) for entry in remote] == [
            (said(entry.path), entry.size, entry.partition, entry.has_index) for entry in local
        ]
        for there, here in zip(remote[:3], local[:3], strict=True):
            index = read_index(there, options)
            assert index == read_index(here, {})
            system, inside = opened(there.path, options)
            with system.open_input_file(inside) as file:
                positions, damage = places(blocks_of(file, "f", start=0, end=there.size, size=there.size))
                last = last_batch(file, "f", size=there.size, index=index, base_offset=there.base_offset)
            assert damage == []
            assert last is not None
            assert last.next_offset == read_segment(Path(here.path)).next_offset
            assert positions == read_segment(Path(here.path)).batches.positions.tolist()
        known = directory_names([root], options)
        assert is_whole(known)
        assert known.names == directory_names([str(real_log.data)], {}).names


def test_an_object_store_without_the_path(tmp_path: Path) -> None:
    with object_store(tmp_path) as endpoint, pytest.raises(FileNotFoundError, match="nowhere does not exist"):
        list_segments([f"s3a://{BUCKET}/nowhere"], s3_options(endpoint))


def test_paths_mean_the_same_everywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert absolute("logs") == str(tmp_path / "logs")
    assert absolute("s3a://bucket/logs") == "s3a://bucket/logs"
    assert (is_local("/logs"), is_local("hdfs://host/logs")) == (True, False)


def test_a_uri_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"here")
    system, inside = opened(f"file://{tmp_path}/x", {})
    with system.open_input_file(inside) as file:
        assert file.read() == b"here"


def test_unknown_file_systems() -> None:
    with pytest.raises(OSError, match="ftp"):
        opened("ftp://host/logs", {})
