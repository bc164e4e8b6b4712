"""The extras of Kohort: the modules of each, and the command that adds one to this installation, from its source (PEP
610): a clone, a file, a repository or an index."""

import os
import shlex
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

MODULES: Mapping[str, tuple[str, ...]] = {
    "aws": ("boto3", "aws_msk_iam_sasl_signer"),
    "azure": ("azure.identity",),
    "gcp": ("google.auth",),
    "kerberos": ("gssapi",),
    "keystores": ("cryptography",),
    "mcp": ("mcp",),
    "otlp": ("opentelemetry.exporter.otlp.proto.http",),
    "spark": ("pyspark", "pyarrow", "pandas"),
    "testing": ("pytest",),
    "top": ("textual", "textual_serve"),
}
IMAGE = "KOHORT_IMAGE"


def is_installed(extra: str) -> bool:
    """Whether the modules of an extra can be found, without importing them."""
    return all(map(_is_found, MODULES[extra]))


def install_command(extra: str) -> str:
    together = ",".join(name for name in MODULES if name == extra or is_installed(name))
    if os.environ.get(IMAGE):
        return f"docker build --tag kohort --build-arg EXTRAS={together} CLONE"
    prefix, source = Path(sys.prefix), _source()
    if (prefix / "pipx_metadata.json").is_file():
        return f"pipx install --force {_requirement(source, together)}"
    if (prefix / "uv-receipt.toml").is_file():
        return f"uv tool install --force {_requirement(source, together)}"
    python = shlex.quote(sys.executable)
    if _is_found("pip"):
        return f"{python} -m pip install {_requirement(source, extra)}"
    return f"uv pip install --python {python} {_requirement(source, extra)}"


def _is_found(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # its parent package is missing
        return False


def _source() -> Mapping[str, object]:
    """The source of this installation as PEP 610 describes it; empty for an index."""
    import json
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        text = distribution("kohort").read_text("direct_url.json")
    except PackageNotFoundError:
        text = None
    source: Mapping[str, object] = json.loads(text or "{}")
    return source


def _requirement(source: Mapping[str, Any], extras: str) -> str:
    url, name = str(source.get("url", "")), f"kohort[{extras}]"
    if not url:
        return shlex.quote(name)
    if version_control := source.get("vcs_info"):
        revision = version_control.get("requested_revision") or version_control.get("commit_id")
        return shlex.quote(f"{name} @ {version_control['vcs']}+{url}{f'@{revision}' if revision else ''}")
    path = Path(unquote(urlsplit(url).path))
    if not url.startswith("file:") or path.is_file():
        return shlex.quote(f"{name} @ {url}")
    editable = "--editable " if source.get("dir_info", {}).get("editable") else ""
    clone = str(path) if path.is_dir() else "CLONE"  # it may have been removed since
    return editable + shlex.quote(f"{clone}[{extras}]")
