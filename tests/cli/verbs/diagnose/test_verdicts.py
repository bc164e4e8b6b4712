"""The kinds of groups of the table in docs/diagnose.md on a real broker, diagnosed in 6, 10 and 30 seconds.

Each sick group is found, or the rule that finds it is reported as not checked; a healthy one has no error or warning.
`KOHORT_WRITE_GOLDEN=1` writes the observations, from which `tests/groups/diagnosis/test_verdicts.py` judges the same
in `make test`, and writes the table.
"""

import os
import time
from contextlib import ExitStack

import pytest

from cli.verbs.diagnose.action import observe_cluster
from cli.verbs.diagnose.observing import each_group
from groups.diagnosis.case import Observation, Thresholds
from tests.cli.sources.live_source import live_source
from tests.cli.verbs.diagnose.kinds import LIVE
from tests.cli.verbs.diagnose.scene import Scene
from tests.groups.diagnosis.kinds import KINDS
from tests.groups.diagnosis.recorded import write
from tests.groups.diagnosis.test_verdicts import SECONDS, file_of, verdict_of
from tests.kafka.broker import Broker
from tests.kafka.members import fresh_name
from tests.support.long import LONG

pytestmark = [pytest.mark.kafka, LONG]
WARM_UP_S = 125  # Two commits of the groups that commit once a minute


def test_each_kind_of_group_is_found_or_not_checked(broker: Broker) -> None:
    assert LIVE.keys() == {kind.name for kind in KINDS}
    with ExitStack() as stack:
        scene = Scene(broker, fresh_name("kinds"), stack)
        for kind in KINDS:
            if not kind.is_new:
                LIVE[kind.name](scene, kind.name)
        time.sleep(WARM_UP_S)
        wrong = []
        for seconds in SECONDS:
            recorded = _observed(scene, seconds)
            if os.environ.get("KOHORT_WRITE_GOLDEN"):
                write(file_of(seconds), recorded)
            for kind in KINDS:
                verdict = verdict_of(kind, recorded[kind.name])
                wrong += [(seconds, kind.name, verdict)] if verdict.is_wrong else []
        scene.ended.set()
    for consumer in scene.consumers:
        consumer.close()
    assert wrong == []


def _observed(scene: Scene, seconds: int) -> dict[str, list[Observation]]:
    words = {kind.name: f"{kind.name}.{seconds}" if kind.is_new else kind.name for kind in KINDS}
    for kind in KINDS:
        if kind.is_new:
            LIVE[kind.name](scene, words[kind.name])
    names = {name: scene.name(word) for name, word in words.items()}
    with live_source(scene.broker) as source:
        seen = observe_cluster(source, list(names.values()), Thresholds(), seconds * 1000)
    shown = dict(each_group(seen, [*names.values()]))
    return {name: [*shown[group]] for name, group in names.items()}
