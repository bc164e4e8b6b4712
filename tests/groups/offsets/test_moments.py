"""Times and durations, compared with `Utils.getDateTime` and `Duration.parse`."""

import random
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from groups.times import ago_ms, read_java_duration_ns, read_java_moment
from tests.kafka.programs import program

CASES = 4_000

TIMES = (
    "2026-03-01T12:00:00.000", "2026-03-01T12:00:00.000Z", "2026-03-01T12:00:00.000+01:00",
    "2026-03-01T12:00:00.000+01", "2026-03-01T12:00:00.000-0130", "2026-03-01T12:00:00", "2026-03-01",
    "2026-03-01 12:00:00.000", "2026-3-1T1:2:3.4", "2026-02-29T00:00:00.000", "2024-02-29T00:00:00.000",
    "2026-03-01T24:00:00.000", "2026-03-01T23:59:60.000", "2026-03-01T12:00:00.5", "2026-03-01T12:00:00.1234",
    "2026-03-01T12:00:00.0005", "1969-12-31T23:59:59.999", "1970-01-01T00:00:00.000+00:00",
    "2026-03-01T12:00:00.000+23:59", "2026-03-01T12:00:00.000+24:00", "2026-03-01T12:00:00.000+01:60",
    "2026-03-01t12:00:00.000", "2026-03-01T12:00:00.000z", "2026-13-01T00:00:00.000", "2026-00-01T00:00:00.000",
    "2026-01-00T00:00:00.000", "T", "", "2026-03-01T12:00:00.000+1", "2026-03-01T12:00:00.000-00:00",
)  # fmt: skip
DURATIONS = (
    "P1D", "PT1H", "PT90S", "PT2H30M", "P1DT2H3M4.5S", "p1dt2h", "-P1D", "P-1D", "-PT-1H", "+PT1S", "PT+1S", "PT0.5S",
    "PT-0.5S", "PT0,5S", "PT1.S", "PT.5S", "PT1.1234567890S", "P", "PT", "P1DT", "1h", "P1W", "P1M", "P1Y", "P1.5D",
    "PT1H2H", "PT1M1H", "PT99999999999999999S", "P9999999999999999999D", "PT9223372036854775807S",
    "PT9223372036854775808S", "P106751991167300D", "P106751991167301D", "", " P1D", "P1D ",
)  # fmt: skip


def ours(kind: str, text: str) -> str:
    try:
        if kind == "t":
            return str(read_java_moment(text))
        seconds, nanos = divmod(read_java_duration_ns(text), 10**9)
    except ValueError:
        return "-"
    return f"{seconds} {nanos}"


def mutations(seeds: Iterable[str], letters: str, chance: random.Random) -> list[str]:
    """Seeds with up to two characters replaced, put in or taken away."""
    chosen = list(seeds)
    made = list(chosen)
    while len(made) < CASES:
        text = chance.choice(chosen)
        for _ in range(chance.randrange(1, 3)):
            at = chance.randrange(len(text) + 1)
            text = text[:at] + chance.choice(["", chance.choice(letters)]) + text[at + chance.randrange(2) :]
        made.append(text)
    return made


@pytest.mark.kafka
@pytest.mark.parametrize(
    ("kind", "seeds", "letters"),
    [("t", TIMES, "0123456789-:+.TZ "), ("d", DURATIONS, "0123456789-+.,PTDHMSpW")],
)
def test_the_same_as_java(kafka_jars: Path, kind: str, seeds: tuple[str, ...], letters: str) -> None:
    cases = mutations(seeds, letters, random.Random(8))
    done = subprocess.run(
        program(kafka_jars, "Moments"), input="".join(f"{kind}{case}\n" for case in cases),
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    reported = dict(zip(cases, done.stdout.splitlines(), strict=True))
    differing = {
        case: (ours(kind, case), java_s) for case, java_s in reported.items() if ours(kind, case) != java_s
    }
    # Java takes more times than we do: it passes over what follows its pattern, and blanks in front of numbers.
    # Before 1582 it counts by another calendar; for a reset, everything before 1970 is the same.
    strange = {
        case: pair
        for case, pair in differing.items()
        if kind == "d" or not (pair[0] == "-" or all(moment[0] == "-" and moment != "-" for moment in pair))
    }
    assert not strange, strange
    assert sum(answer != "-" for answer in reported.values()) > 100


def test_what_java_would_misread_is_refused() -> None:
    for text in ("2026-03-01T12:00:00.000+0130", "2026-03-01T12:00:00.000Zulu", "2026-03-01T12:00:00.000Z "):
        with pytest.raises(ValueError, match="is not a time"):
            read_java_moment(text)


def test_a_moment_is_rounded_down() -> None:
    assert ago_ms(read_java_duration_ns("PT0.0005S"), 10) == 9
    assert ago_ms(read_java_duration_ns("-PT1S"), 10) == 1010
