"""Explores all states of a small world, breadth first, and remembers the path to each.
States are kept whole until their steps are taken, and as fingerprints afterwards."""

import gc
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field

from coordinator.consumer.outputs import Partitions, TopicPartition
from coordinator.simulation.exploration.properties import (
    CONVERGES,
    STATE_PROPERTIES,
    STEP_PROPERTIES,
    converged,
)
from coordinator.simulation.exploration.small_world import SmallWorld
from coordinator.simulation.exploration.worlds import ExplorationStep, Verb, WorldSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Counterexample:
    """A violated property, with the shortest path to it."""

    name: str
    trace: tuple[str, ...]  # A line for each step
    owned: tuple[Mapping[str, Partitions], ...]
    """By line: the partitions of each running member after the step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exploration:
    """The result of exploring a world."""

    spec: WorldSpec
    broken: str | None
    states: int
    transitions: int
    depth: int  # The number of steps to the most distant state
    holds: tuple[str, ...]
    counterexamples: tuple[Counterexample, ...]
    is_whole: bool  # Whether all states were visited, with no early stop
    is_interrupted: bool = False  # Whether Ctrl-C stopped it: then this is the result so far


@dataclass(slots=True)
class _Search:
    parents: dict[int, tuple[int, ExplorationStep] | None] = field(default_factory=dict)
    """By fingerprint: the state and the step from which a state was first reached."""
    reached_from: dict[int, list[int]] = field(default_factory=dict)
    """By fingerprint: the states from which a state was reached by steps that are not perturbations."""
    settled: list[int] = field(default_factory=list)
    violated: dict[str, int] = field(default_factory=dict)  # By property: the first state that violates it
    checked: set[tuple[object, ...]] = field(default_factory=set)
    """Parts of states, and steps of parts, of which all properties were checked."""
    transitions: int = 0


def explore(
    spec: WorldSpec,
    *,
    limit: int = 1_000_000,
    broken: str | None = None,
    breaking: Callable[[], AbstractContextManager[None]] = nullcontext,
    progress: Callable[[int, int], None] | None = None,
    stop_at_first: bool = False,
    only_where_needed: bool = False,
) -> Exploration:
    """Explore at most about `limit` states of a world, or until Ctrl-C; `breaking` switches the rule `broken` off.
    With `only_where_needed` a state is checked only if the rule would have applied on the path to it. `progress` gets
    the number of visited states, and of those whose steps are not taken yet."""
    search = _Search()
    with breaking(), ExitStack() as stack:
        # States have no cycles, and steps of their parts, which have, are few.
        gc.disable()
        stack.callback(gc.enable)
        first = first_state(spec)
        start = first.fingerprint()
        search.parents[start] = None
        waiting = deque([(start, 0, first)])
        depth, is_whole, is_interrupted = 0, True, False
        try:
            while waiting:
                here, depth, world = waiting.popleft()
                for state_print, after in _after(search, here, world, only_where_needed):
                    waiting.append((state_print, depth + 1, after))
                if progress is not None:
                    progress(len(search.parents), len(waiting))
                if len(search.parents) >= limit or (stop_at_first and search.violated):
                    is_whole = not waiting
                    break
        except KeyboardInterrupt:
            is_whole, is_interrupted = False, True
        if is_whole:
            _check_convergence(search)
        violated = search.violated.items()
        counterexamples = tuple(_counterexample(spec, search, name, state) for name, state in violated)
    checked = [*STATE_PROPERTIES, *STEP_PROPERTIES, *([CONVERGES] if is_whole else [])]
    return Exploration(
        spec=spec,
        broken=broken,
        states=len(search.parents),
        transitions=search.transitions,
        depth=depth,
        holds=tuple(name for name in checked if name not in search.violated),
        counterexamples=counterexamples,
        is_whole=is_whole,
        is_interrupted=is_interrupted,
    )


def _after(
    search: _Search, here: int, state: SmallWorld, only_where_needed: bool
) -> Iterator[tuple[int, SmallWorld]]:
    """The next states that were not visited before."""
    steps = state.steps()
    if converged(state):
        search.settled.append(here)
    for step in steps:
        world = state.fork()
        world.take(step)
        search.transitions += 1
        state_print = world.fingerprint()
        if world.left == state.left:
            search.reached_from.setdefault(state_print, []).append(here)
        is_new = state_print not in search.parents
        if is_new:
            search.parents[state_print] = here, step
        if world.has_broken_rule or not only_where_needed:
            if is_new and (parts := world.prints()) not in search.checked:
                search.checked.add(parts)
                for name, holds in STATE_PROPERTIES.items():
                    if name not in search.violated and not holds(world):
                        search.violated[name] = state_print
            if (taken := tuple(world.taken)) not in search.checked:
                search.checked.add(taken)
                for name, fits in STEP_PROPERTIES.items():
                    if name not in search.violated and not fits(state, world):
                        search.violated[name] = state_print
        if is_new:
            yield state_print, world


_QUICK = (Verb.START, Verb.ANSWER, Verb.REQUEST, Verb.CALLED_BACK, Verb.POLL, Verb.WAKE)
"""The steps that settle a group fastest: members heartbeat only when no message is in flight."""
_MOST_STEPS = 1_000


def first_state(spec: WorldSpec) -> SmallWorld:
    """All members stopped or, if the world says so, the group settled. Raises RuntimeError: it never settles."""
    world = SmallWorld(spec)
    for _ in range(_MOST_STEPS if spec.starts_settled else 0):
        if converged(world):
            break
        quick = (step for step in world.steps() if step.verb in _QUICK)
        world.take(min(quick, key=lambda step: _QUICK.index(step.verb)))
    else:
        if spec.starts_settled:
            raise RuntimeError(f"the group of {spec.name} does not settle")
    return world


def _check_convergence(search: _Search) -> None:
    """Check that a settled state can be reached from every state: search backwards from the settled states."""
    known = set(search.settled)
    waiting = list(known)
    while waiting:
        for before in search.reached_from.get(waiting.pop(), ()):
            if before not in known:
                known.add(before)
                waiting.append(before)
    stuck = [state for state in search.parents if state not in known]
    if stuck:
        search.violated[CONVERGES] = stuck[0]


def _counterexample(spec: WorldSpec, search: _Search, name: str, state: int) -> Counterexample:
    """The path to a state, described while its steps are taken again."""
    steps: list[ExplorationStep] = []
    while (parent := search.parents[state]) is not None:
        state, step = parent
        steps.append(step)
    world = first_state(spec)
    owned = [world.owners()]
    trace = []
    if spec.starts_settled:
        trace.append(f"the group is settled: {_owners(owned[0])}")
    for step in reversed(steps):
        line = _sentence(world, step)
        world.take(step)
        before, now = owned[-1], world.owners()
        owned.append(now)
        calls = [f"{who}: {call.kind.value} {_partitions(call.partitions)}" for who, call in world.callbacks]
        changed = {who: places for who, places in now.items() if places != before.get(who, frozenset())}
        gone = {who: frozenset[TopicPartition]() for who in before if before[who] and who not in now}
        trace.append("; ".join([line, *calls, *([_owners(changed | gone)] if changed or gone else [])]))
    return Counterexample(
        name=name, trace=tuple(trace), owned=tuple(owned if spec.starts_settled else owned[1:])
    )


def _owners(owned: Mapping[str, Partitions]) -> str:
    return "; ".join(f"{name} owns {_partitions(partitions)}" for name, partitions in owned.items())


def _sentence(world: SmallWorld, step: ExplorationStep) -> str:
    what = ""
    if isinstance(step.which, int):
        content = world.network[step.which].content
        error = getattr(content, "error", None)
        what = f"{type(content).__name__}{f' ({error.name})' if error else ''}"
    elif step.verb is Verb.SUBSCRIBE:
        what = ", ".join(step.which)
    elif step.which is not None:
        what = f"the {step.which.kind.name} timer of {step.which.member or step.which.group}"
    return step.verb.value.format(who=step.who, what=what)


def _partitions(places: Partitions) -> str:
    return ", ".join(f"{topic}-{number}" for topic, number in sorted(places)) or "nothing"
