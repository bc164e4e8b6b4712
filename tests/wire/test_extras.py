"""The command that installs an extra works for how Kohort was installed."""

import importlib.metadata
import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from wire import extras
from wire.extras import install_command

PYTHON = shlex.quote(sys.executable)
CLONE: dict[str, Any] = {"url": "file:///{here}", "dir_info": {}}
EDITABLE: dict[str, Any] = {"url": "file:///{here}", "dir_info": {"editable": True}}
WHEEL: dict[str, Any] = {"url": "file:///{here}/kohort-1.0-py3-none-any.whl", "archive_info": {}}
GIT: dict[str, Any] = {
    "url": "https://x.y/kohort", "vcs_info": {"vcs": "git", "requested_revision": "v1", "commit_id": "0abc"}
}  # fmt: skip


@pytest.mark.parametrize(
    ("receipt", "source", "command"),
    [
        ("pipx_metadata.json", CLONE, "pipx install --force '{here}[kerberos,spark]'"),
        ("pipx_metadata.json", EDITABLE, "pipx install --force --editable '{here}[kerberos,spark]'"),
        ("pipx_metadata.json", {}, "pipx install --force 'kohort[kerberos,spark]'"),
        ("uv-receipt.toml", CLONE, "uv tool install --force '{here}[kerberos,spark]'"),
        (
            "uv-receipt.toml",
            GIT,
            "uv tool install --force 'kohort[kerberos,spark] @ git+https://x.y/kohort@v1'",
        ),
        ("", EDITABLE, "{python} -m pip install --editable '{here}[spark]'"),
        ("", CLONE, "{python} -m pip install '{here}[spark]'"),
        ("", WHEEL, "{python} -m pip install 'kohort[spark] @ file://{here}/kohort-1.0-py3-none-any.whl'"),
        ("", {"url": "file:///gone", "dir_info": {}}, "{python} -m pip install 'CLONE[spark]'"),
        ("", {}, "{python} -m pip install 'kohort[spark]'"),
        ("image", CLONE, "docker build --tag kohort --build-arg EXTRAS=kerberos,spark CLONE"),
    ],
)
def test_an_extra_is_added_as_kohort_was_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, receipt: str, source: dict[str, Any], command: str
) -> None:
    (tmp_path / "kohort-1.0-py3-none-any.whl").touch()
    (tmp_path / receipt if receipt else tmp_path / "none").touch()
    here = str(tmp_path)
    text = json.dumps(source).replace("/{here}", here)

    class Installed(importlib.metadata.PathDistribution):
        def read_text(self, filename: Any) -> str | None:
            return text if filename == "direct_url.json" and source else None

    monkeypatch.setattr(importlib.metadata, "distribution", lambda _: Installed(tmp_path))
    monkeypatch.setattr(sys, "prefix", here)
    monkeypatch.setattr(
        extras, "MODULES", {"aws": ("no_such_module.x",), "kerberos": ("os",), "spark": ("none_",)}
    )
    if receipt == "image":
        monkeypatch.setenv("KOHORT_IMAGE", "1")
    assert install_command("spark") == command.format(here=here, python=PYTHON)


def test_an_environment_without_pip_is_filled_by_uv(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    assert install_command("aws").startswith(f"uv pip install --python {PYTHON} ")
