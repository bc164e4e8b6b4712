"""Replaces systemctl, docker and kubectl: programs of these names pass on their arguments to this process, which
starts and stops processes as they would. It knows of these tools what the scripts of docs/migrate use."""

import json
import os
import re
import signal
import socketserver
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock, Thread
from typing import Any, TypeAlias

Tree: TypeAlias = dict[str, Any]
"""An object of Kubernetes, as in JSON."""
KEY = "client.properties"
COST = "controller.kubernetes.io/pod-deletion-cost"
PROGRAM = r"""#!/bin/bash
exec 3<>/dev/tcp/127.0.0.1/PORT
case " $* " in *" --filename=- "* | *" --patch-file=/dev/stdin "*) input=$(cat) ;; esac
printf '%s\0' "$((3 + $#))" "${input-}" "${0##*/}" "$@" >&3
read -r -u 3 status
IFS= read -r -d '' -u 3 output
[ "$status" = 0 ] && printf %s "$output" || printf %s "$output" >&2
exit "$status"
"""
APPLICATION = """trap '/bin/sleep "$2"; kill $!; exit 0' TERM
cat "$1"; exec >&-; [ "$3" = up ] || exit 1; /bin/sleep 1000 & wait"""


class Failure(Exception):
    """What a tool refuses, or does not find."""


@dataclass(slots=True, kw_only=True)
class Process:
    """The process of a member: it reads its settings when it starts, and ends a while after SIGTERM."""

    settings: Callable[[], str]
    ends_after_s: float = 0.0
    crashes: bool = False
    service: str = ""  # Of Docker Compose
    read: str = ""  # The settings that it has read
    popen: subprocess.Popen[str] | None = None
    is_wanted: bool = False  # Whether its tool has started it; one that was stopped may still be running

    @property
    def runs(self) -> bool:
        return self.popen is not None and self.popen.poll() is None

    @property
    def number(self) -> int:
        return self.popen.pid if self.popen is not None and self.runs else 0

    def start(self, directory: Path) -> None:
        self.is_wanted = True
        if self.runs:
            return
        file = directory / "settings"
        file.write_text(self.settings())
        facts = [str(file), str(self.ends_after_s), "down" if self.crashes else "up"]
        words = ["sh", "-c", APPLICATION, "sh", *facts]
        self.popen = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, start_new_session=True)
        assert self.popen.stdout is not None
        self.read = self.popen.stdout.read()
        self.popen.stdout.close()
        if self.crashes:
            self.popen.wait()

    def stop(self, *, awaited: bool = True) -> None:
        self.is_wanted = False
        if self.popen is not None and self.runs:
            self.popen.terminate()
            if awaited:
                self.popen.wait()

    def end(self) -> None:
        if self.popen is not None:
            if self.runs:
                os.killpg(self.popen.pid, signal.SIGKILL)
            self.popen.wait()


def parsed(arguments: list[str]) -> tuple[list[str], dict[str, str]]:
    """The words, and the options, which are written as `--name=value`."""
    named = [word[2:] for word in arguments if word.startswith("--") and word != "--"]
    options = dict(word.partition("=")[::2] for word in named)
    return [word for word in arguments if not word.startswith("-")], options


@dataclass(slots=True, kw_only=True)
class StandIns:
    """The units of systemd, the containers of Docker, and the objects of Kubernetes."""

    directory: Path
    units: dict[str, Process] = field(default_factory=dict)
    containers: dict[str, Process] = field(default_factory=dict)
    objects: dict[str, Tree] = field(default_factory=dict)
    pods: dict[str, Process] = field(default_factory=dict)
    crashes: bool = False  # Whether pods that start crash

    @contextmanager
    def in_path(self) -> Iterator[Path]:
        """A directory with the three programs."""
        lock, answers = Lock(), self.answer

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                count = int(_word(self.rfile.read))
                given, tool, *arguments = (_word(self.rfile.read) for _ in range(count - 1))
                with lock:
                    try:
                        text, status = answers(tool, arguments, given), 0
                    except Failure as failure:
                        text, status = f"stand-in: {failure}\n", 1
                self.wfile.write(f"{status}\n{text}".encode())

        programs = self.directory / "bin"
        programs.mkdir()
        with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
            for tool in ("systemctl", "docker", "kubectl"):
                (programs / tool).write_text(PROGRAM.replace("PORT", str(server.server_address[1])))
            (programs / "sleep").write_text("#!/bin/sh\nexec /bin/sleep 0.02\n")
            for program in programs.iterdir():
                program.chmod(0o755)
            Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
            yield programs
            server.shutdown()
        for process in (*self.units.values(), *self.containers.values(), *self.pods.values()):
            process.end()

    def answer(self, tool: str, arguments: list[str], given: str) -> str:
        words, options = parsed(arguments)
        match tool, words:
            case "systemctl", [verb, unit]:
                return self.systemctl(verb, unit.removesuffix(".service"), options)
            case "docker", ["compose", "config"] if "services" in options:
                return "".join(f"{one.service}\n" for one in self.containers.values())
            case "docker", ["compose", "ps", service] if {"all", "quiet"} <= options.keys():
                names = (name for name, one in self.containers.items() if one.service == service)
                return "".join(f"id-of-{name}\n" for name in names)
            case "docker", [verb, *template, name]:
                return self.docker(verb, "".join(template), name.removeprefix("id-of-"))
            case "kubectl", [verb, *rest]:
                text = self.kubectl(verb, rest, options, given)
                self.reconcile()  # Afterwards: the one that asks sees what was before
                return text
        raise Failure(f"unknown arguments: {arguments}")

    def systemctl(self, verb: str, name: str, options: dict[str, str]) -> str:
        unit = self.units.get(name)
        if verb == "show":
            is_up = unit is not None and unit.is_wanted and unit.runs
            state = "active" if is_up else "failed" if unit and unit.crashes else "inactive"
            process = unit.number if unit and is_up else 0
            shown = {"LoadState": "loaded" if unit else "not-found", "ActiveState": state, "MainPID": process}
            return f"{shown[options['property']]}\n"
        if unit is None:
            raise Failure(f"Unit {name} not loaded.")
        if verb == "stop":
            unit.stop(awaited=not unit.ends_after_s)
            return ""
        if verb == "start":
            unit.start(self.directory)
        elif verb != "reset-failed":
            raise Failure(f"unknown verb {verb}")
        return ""

    def docker(self, verb: str, template: str, name: str) -> str:
        if name not in self.containers:
            raise Failure(f"No such container: {name}")
        container = self.containers[name]
        if verb == "inspect":
            state = "running" if container.runs else "exited"
            return f"id-of-{name}\n" if template == "{{.Id}}" else f"{state}\n"
        if verb == "stop":
            container.stop()
        elif verb == "start":
            container.start(self.directory)
        else:
            raise Failure(f"unknown verb {verb}")
        return ""

    def kubectl(self, verb: str, words: list[str], options: dict[str, str], given: str) -> str:
        if verb == "create":
            return self.create(words, options, given)
        if words == ["pods"]:
            address = options["field-selector"].removeprefix("status.podIP=")
            return "".join(f"{pod}\n" for pod in self.pods if self.objects[pod]["status"]["podIP"] == address)
        name = words[1] if verb == "rollout" else words[0]
        if name not in self.objects:
            if "ignore-not-found" in options or options.get("for") == "delete":
                return ""
            raise Failure(f"{name} not found")
        one = self.objects[name]
        if verb in ("wait", "rollout"):
            while self.reconcile():
                pass
            if options.get("for") == "delete" and name not in self.objects:
                return ""
        match verb:
            case "get":
                return shown(name, one, options["output"])
            case "annotate":
                key, _, value = words[1].partition("=")
                annotations = one["metadata"].setdefault("annotations", {})
                if annotations.get(key, value) != value and "overwrite" not in options:
                    raise Failure(f"{name} has an annotation {key}")
                annotations[key] = value
            case "patch":
                merge(one, json.loads(options.get("patch") or given))
            case "scale":
                one["spec"]["replicas"] = int(options["replicas"])
            case "delete":
                self.end_pod(name)
            case "wait" if options["for"] == "condition=Ready" and self.pods[name].popen is not None:
                pass
            case "rollout" if all(self.pods[pod].runs for pod in self.pods_of(name)):
                pass
            case _:
                raise Failure(f"timed out waiting: {verb} {words} {options}")
        return ""

    def create(self, words: list[str], options: dict[str, str], given: str) -> str:
        """A ConfigMap; JSON is YAML."""
        if words:
            key, _, file = options["from-file"].rpartition("=")
            data = {key or Path(file).name: Path(file).read_text()}
            new: Tree = {"kind": "ConfigMap", "metadata": {"name": words[1]}, "data": data}
            if "dry-run" in options:
                return json.dumps(new)
        else:
            new = json.loads(given)
        name = f"configmap/{new['metadata']['name']}"
        if name in self.objects:
            raise Failure(f"{name} already exists")
        self.objects[name] = new
        return f"{name} created\n"

    # The controllers of Kubernetes

    def reconcile(self) -> bool:
        """Do one thing that a controller has to do; whether there was one."""
        return any(
            self.reconcile_statefulset(name, one["spec"])
            if name.startswith("statefulset/")
            else name.startswith("deployment/") and self.reconcile_deployment(name, one["spec"])
            for name, one in [*self.objects.items()]
        )

    def reconcile_statefulset(self, name: str, spec: Tree) -> bool:
        template, strategy = spec["template"]["spec"], spec["updateStrategy"]
        is_rolling = strategy["type"] == "RollingUpdate"
        if not is_rolling and "rollingUpdate" in strategy:
            raise Failure("rollingUpdate is only allowed with the type RollingUpdate")
        partition = strategy.get("rollingUpdate", {}).get("partition", 0)
        for pod in sorted(self.pods_of(name), reverse=True):
            number = int(pod.rpartition("-")[2])
            is_old = is_rolling and number >= partition and self.objects[pod]["spec"] != template
            if is_old or number >= spec["replicas"]:
                self.end_pod(pod)
                return True
        for number in range(spec["replicas"]):
            if f"pod/billing-{number}" not in self.pods:
                is_new = number >= partition or not is_rolling
                self.begin_pod(name, f"billing-{number}", template if is_new else spec["current"])
                return True
        if is_rolling and partition == 0:
            spec["current"] = json.loads(json.dumps(template))
        return False

    def reconcile_deployment(self, name: str, spec: Tree) -> bool:
        pods = self.pods_of(name)
        if len(pods) > spec["replicas"]:
            annotations = {pod: self.objects[pod]["metadata"].get("annotations", {}) for pod in pods}
            self.end_pod(min(pods, key=lambda pod: int(annotations[pod].get(COST, 0))))
        elif len(pods) < spec["replicas"]:
            self.begin_pod(name, f"billing-{os.urandom(3).hex()}", spec["template"]["spec"])
        return bool(len(pods) != spec["replicas"])

    def pods_of(self, owner: str) -> list[str]:
        return [pod for pod in self.pods if self.objects[pod]["owner"] == owner]

    def begin_pod(self, owner: str, name: str, template: Tree) -> None:
        (volume,) = (volume for volume in template["volumes"] if volume["name"] == "config")
        map_ = self.objects[f"configmap/{volume['configMap']['name']}"]
        process = Process(settings=lambda: str(map_["data"][KEY]), crashes=self.crashes)
        process.start(self.directory)
        self.pods[f"pod/{name}"] = process
        containers = [{"name": "app", "restartCount": int(self.crashes)}]
        self.objects[f"pod/{name}"] = {
            "owner": owner,
            "metadata": {"uid": os.urandom(8).hex()},
            "spec": json.loads(json.dumps(template)),
            "status": {"podIP": f"10.{int(os.urandom(3).hex(), 16)}", "containerStatuses": containers},
        }

    def end_pod(self, name: str) -> None:
        del self.objects[name]
        self.pods.pop(name).stop()


def _word(read: Callable[[int], bytes]) -> str:
    word = b""
    while (byte := read(1)) not in (b"\0", b""):
        word += byte
    return word.decode()


def shown(name: str, one: Tree, output: str) -> str:
    """What `--output` selects: the name, a value of a ConfigMap, or values by a JSONPath."""
    kind, _, expression = output.partition("=")
    if kind == "name":
        return f"{name}\n"
    if kind == "go-template":
        (key,) = re.findall(r'index \.data "([^"]*)"', expression)
        return str(one["data"].get(key, ""))
    values: list[Any] = [one]
    for key, condition in re.findall(r"\.([\w-]+)(?:\[\?\(@\.([^)]*)\)\])?", expression.strip("{}")):
        values = [value[key] for value in values if key in value]
        if condition:
            ((name, limit, text),) = re.findall(r'(\w+)(?:>(\d+)|=="(.*)")', condition)
            items = [item for value in values for item in value]
            values = [item for item in items if (item[name] > int(limit) if limit else item[name] == text)]
    return " ".join(map(str, values))


def merge(one: Tree, patch: Tree) -> None:
    """A strategic merge: the volumes of a pod are merged by their names."""
    for key, value in patch.items():
        if value is None:
            one.pop(key, None)
        elif key == "volumes":
            for volume in value:
                (same,) = (other for other in one[key] if other["name"] == volume["name"])
                same.update(volume)
        elif isinstance(value, dict):
            merge(one.setdefault(key, {}), value)
        else:
            one[key] = value
