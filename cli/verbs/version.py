"""`kohort version`: libraries, and missing features, from Kohort's package metadata."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from cli.options import OutputOptions, option

if TYPE_CHECKING:
    from cli.render.document import Block, Document

PURPOSES = {
    "mcp": "kohort mcp",
    "otlp": "metrics that kohort exporter and record push",
    "spark": "kohort fleet",
    "testing": "the pytest fixture kohort_broker",
    "top": "kohort top, and kohort watch in full screen",
}
FOR_DEVELOPERS = ("dev", "docs", "release")  # extras that no command needs
SHELLS = ("bash", "zsh", "fish")
_REQUIREMENT = re.compile(
    r"""(?P<name>[\w.-]+)(?:\[[^]]*\])?\s*\(?(?P<wanted>[^;)]*)\)?
        (?:;(?P<marker>.*?(?:extra\s*==\s*['"](?P<extra>[^'"]+)['"].*)?))?$""",
    re.VERBOSE,
)


def version(
    *,
    verbose: Annotated[
        bool, option("--verbose -v", "Show Python, libraries and missing features, for bug reports.")
    ] = False,
    output: OutputOptions,
) -> None:
    """Print the version.

    --verbose adds the versions of Python and of libraries, and what is not installed.

    \b
    Examples:
      kohort version --verbose
    """
    from cli.output import emit

    emit(_verbose() if verbose else _brief(), output)


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """A package that Kohort requires: `wanted` as in pyproject.toml; `version` is None if it is not installed."""

    name: str
    wanted: str
    version: str | None
    extra: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """A feature that needs more than the base installation; `missing` is None if it is available."""

    name: str
    extra: str | None
    missing: str | None


def parse_requirement(text: str) -> tuple[str, str, str | None]:
    """Name, wanted versions and extra of a line of package metadata (Requires-Dist)."""
    match = _REQUIREMENT.match(text)
    if match is None:
        raise ValueError(f"{text!r} is not a requirement")
    return match["name"], match["wanted"].strip(), match["extra"]


def libraries() -> list[Library]:
    """All libraries that Kohort can use; libraries that every command needs are first."""
    from importlib.metadata import requires

    known = [Library(name=name, wanted=versions, version=_installed(name), extra=extra)
             for name, versions, extra in map(parse_requirement, requires("kohort") or ())]  # fmt: skip
    return [library for library in known if library.extra not in FOR_DEVELOPERS]


def features(known: Sequence[Library]) -> Iterator[Feature]:
    """Features that need more than the base installation, and what is missing for them."""
    from wire.client.logins import LOGINS_WITH_EXTRA
    from wire.extras import install_command, is_installed

    for name, extra in LOGINS_WITH_EXTRA.items():
        remedy = None if is_installed(extra) else install_command(extra)
        yield Feature(name=f"login: {name}", extra=extra, missing=remedy)
    for extra, purpose in PURPOSES.items():
        absent = [library.name for library in known if library.extra == extra and library.version is None]
        if absent:
            missing: str | None = f"{', '.join(absent)}: {install_command(extra)}"
        else:
            missing = _missing_java() if extra == "spark" else None
        yield Feature(name=purpose, extra=extra, missing=missing)
    uvloop = next((library for library in known if library.name == "uvloop"), None)
    if uvloop is not None:
        slower = "uvloop: pip install uvloop; requests take longer without it"
        yield Feature(
            name="the fast event loop of kohort serve", extra=None, missing=None if uvloop.version else slower
        )
    yield from _completion()


def _brief() -> Document:
    from cli.render.document import Document, Table, columns

    release = _installed("kohort")
    table = Table(columns=columns("VERSION"), rows=[(f"kohort {release}",)], header=False)
    return Document(command="version", data={"version": release, "details": None}, blocks=[table])


def _verbose() -> Document:
    import platform
    import ssl

    from cli.render.document import Document, Heading, fields, table_of

    release, known = _installed("kohort"), libraries()
    versions = {
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "system": platform.platform(),
        "openssl": ssl.OPENSSL_VERSION,
        "librdkafka": _librdkafka(),
    }
    available = list(features(known))
    components = [Library(name=name, wanted="", version=number, extra=None)
                  for name, number in {"kohort": release, **versions}.items()]  # fmt: skip
    blocks: list[Block] = [
        table_of(
            [*components, *known],
            ("COMPONENT", "name"), ("VERSION", lambda row: row.version or "missing"),
            ("WANTED", lambda row: row.wanted or None), ("EXTRA", "extra"),
        ),
        Heading("Features"),
        table_of(
            available, ("FEATURE", "name"), ("EXTRA", "extra"), ("MISSING", lambda row: row.missing or "nothing")
        ),
    ]  # fmt: skip
    details: dict[str, object] = {
        **versions,
        "libraries": [fields(library, "name", "version", "wanted", "extra") for library in known],
        "features": [fields(feature, "name", "extra", "missing") for feature in available],
    }
    return Document(command="version", data={"version": release, "details": details}, blocks=blocks)


def _librdkafka() -> str | None:
    try:
        from confluent_kafka import libversion
    except ImportError:  # also if the package is installed but its library cannot be loaded
        return None
    return str(libversion()[0])


def _installed(package: str) -> str | None:
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as version_of

    try:
        return version_of(package)
    except PackageNotFoundError:
        return None


def _missing_java() -> str | None:
    from pipeline.jvm import MissingSpark, check_spark

    try:
        check_spark()
    except MissingSpark as error:
        return str(error)
    return None


def _completion() -> Iterator[Feature]:
    import shutil

    for shell in SHELLS:
        missing = None if shutil.which(shell) else f"{shell} is not on the PATH"
        yield Feature(name=f"completion in {shell}", extra=None, missing=missing)
