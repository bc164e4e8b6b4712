"""`make dist`: the sdist and the wheel, checked, installed alone into fresh environments, and run there. What must
be in them is not listed here: it is what git has in the folders of the packages. The same commit gives the same
bytes: SOURCE_DATE_EPOCH is the time of the commit unless it is set."""

import gzip
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.shipping import man

ROOT = Path(__file__).parents[2]
DIST = ROOT / "dist"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
VERSION: str = PROJECT["project"]["version"]
PACKAGES = [name.rstrip("*") for name in PROJECT["tool"]["setuptools"]["packages"]["find"]["include"]]
PAGES = "cli/verbs/mcp/docs"  # A link to docs
NEVER = ("tests/", "benchmarks/", ".ci/", ".github/")
BESIDES = {"LICENSE", "README.md", "CHANGELOG.md", "pyproject.toml", "PKG-INFO"}
"""What the sdist has next to the packages."""


def main() -> int:
    environment = {**os.environ, "SOURCE_DATE_EPOCH": epoch()}
    sdist, wheel = build(DIST, environment)
    again = build(Path(tempfile.mkdtemp()), environment)
    changed = [ours.name for ours, theirs in zip((sdist, wheel), again, strict=True)
               if ours.read_bytes() != theirs.read_bytes()]  # fmt: skip
    shutil.rmtree(again[0].parent)
    faults = [f"{name}: a second build has other bytes" for name in changed]
    faults += [*faults_of_sdist(names_in(sdist)), *faults_of_wheel(names_in(wheel))]
    for fault in faults:
        print(f"make dist: {fault}", file=sys.stderr)
    if faults:
        return 1
    run("twine", "check", "--strict", str(sdist), str(wheel))
    # Kohort installs as an application, whose folders are separate packages, `cli` among them (W005, W009); the
    # scripts of completion are printed by the command and lie where shells look for them (W002).
    run("check-wheel-contents", "--ignore", "W002,W005,W009", str(wheel))
    for package in (sdist, wheel):
        installed(package)
    print(f"built, checked and run: {sdist.name}, {wheel.name}")
    return 0


def epoch() -> str:
    """Seconds since 1970 that everything in the packages is dated to."""
    asked = os.environ.get("SOURCE_DATE_EPOCH")
    return asked or _output("git", "log", "-1", "--format=%ct").strip()


def build(directory: Path, environment: Mapping[str, str]) -> tuple[Path, Path]:
    """The sdist, and the wheel that is built from it. Only what git knows is built, and the man pages."""
    shutil.rmtree(directory, ignore_errors=True)
    with tempfile.TemporaryDirectory() as source:
        for name in _tracked():
            copy = Path(source) / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy, follow_symlinks=False)
        os.environ["SOURCE_DATE_EPOCH"] = environment["SOURCE_DATE_EPOCH"]  # click-man dates its pages by it
        man.write(Path(source) / "man")
        run("build", "--no-isolation", "--sdist", "--outdir", str(directory), source, environment=environment)
    (sdist,) = directory.glob("*.tar.gz")
    sdist.write_bytes(normalized(sdist.read_bytes(), int(environment["SOURCE_DATE_EPOCH"])))
    with tempfile.TemporaryDirectory() as source, tarfile.open(sdist) as archive:
        archive.extractall(source, filter="data")
        (unpacked,) = Path(source).iterdir()
        options = ("--no-isolation", "--wheel", "--outdir", str(directory))
        run("build", *options, str(unpacked), environment=environment)
    (wheel,) = directory.glob("*.whl")
    return sdist, wheel


def normalized(archive: bytes, seconds: int) -> bytes:
    """A .tar.gz with the same files, without who packed it and when: setuptools has no way to leave that out."""
    packed, plain = io.BytesIO(), io.BytesIO()
    with tarfile.open(fileobj=io.BytesIO(archive)) as old, tarfile.open(fileobj=plain, mode="w") as new:
        for entry in sorted(old.getmembers(), key=lambda member: member.name):
            mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
            renamed = entry.replace(mtime=seconds, mode=mode, uid=0, gid=0, uname="", gname="", deep=False)
            renamed.pax_headers = {}
            new.addfile(renamed, old.extractfile(entry) if entry.isfile() else None)
    with gzip.GzipFile(fileobj=packed, mode="wb", mtime=seconds, filename="") as stream:
        stream.write(plain.getvalue())
    return packed.getvalue()


def names_in(package: Path) -> set[str]:
    """The files of a package; of an sdist without the folder that holds them all."""
    if package.suffix == ".whl":
        return set(zipfile.ZipFile(package).namelist())
    with tarfile.open(package) as archive:
        return {entry.name.partition("/")[2] for entry in archive if entry.isfile()}


def faults_of_sdist(names: Iterable[str]) -> list[str]:
    names = set(names)
    required = sources() | BESIDES | {"man/kohort.1", "completions/kohort.bash"}
    return [f"sdist: lacks {name}" for name in sorted(required - names)] + _strangers("sdist", names)


def faults_of_wheel(names: Iterable[str]) -> list[str]:
    names = set(names)
    data, info = f"kohort-{VERSION}.data/data/share", f"kohort-{VERSION}.dist-info"
    required = sources() | {
        f"{info}/licenses/LICENSE", f"{info}/entry_points.txt", f"{data}/man/man1/kohort.1",
        f"{data}/bash-completion/completions/kohort.bash", f"{data}/zsh/site-functions/_kohort",
        f"{data}/fish/vendor_completions.d/kohort.fish",
    }  # fmt: skip
    strangers = [name for name in names if name.split("/")[0] not in {*PACKAGES, data.split("/")[0], info}]
    return [
        *(f"wheel: lacks {name}" for name in sorted(required - names)),
        *(f"wheel: {name} does not belong there" for name in sorted(strangers)),
        *_strangers("wheel", names),
    ]


def _strangers(kind: str, names: Iterable[str]) -> list[str]:
    return [f"{kind}: {name} does not belong there" for name in sorted(names) if name.startswith(NEVER)]


def sources() -> set[str]:
    """Every file that git has in the folders of the packages: code, py.typed and data; and the pages and schemas that
    `kohort mcp` serves."""
    names = _tracked()
    pages = {
        name
        for name in names
        if re.fullmatch(r"docs/((explanation/|migrate/|runbooks/)?[^/]+\.md|schemas/.+\.json)", name)
    }
    code = {name for name in names if name.split("/")[0] in PACKAGES}
    return code - {PAGES} | {f"{PAGES}{page.removeprefix('docs')}" for page in pages}


def installed(package: Path) -> None:
    """Install a package and what it needs, nothing else, into a fresh environment; run the demo and see the version."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        subprocess.run([sys.executable, "-m", "venv", str(home / "venv")], check=True)
        bin_ = home / "venv" / "bin"
        constraints = ("--constraint", str(ROOT / "constraints.txt"))
        pip = [
            str(bin_ / "python"),
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            *constraints,
        ]
        subprocess.run([*pip, str(package)], check=True)
        environment = {"PATH": f"{bin_}:/usr/bin:/bin", "HOME": folder, "LC_ALL": "C.UTF-8"}
        shown = _output("kohort", "version", cwd=home, environment=environment)
        if shown != f"kohort {VERSION}\n":
            raise SystemExit(f"make dist: {package.name}: kohort version printed {shown!r}")
        _output("kohort", "version", "--verbose", cwd=home, environment=environment)
        _output("sh", str(ROOT / "docs" / "demo.sh"), cwd=home, environment=environment)
        lacking = subprocess.run(
            [bin_ / "kohort", "top"], cwd=home, env=environment, capture_output=True, text=True, check=False
        )
        if "kohort[top]" not in lacking.stderr:
            raise SystemExit(
                f"make dist: {package.name}: kohort top did not name its extra: {lacking.stderr}"
            )
        subprocess.run([*pip, f"{package}[top]"], check=True)
        _output(
            "python", "-c", "import cli.verbs.top.app, cli.verbs.top.web", cwd=home, environment=environment
        )
        if not (home / "venv" / "share" / "man" / "man1" / "kohort.1").exists():
            raise SystemExit(f"make dist: {package.name}: man kohort has no page")
    print(f"{package.name}: installed alone; make demo's commands ran")


def run(module: str, *arguments: str, environment: Mapping[str, str] | None = None) -> None:
    """Run a tool of this Python's environment; ends the program where it fails, with what it said."""
    tool = str(Path(sys.executable).parent / module) if module != "build" else ""
    command = [sys.executable, "-m", "build"] if module == "build" else [tool]
    done = subprocess.run(
        [*command, *arguments], env=environment, cwd=tempfile.gettempdir(),
        text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"make dist: {module} failed:\n{done.stdout}")


def _tracked() -> list[str]:
    return [name for name in _output("git", "ls-files", "-z").split("\0") if name and (ROOT / name).exists()]


def _output(*command: str, cwd: Path = ROOT, environment: Mapping[str, str] | None = None) -> str:
    done = subprocess.run(
        command, cwd=cwd, env=environment, text=True, check=False, capture_output=True,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"make dist: {' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
