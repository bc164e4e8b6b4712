"""What is tried on every broker. A check fails by an AssertionError; where a release cannot do it, words are wanted."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.cli.command import INTERNAL
from tests.kafka.wait import wait_until
from tests.matrix.scene import RECORDS, Scene

BAD_WORDS = ("malformed", *INTERNAL, "UNSUPPORTED_VERSION)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A row of the table: `run` tries it, or, on a release before `since`, returns what Kohort says instead (an
    empty text: it works). One of `types` has to be a type of the release, or there is nothing to try."""

    name: str
    run: Callable[[Scene], str]
    since: str = "3.5"
    types: tuple[str, ...] = ("classic",)


def _by_name(document: dict[str, Any]) -> dict[str, Any]:
    return {group["group"]: group for group in document["groups"]}


def _same_members(theirs: dict[str, Any], ours: dict[str, Any], name: str) -> None:
    keys = {"client": "client_id", "host": "host", "instance": "instance", "owned": "owned"}
    seen = {one["id"]: {key: one[ours_] for key, ours_ in keys.items()} for one in ours["members"]}
    assert seen == theirs["members"], (name, seen, theirs)


def releases(scene: Scene) -> str:
    saved = scene.ask("snapshot java-eager").succeeded()
    assert f'kafka: "{scene.release.release}"' in saved.stdout, saved.stdout[:300]
    return ""


def lists(scene: Scene) -> str:
    """Every group by its type, its state and how many members it has."""
    result: dict[str, Any] = {}

    def same() -> bool:
        # On a busy machine a member may still be about to join, between the two questions too.
        result.update(_by_name(scene.asked("list")))
        return all(
            (result[name]["state"], result[name]["members"]) == (theirs["state"], len(theirs["members"]))
            for name, theirs in scene.admin().items()
        )

    wait_until(same, lambda: f"the same states and members: {result}", timeout_s=30, every_s=0.5)
    # ListGroups has no types before 3.8: a group is then described as a classic one.
    assert {name: result[name]["type"] for name in scene.groups} == scene.groups
    return ""


def describes(*modes: str) -> Callable[[Scene], str]:
    """`describe` of everything in a mode, members and states compared with the AdminClient of the release."""

    def check(scene: Scene) -> str:
        if "--verbose" in modes:
            _settled(scene)
        admin = scene.admin()
        answer = scene.ask("describe --all-groups", *modes).succeeded()
        # A group without members has no row in a table of members.
        silent = {"idle"} if scene.release.since("4.2") else {"idle", "shared"}
        for name in scene.groups.keys() - silent:
            assert name in answer.stdout, (name, answer)
        result = _by_name(scene.asked("describe --all-groups", *modes))
        for name, theirs in admin.items():
            assert result[name]["state"] == theirs["state"], (result[name], theirs)
            assert result[name]["protocol"] in (theirs["protocol"], None), (result[name], theirs)
            if result[name].get("members") is not None:
                _same_members(theirs, result[name], name)
        return ""

    return check


def _settled(scene: Scene) -> None:
    def stable() -> bool:
        result = _by_name(scene.asked("list"))
        return all(result[name]["state"] == "Stable" for name in scene.groups if name != "idle")

    wait_until(stable, "every group is Stable", every_s=0.5)


def offsets(scene: Scene) -> str:
    def same() -> bool:
        admin = scene.admin()
        result = _by_name(scene.asked("describe --all-groups --offsets"))
        for name, theirs in admin.items():
            rows = [row for row in result[name]["offsets"] if row["committed"] is not None]
            ours = sorted([row["topic"], row["partition"], row["committed"]] for row in rows)
            if ours != sorted(theirs["offsets"]) or any(row["end"] != RECORDS for row in rows):
                return False
        return True

    wait_until(same, "the same offsets", timeout_s=30, every_s=0.5)
    return ""


def plans(group: str, goal: str, *, blocked_below: str = "0.0") -> Callable[[Scene], str]:
    """A plan of `group` to `goal`; releases before `blocked_below` have to block it by a finding that says why."""

    def check(scene: Scene) -> str:
        clients = ("--client", "java:4.3.1")
        answer = scene.ask(f"plan {group} --to {goal}", *clients, "--output", "json")
        plan = answer.document
        if not scene.release.since(blocked_below):
            assert (answer.status, plan["verdict"]) == (1, "blocked"), answer
            why = [one for one in plan["findings"] if one["rule"] in ("broker-version", "group-version")]
            assert why, plan["findings"]
            return str(why[0]["message"])
        blockers = [one for one in plan["findings"] if one["level"] == "blocker"]
        assert (answer.status, blockers) == (0, []), plan["findings"]
        scene.ask(f"plan {group} --to {goal}", *clients).succeeded()
        return ""

    return check


def gates(scene: Scene) -> str:
    written = scene.scratch / "plan.yaml"
    plan = scene.ask("plan java-eager --to cooperative --client java:4.3.1 --output yaml").succeeded()
    written.write_text(plan.stdout)
    answer = scene.ask("gate", str(written), "--step", "0", "--output", "json")
    assert answer.status == 0, answer
    assert answer.document["open"] is True, answer
    later = scene.ask("gate", str(written), "--step", "1", "--output", "json")
    assert (later.status, later.document["open"]) == (1, False), later
    return ""


def resets(scene: Scene) -> str:
    """A reset is shown, changes nothing, is executed, and the AdminClient sees it; then the offsets of a topic go."""
    line = "offsets reset idle --topic orders --to-earliest"
    before = scene.admin()["idle"]["offsets"]
    shown = scene.asked(line)
    assert scene.admin()["idle"]["offsets"] == before
    assert str(shown).count("'after': 0") == 4, shown
    scene.asked(f"{line} --execute --yes")
    assert scene.admin()["idle"]["offsets"] == [["orders", number, 0] for number in range(4)]
    return ""


def exports(scene: Scene) -> str:
    written = scene.scratch / "offsets.csv"
    written.write_text(scene.ask("offsets export idle").succeeded().stdout)
    scene.ask(f"offsets import {written} idle --execute --yes").succeeded()
    scene.ask("offsets clone idle copy --execute --yes").succeeded()
    scene.ask("offsets delete copy --topic orders --execute --yes").succeeded()
    return ""


def deletes(scene: Scene) -> str:
    """A group without members is deleted; one with members is refused by name."""
    scene.ask("offsets clone idle gone --execute --yes").succeeded()
    scene.ask("delete gone --execute --yes").succeeded()
    assert "gone" not in _by_name(scene.asked("list"))
    return ""


def configs(scene: Scene) -> str:
    name = "consumer.session.timeout.ms"
    answer = scene.ask("config get java-eager")
    if not scene.release.since("4.0"):
        assert answer.status == 3, answer
        changed = scene.ask(f"config set java-eager {name}=7000 --execute --yes")
        assert changed.status == 3, changed
        assert answer.stderr == changed.stderr, (answer, changed)
        return answer.stderr.partition("java-eager: ")[2].strip()
    answer.succeeded()
    scene.ask(f"config set java-new {name}=7000 --execute --yes").succeeded()

    def value() -> str | None:
        settings = scene.asked("config get java-new", name)["settings"]
        return str(settings[0]["value"])

    wait_until(lambda: value() == "7000", "the setting is in force")
    scene.ask(f"config unset java-new {name} --execute --yes").succeeded()
    wait_until(lambda: value() != "7000", "the setting is gone")
    return ""


def streams_assignors(scene: Scene) -> str:
    """The assignor of a streams group, which a broker shows from 4.4 on (KIP-1357)."""
    (result,) = scene.asked("list --type streams")["groups"]
    if not scene.release.since("4.4"):
        assert result["protocol"] is None, result
        return "The brokers do not show it, and the column is empty."
    assert result["protocol"] == "sticky", result
    return ""


def snapshots(scene: Scene) -> str:
    _settled(scene)
    live = _by_name(scene.asked("describe --all-groups --members --verbose"))
    written = scene.scratch / "fleet.yaml"
    scene.ask("snapshot --file", str(written)).succeeded()
    saved = scene.kohort(
        "describe", "--all-groups", "--members", "--verbose", "--snapshot", written, "--output", "json"
    ).succeeded()
    for name, group in _by_name(saved.document).items():
        for key in ("type", "state", "protocol", "members"):
            assert group[key] == live[name][key], (name, key, group[key], live[name][key])
    return ""


def logs(scene: Scene) -> str:
    """The broker's own directory, read while it runs, shows the groups as the broker does."""
    _settled(scene)
    live = _by_name(scene.asked("describe --all-groups --members --verbose"))
    data = str(scene.broker.data)
    replayed = scene.kohort(
        "describe", "--all-groups", "--members", "--verbose", "--log-dir", data, "--output", "json"
    )
    assert replayed.status == 0, replayed
    result = _by_name(replayed.document)
    for name, kind in scene.groups.items():
        if kind in ("classic", "consumer"):
            assert result[name]["state"] == live[name]["state"], (result[name], live[name])
            assert result[name]["type"] == kind
            owned = {one["id"]: one["target"] or one["owned"] for one in result[name]["members"]}
            theirs = {one["id"]: one["target"] or one["owned"] for one in live[name]["members"]}
            assert owned == theirs, (name, owned, theirs)
        else:
            assert name in result, (name, sorted(result))
    dumped = scene.kohort("log", "dump", data, "--group", "java-eager", "--output", "ndjson").succeeded()
    assert "java-eager" in dumped.stdout
    # While a broker appends, an index may be ahead of the log that was just read.
    scene.broker.stop()
    verified = scene.kohort("log", "verify", data)
    assert verified.status == 0, verified
    return ""


def features(scene: Scene) -> str:
    """The release's own levels are in force, or those of 4.2 that 4.1 has unstable; what no broker supports is refused,
    and what is lower by the brokers."""
    known = {row["feature"]: row for row in scene.asked("features list")["features"]}
    metadata = known["metadata.version"]
    names = {scene.release.release, "4.2" if scene.release.release == "4.1" else ""}
    assert metadata["name"].partition("-")[0] in names, metadata
    assert metadata["finalized"] == metadata["supported"]["max"] == metadata["brokers"][0]["max"]
    level = metadata["finalized"] - 1
    for line, words in (("group.version=9", "not 9"), (f"metadata.version={level}", "Add --downgrade")):
        refused = scene.ask(f"features set {line}")
        assert (refused.status, words in refused.stderr) == (4, True), refused
    scene.ask(f"features set --release-version {metadata['name']}").succeeded()
    return ""


def regexes(scene: Scene) -> str:
    result = scene.asked("validate-regex pay.*")
    assert "payments" in str(result["patterns"][0]["topics"]), result
    return ""


def dry_runs(*groups: str) -> Callable[[Scene], str]:
    """What a rebalance would do now: nothing moves in a settled group."""

    def check(scene: Scene) -> str:
        _settled(scene)
        for name in groups:
            result = scene.asked("dry-run", name)
            assert result["groups"][0]["rebalances"], result
        return ""

    return check


_MODES = (
    ("--members",), ("--members", "--verbose"), ("--state",), ("--state", "--verbose"), ("--offsets", "--verbose"),
    ("--migration",), ("--last-commit",), ("--lag-time",), ("--totals",),
)  # fmt: skip

CHECKS: tuple[Check, ...] = (
    Check(name="the release by what the broker supports", run=releases),
    Check(name="`list`", run=lists),
    *(Check(name=f"`describe {' '.join(modes)}`", run=describes(*modes)) for modes in _MODES),
    Check(name="offsets and ends of logs", run=offsets),
    Check(name="`validate-regex`", run=regexes),
    Check(name="`dry-run`, classic", run=dry_runs("java-eager", "java-coop", "rd-eager")),
    Check(name="`dry-run`, consumer", run=dry_runs("java-new"), types=("consumer",)),
    Check(name="`plan --to cooperative`", run=plans("java-eager", "cooperative")),
    Check(name="`plan --to eager`", run=plans("java-coop", "eager")),
    Check(name="`plan --to consumer`", run=plans("java-eager", "consumer", blocked_below="4.0"), since="4.0"),
    Check(name="`plan --to classic`", run=plans("java-new", "classic"), types=("consumer",)),
    Check(name="`gate`", run=gates),
    Check(name="`offsets reset`", run=resets),
    Check(name="`offsets export`, `import`, `clone`, `delete`", run=exports),
    Check(name="`delete`", run=deletes),
    Check(name="`config get`, `set`, `unset`", run=configs, since="4.0"),
    Check(name="`features list`, `set`", run=features),
    Check(name="assignor of a streams group", run=streams_assignors, since="4.4", types=("streams",)),
    Check(name="`snapshot`", run=snapshots),
    Check(name="`--log-dir`, `log verify`, `log dump`", run=logs),
)  # fmt: skip
