"""Workflows, pre-commit, the image and its manifest: each file is valid, and they run what the README and make run."""

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from cli.verbs.exporter.endpoint import HEALTHY, READY
from tests.docs.pages import ROOT, command_lines
from tests.docs.test_commands import parses
from tests.shipping import locks

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
MANIFEST = ROOT / "docs" / "exporter" / "kubernetes.yaml"
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
MAKEFILES = "".join((ROOT / name).read_text(encoding="utf-8") for name in ("Makefile", "targets.mk"))
TARGETS = set(re.findall(r"^([a-z-]+):.*##", MAKEFILES, re.M))
BIN = Path(sys.executable).parent


def _steps() -> Iterator[tuple[str, dict[str, Any]]]:
    for file in WORKFLOWS:
        for job in yaml.safe_load(file.read_text(encoding="utf-8"))["jobs"].values():
            for step in job["steps"]:
                yield file.name, step


def _made(lines: str) -> set[str]:
    targets = re.findall(r"^(?:- run: )?make (?:--silent )?([a-z -]+)", lines, re.M)
    return {word for text in targets for word in text.split()}


def test_workflows_have_the_form_of_the_forge() -> None:
    command = [
        str(BIN / "check-jsonschema"),
        "--builtin-schema",
        "vendor.github-workflows",
        *map(str, WORKFLOWS),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_pre_commit_takes_its_file() -> None:
    subprocess.run([BIN / "pre-commit", "validate-config"], cwd=ROOT, check=True)


def test_workflows_run_what_make_and_the_readme_have() -> None:
    made = _made("\n".join(step.get("run", "") for _, step in _steps()))
    assert made <= TARGETS
    assert made >= _made((ROOT / ".ci" / "run").read_text(encoding="utf-8"))
    assert made >= {"check", "test", "matrix", "dist", "site", "release-notes", "demo"}
    assert {"test", "check"} <= made & set(re.findall(r"`make ([a-z-]+)`", (ROOT / "README.md").read_text()))


def test_the_scheduled_long_run_has_every_part_of_make_test_long() -> None:
    (job,) = yaml.safe_load((WORKFLOWS[0].parent / "long.yml").read_text(encoding="utf-8"))["jobs"].values()
    (parts,) = re.findall(r"^test-long: ([^#]*)", MAKEFILES, re.M)
    assert job["strategy"]["matrix"]["target"] == parts.split()


def test_workflows_may_do_no_more_than_they_must() -> None:
    for file in WORKFLOWS:
        workflow = yaml.safe_load(file.read_text(encoding="utf-8"))
        assert workflow["permissions"] == {"contents": "read"}, file.name
        for name, job in workflow["jobs"].items():
            writes = {scope for scope, level in job.get("permissions", {}).items() if level == "write"}
            assert writes == {"index": {"id-token"}, "image": {"packages"}, "notes": {"contents"}}.get(
                name, set()
            )
            assert job["timeout-minutes"] <= 240


def test_actions_are_pinned_by_digest_and_checkouts_keep_no_credentials() -> None:
    for file in WORKFLOWS:
        for line in re.findall(r"uses: (.*)", file.read_text(encoding="utf-8")):
            assert re.fullmatch(r"[\w.-]+/[\w.-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+", line), (file.name, line)
    for name, step in _steps():
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False, name


def _locked(name: str) -> dict[str, str]:
    """The versions in a lock, by normalized name; each has the hashes of its files."""
    text = (locks.LOCKS / f"{name}.txt").read_text(encoding="utf-8").replace("\\\n", " ")
    versions: dict[str, str] = {}
    for line in text.splitlines():
        (version, *_), hashes = line.split(maxsplit=1), re.findall(r"--hash=sha256:[0-9a-f]{64}\b", line)
        assert hashes, line
        package, _, number = version.partition("==")
        versions[canonicalize_name(package)] = number
    return versions


def test_locks_have_hashes_and_the_versions_of_the_constraints() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").split()
    pinned = {canonicalize_name(name): number for name, _, number in (line.partition("==") for line in lines)}
    together: dict[str, str] = {}
    for name in locks.EXTRAS:
        packages = _locked(name)
        together |= packages
        for text in locks.requirements(name):
            requirement = Requirement(text)
            assert packages[canonicalize_name(requirement.name)] in requirement.specifier, text
    assert together == pinned


def test_installs_verify_hashes() -> None:
    assert "LOCKED := --require-hashes --no-deps\n" in MAKEFILES
    installs = re.findall(r"\$\(PIP\) (.*)", MAKEFILES)
    assert all(line.startswith("$(LOCKED) ") or line.endswith(" --editable .") for line in installs)
    assert DOCKERFILE.count("--require-hashes --no-deps --requirement") == 2


def test_the_dockerfile_has_no_findings() -> None:
    done = subprocess.run(
        [BIN / "hadolint", ROOT / "Dockerfile"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_the_image_runs_kohort_as_a_user_without_rights() -> None:
    last = DOCKERFILE.rpartition("\nFROM ")[2]
    assert re.search(r"^USER (\d+):\1$", last, re.M)
    assert 'ENTRYPOINT ["kohort"]' in last
    assert f"http://127.0.0.1:9408{HEALTHY}" in last
    parses(["exporter", "-b", "broker-1:9092"])


def test_the_image_is_built_from_every_package_and_nothing_secret() -> None:
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    from tests.shipping.dist import PACKAGES

    assert allowed - set(PACKAGES) == {
        "completions", "CHANGELOG.md", "LICENSE", "MANIFEST.in", "README.md", "constraints.txt", "locks",
        "pyproject.toml", "docs",  # to which cli has a link
    }  # fmt: skip
    assert set(PACKAGES) <= allowed


def test_the_manifest_starts_the_exporter_and_probes_it() -> None:
    deployment, service = yaml.safe_load_all(MANIFEST.read_text(encoding="utf-8"))
    pod = deployment["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    (words,) = command_lines("kohort " + shlex.join(container["args"]))
    parses(words)
    (port,) = container["ports"]
    assert f"--listen=0.0.0.0:{port['containerPort']}" in words
    assert service["spec"]["ports"][0]["targetPort"] == port["name"]
    assert service["spec"]["selector"] == deployment["spec"]["template"]["metadata"]["labels"]
    assert container["livenessProbe"]["httpGet"] == {"path": HEALTHY, "port": port["name"], "scheme": "HTTPS"}
    assert container["readinessProbe"]["httpGet"]["path"] == READY
    mounted = {mount["name"] for mount in container["volumeMounts"]}
    assert mounted == {volume["name"] for volume in pod["volumes"]}
    assert f"USER {pod['securityContext']['runAsUser']}:" in DOCKERFILE
