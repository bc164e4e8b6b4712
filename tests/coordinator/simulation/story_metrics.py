"""The metrics of real Java consumers at the end of a story: `stories/metrics/STORY.VARIANT[.WINDOW_MS].json`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from coordinator.simulation.scenario import MemberScript, Restart, Scenario, Variant
from coordinator.simulation.variants import with_variant
from tests.coordinator.simulation.recordings import STORIES
from tests.coordinator.simulation.story_files import JAVA, read_story, with_library

RECORDED_METRICS = STORIES / "metrics"
Metrics = Mapping[str, float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsRecording:
    story: str
    variant: Variant
    window_ms: int | None  # metrics.sample.window.ms, if it is not the default
    version: str  # of the client
    ids: Mapping[str, Sequence[str]]  # As in `Course.first_ids`
    members: Mapping[str, Metrics]  # NaN is None

    @property
    def scenario(self) -> Scenario:
        scenario = with_library(with_variant(read_story(self.story), self.variant), JAVA)
        if self.window_ms is None:
            return scenario
        return replace(
            scenario,
            members={name: self._windowed(script) for name, script in scenario.members.items()},
            events=tuple(
                replace(event, script=self._windowed(event.script)) if isinstance(event, Restart) else event
                for event in scenario.events
            ),
        )

    @property
    def path(self) -> Path:
        window = [] if self.window_ms is None else [str(self.window_ms)]
        return RECORDED_METRICS / ".".join([self.story, self.variant.value, *window, "json"])

    def write(self) -> None:
        self.path.parent.mkdir(exist_ok=True)
        fields = {"version": self.version, "ids": self.ids, "members": self.members}
        self.path.write_text(f"{json.dumps(fields, indent=1)}\n", encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> MetricsRecording:
        story, variant, *window = path.stem.split(".")
        fields = json.loads(path.read_text(encoding="utf-8"))
        window_ms = int(window[0]) if window else None
        return cls(story=story, variant=Variant(variant), window_ms=window_ms, **fields)

    def _windowed(self, script: MemberScript) -> MemberScript:
        return replace(script, config={**script.config, "metrics.sample.window.ms": str(self.window_ms)})
