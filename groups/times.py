"""The one reader and the one writer of durations and times; the drop-in reads only Kafka's forms."""

import re
from datetime import MAXYEAR, UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MOST_S = 10**13  # some 300,000 years: in milliseconds it fits Kafka's 64 bits
MOMENT_FORMS = (
    "2026-03-01T12:00:00Z (UTC where no zone is given), milliseconds since 1970, now, or 15m or -15m for "
    "15 minutes ago"
)

_MILLISECOND = timedelta(milliseconds=1)
_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_SPELLINGS = {
    "millisecond": "ms", "sec": "s", "second": "s", "min": "m", "minute": "m", "hr": "h", "hour": "h", "day": "d",
    "week": "w",
}  # fmt: skip
_NUMBER = r"(?:[0-9]{1,15}(?:\.[0-9]{0,9})?|\.[0-9]{1,9})"
_BARE = re.compile(_NUMBER, re.ASCII)
_PART = re.compile(rf"({_NUMBER}) ?([a-z]{{1,12}}) ?", re.ASCII)
_WITH_UNITS = re.compile(rf"(?:{_PART.pattern})+", re.ASCII)
_SIGNED = r"([-+]?[0-9]{1,15}(?:[.,][0-9]{0,9})?)"
_ISO = re.compile(
    rf"([-+]?)P(?:{_SIGNED}W)?(?:{_SIGNED}D)?(?:T(?:{_SIGNED}H)?(?:{_SIGNED}M)?(?:{_SIGNED}S)?)?(?<![PT])",
    re.ASCII | re.IGNORECASE,
)
_MILLISECONDS = re.compile(r"[0-9]{1,15}", re.ASCII)
_FIELD = r"[ \t]*(\d{1,40})"
_JAVA_MOMENT = re.compile(
    rf"{_FIELD}-{_FIELD}-{_FIELD}T{_FIELD}:{_FIELD}:{_FIELD}\.{_FIELD}[ \t]*(Z|[+-][0-9]{{2}}(?::[0-9]{{2}})?)?"
)  # blanks before fields, digits of any script, leading zeros: as SimpleDateFormat
_JAVA_DURATION = re.compile(
    r"([-+]?)P(?:([-+]?[0-9]+)D)?"
    r"(T(?:([-+]?[0-9]+)H)?(?:([-+]?[0-9]+)M)?(?:([-+]?[0-9]+)(?:[.,]([0-9]{0,9}))?S)?)?",
    re.ASCII | re.IGNORECASE,
)
_NANOS_PER_SECOND = 10**9
_PARTS = ((2, 86_400, "days"), (4, 3_600, "hours"), (5, 60, "minutes"), (6, 1, "seconds"))
"""The parts of a duration: regex group, seconds per unit, and Java's name of the part."""
_WESTERNMOST, _EASTERNMOST = -13 * 60, 14 * 60
"""The zones that Java's GregorianCalendar accepts, in minutes from UTC."""
_DIGITS_AT_MOST = 19  # the most digits of a number in a duration, which Java reads as a long


def read_duration(text: str, unit: str | None, *, signed: bool = False) -> float:
    """Seconds of `5s`, `1h30m`, `5 min 8 s`, `P1DT2H`; a bare number is in `unit` (None: refused). ValueError."""
    stripped = text.strip()
    if _BARE.fullmatch(stripped):
        if unit is None:
            raise ValueError(f"{_shown(text)} has no unit: write {stripped}d for days, or 12h")
        seconds: float | None = float(stripped) * _SECONDS[unit]
    elif (iso := _ISO.fullmatch(stripped)) is not None:
        sign, *parts = iso.groups()
        numbers = (float(part.replace(",", ".")) if part else 0 for part in parts)
        seconds = sum(number * _SECONDS[part] for number, part in zip(numbers, "wdhms", strict=True))
        seconds = -seconds if sign == "-" else seconds
    else:
        seconds = _with_units(stripped)
    if seconds is None:
        raise ValueError(f"{_shown(text)} is not a duration: write {duration_forms(unit)}")
    if seconds < 0 and not signed:
        raise ValueError(f"{_shown(text)} is not a duration: it is negative")
    if abs(seconds) > MOST_S:
        longest = duration_text(MOST_S * 1000)
        raise ValueError(f"{_shown(text)} is not a duration: it is longer than {longest}")
    return seconds


def duration_forms(unit: str | None) -> str:
    bare = {"s": " or a number of seconds", "ms": " or a number of milliseconds", None: " or PT2H"}[unit]
    return f"5s, 1.5m, 2h, 7d, 1500ms{', PT2H' if unit else ''}{bare}"


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:59]}…")


def _with_units(text: str) -> float | None:
    """The seconds of parts that each have a unit, the largest unit first; None for another text."""
    if not _WITH_UNITS.fullmatch(text):
        return None
    seconds, before = 0.0, float("inf")
    for number, name in _PART.findall(text):
        size = _SECONDS.get(_SPELLINGS.get(name.removesuffix("s") if len(name) > 2 else name, name))
        if size is None or size >= before:
            return None
        seconds, before = seconds + float(number) * size, size
    return seconds


def read_moment(text: str, now_ms: int | None) -> int:
    """Milliseconds since 1970 of ISO 8601 (UTC), a number, or `now` and a duration ago. ValueError with the forms."""
    stripped = text.strip()
    if now_ms is not None and stripped == "now":
        return now_ms
    if _MILLISECONDS.fullmatch(stripped):
        return int(stripped)
    try:
        moment = datetime.fromisoformat(stripped)
    except ValueError:
        at_ms = _ago(stripped, now_ms)
        if at_ms is None:
            raise ValueError(f"{_shown(text)} is not a time: write {MOMENT_FORMS}") from None
        return at_ms
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - EPOCH) // _MILLISECOND


def _ago(text: str, now_ms: int | None) -> int | None:
    """The time of a duration before now, or of a text as Kafka's tool reads it; None for another text."""
    try:
        return read_java_moment(text)
    except ValueError:
        if now_ms is None:
            return None
    try:
        return now_ms - round(read_duration(text.removeprefix("-"), None) * 1000)
    except ValueError:
        return None


def format_moment(ms: int) -> str:
    """ISO 8601 in UTC with milliseconds; the number itself if it is outside the calendar's range."""
    try:
        moment = EPOCH + timedelta(milliseconds=ms)
    except OverflowError:
        return str(ms)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def seconds_text(seconds: float) -> str:
    return duration_text(round(seconds * 1000, 3))


def duration_text(ms: float) -> str:
    """As every text has it: `450 ms`, `4.5 s`, `5 min 8 s`, `1 day 4 h`, `12 days`; two units, cut off."""
    if ms < 0:
        return f"-{duration_text(-ms)}"
    whole = int(ms)
    if whole < 1_000:
        return f"{whole} ms" if whole else "0 s"
    if whole < 10_000:
        return f"{whole // 100 / 10:g} s"
    seconds = whole // 1_000
    if seconds >= 864_000:
        return f"{seconds // 86_400:,} days"
    day = "day" if seconds < 172_800 else "days"
    units = ((86_400, day), (3_600, "h"), (60, "min"), (1, "s"))
    at = next(number for number, (size, _) in enumerate(units) if seconds >= size)
    parts = []
    for size, name in units[at : at + 2]:
        count, seconds = divmod(seconds, size)
        parts.append(f"{count} {name}" if count else "")
    return " ".join(filter(None, parts))


class DurationTooLong(ValueError):
    """A duration exceeds Java's range; `what` is Java's name of the part that is too large."""

    def __init__(self, text: str, what: str) -> None:
        super().__init__(f"{text!r} is not a duration: it exceeds Java's maximum ({what})")
        self.what = what


def read_java_moment(text: str) -> int:
    """Of `2026-03-01T12:00:00.000[Z|+01|+01:00]`; `.5` means 5 ms. ValueError where Kafka's tool refuses or ignores."""
    match = _JAVA_MOMENT.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a time: expected 2026-03-01T12:00:00.000, followed by Z or +01:00")
    *numbers, zone = match.groups()
    year, month, day, hour, minute, second, milliseconds = map(int, numbers)
    try:
        if milliseconds > 999:
            raise ValueError("more than 999 milliseconds")
        if year > MAXYEAR:  # a typing error, for which the tool would use the end of all logs
            raise ValueError(f"the year {year} has more than four digits")
        moment = datetime(year, month, day, hour, minute, second, milliseconds * 1000, tzinfo=UTC)
        offset_ms = _zone_ms(zone)
    except ValueError as error:
        raise ValueError(f"{text!r} is not a time: {error}") from None
    return (moment - EPOCH) // timedelta(milliseconds=1) - offset_ms


def _zone_ms(zone: str | None) -> int:
    """The milliseconds by which a zone is ahead of UTC."""
    if zone in (None, "Z"):
        return 0
    hours, _, minutes = (zone or "")[1:].partition(":")
    ahead = (int(hours) * 60 + int(minutes or 0)) * (-1 if zone and zone[0] == "-" else 1)
    if int(minutes or 0) > 59 or not _WESTERNMOST <= ahead <= _EASTERNMOST:
        raise ValueError(f"{zone} is not a zone")
    return ahead * 60_000


def read_java_duration_ns(text: str) -> int:
    """Of `P1DT2H30M0.5S`, days of 24 hours; ValueError where Java's `Duration.parse` refuses it."""
    match = _JAVA_DURATION.fullmatch(text)
    if match is None or (match[3] or "").upper() == "T" or not any(match[n] for n in (2, 4, 5, 6)):
        raise ValueError(f"{text!r} is not a duration: expected P1D, PT2H30M, PT90S (PnDTnHnMn.nS)")
    sign = -1 if match[1] == "-" else 1
    seconds = 0
    for group, unit, what in _PARTS:
        part = _seconds(match[group], unit)
        if part is None:
            raise DurationTooLong(text, what)
        seconds += part
    fraction = int(((match[7] or "") + "000000000")[:9])
    if (match[6] or "").startswith("-"):
        fraction = -fraction
    total = sign * (seconds * _NANOS_PER_SECOND + fraction)
    if not _in_long(seconds) or not _in_long(total // _NANOS_PER_SECOND):
        raise DurationTooLong(text, "overflow")
    return total


def _seconds(digits: str | None, unit_seconds: int) -> int | None:
    """A part of a duration in seconds; None if it exceeds Java's long."""
    if digits is None:
        return 0
    if len(digits.lstrip("+-").lstrip("0")) > _DIGITS_AT_MOST:
        return None
    seconds = int(digits) * unit_seconds
    return seconds if _in_long(seconds) else None


def _in_long(number: int) -> bool:
    return -(2**63) <= number < 2**63


def ago_ms(duration_ns: int, now_ms: int) -> int:
    """The moment a duration before now, in ms since 1970, rounded down as `Instant.toEpochMilli` does."""
    return (now_ms * 1_000_000 - duration_ns) // 1_000_000
