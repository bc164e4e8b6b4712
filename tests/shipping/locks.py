"""`make lock`: the files in locks/, with the hashes of every file of every package that constraints.txt names. A
lock is for Python 3.11 to 3.14 on every platform: markers of its lines decide what applies. pip installs it with
`--require-hashes --no-deps`, so nothing that is not in it is installed, and nothing else than what was locked."""

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
LOCKS = ROOT / "locks"
EXTRAS: dict[str, tuple[str, ...]] = {
    "plain": (), "dev": ("dev", "spark"), "image": ("aws", "azure", "gcp", "keystores", "mcp", "otlp", "top"),
    "docs": ("docs",), "release": ("release",), "kerberos": ("kerberos",),
}  # fmt: skip
"""The extras of each lock."""
WITH_KOHORT = ("plain", "dev", "image")
"""Locks that contain what Kohort itself needs; the others are installed in addition to `dev`."""
WITH_BUILD = ("plain", "dev")
"""Locks that contain what installs a clone."""
OLDEST = {"docs": "3.11.5"}
"""The oldest Python of a lock, if it is not 3.11.0."""


def requirements(name: str) -> list[str]:
    """What a lock is resolved from: requirements of pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [line for extra in EXTRAS[name] for line in project["optional-dependencies"][extra]]
    if name in WITH_KOHORT:
        lines += project["dependencies"]
    build = ["setuptools"] if name in WITH_BUILD else []
    references = [line for line in lines if line.startswith("kohort[")]
    extras = [extra for line in references for extra in line[len("kohort[") : -1].split(",")]
    for extra in extras:
        lines += project["optional-dependencies"][extra]
    return [*(line for line in lines if line not in references), *build]


def main() -> None:
    LOCKS.mkdir(exist_ok=True)
    for name in EXTRAS:
        subprocess.run(
            [
                str(Path(sys.executable).parent / "uv"), "pip", "compile", "-", "--universal", "--generate-hashes",
                "--python-version", OLDEST.get(name, "3.11"), "--constraint", str(ROOT / "constraints.txt"),
                "--no-emit-index-url", "--no-annotate", "--no-header", "--quiet",
                "--output-file", str(LOCKS / f"{name}.txt"),
            ],
            input="\n".join(requirements(name)), text=True, check=True,
        )  # fmt: skip


if __name__ == "__main__":
    main()
