"""Dataclasses to trees of plain values (of JSON and YAML) and back: reader and writer use the same declaration.

The types of fields define the allowed values; `Annotated` narrows them, metadata define differences between the file
and the class. None means *unknown*; numbers may be texts. An error has the path to its value
(`groups.yaml_files.position_of`). Readers and writers are built once per class: a large file costs one call per value.
"""

from binascii import b2a_base64
from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from enum import Enum
from itertools import pairwise
from types import MappingProxyType, UnionType
from typing import Annotated, Any, Self, TypeVar, Union, get_args, get_origin, get_type_hints
from uuid import UUID

from groups.times import duration_forms, read_duration
from wire.suggestion import closest
from wire.uuids import format_uuid, parse_uuid


class GroupsError(Exception):
    """Data of groups cannot be read or checked; the message contains the reason."""


T = TypeVar("T")
Path = tuple[str | int, ...]
Read = Callable[..., Any]  # Builds a value from its tree; an object in a mapping of objects also gets its key
Write = Callable[[Any], object]
Unknown = list[tuple[dict[str, object], str]]  # mappings, each with a key that is no field's name
Faulty = list[tuple[dict[object, object], "Malformed"]]  # mappings of objects, each with an object's error
UNWRITTEN: Mapping[str, object] = MappingProxyType({"unwritten": True})  # of a field that is not in the file
KEY: Mapping[str, object] = MappingProxyType({"key": True})  # of the field with the object's key in a mapping


def named(name: str) -> Mapping[str, object]:
    """Metadata of a field that has another name in the file."""
    return {"named": name}


@dataclass(frozen=True, slots=True)
class Between:
    """The allowed numbers of a field, 0 to 2**53 without this. With a unit, `s` or `ms`, a duration: `5s`, `PT5S`."""

    least: int
    most: int
    unit: str | None = None


PLAIN_NUMBER = Between(0, 2**53)  # the range of numbers that every JSON reader keeps exactly


@dataclass(frozen=True, slots=True)
class Tagged:
    """The field that distinguishes the dataclasses of a union; a tag is the class's name: `StateIn`, state-in."""

    field: str


@dataclass(frozen=True, slots=True)
class Ascending:
    """The numbers of a list must be distinct; they are sorted when read."""


ASCENDING = Ascending()
INT32, INT64 = 2**31 - 1, 2**63 - 1
Partition = Annotated[int, Between(0, INT32)]
PartitionNumbers = Annotated[tuple[Partition, ...], ASCENDING]


class Malformed(GroupsError):
    """A value does not fit its field; `path` leads to it from the root."""

    def __init__(self, message: str, *path: str | int) -> None:
        super().__init__(message)
        self.message, self.path = message, path

    def __str__(self) -> str:
        return f"{dotted(self.path)}: {self.message}" if self.path else self.message

    def below(self, step: str | int) -> Self:
        """The same error with the path from the value's container: `step` is put before it."""
        self.path = (step, *self.path)
        return self


class Trees:
    """Reads and writes one kind of file; `implied` completes a mapping before it is read, `checks` raise after it."""

    def __init__(
        self,
        *,
        sparse: bool = False,
        extra: Mapping[type, tuple[str, ...]] | None = None,
        advice: str = "",
        implied: Mapping[type, Callable[[dict[str, object]], None]] | None = None,
        checks: Mapping[type, Callable[[Any], None]] | None = None,
        readers: Mapping[object, Callable[[Read], Read]] | None = None,
        writers: Mapping[object, Callable[[Write], Write]] | None = None,
    ) -> None:
        """`readers` and `writers` of types that have another form too, from those of the usual form."""
        self._sparse, self._advice = sparse, advice
        self._extra, self._implied, self._checks = extra or {}, implied or {}, checks or {}
        self._other_readers, self._other_writers = readers or {}, writers or {}
        self._readers: dict[object, Read] = {}
        self._writers: dict[object, Write] = {}
        self._unknown: Unknown | None = None
        self._faulty: Faulty | None = None

    def read(
        self, kind: type[T] | Any, tree: object, unknown: Unknown | None = None, faulty: Faulty | None = None
    ) -> Any:
        """Read a value; Malformed if it cannot be. Unknown keys go to `unknown`, bad objects to `faulty`, if passed."""
        self._unknown, self._faulty = unknown, faulty
        return self._reader(kind)(tree)

    def write(self, kind: type[T] | Any, value: object) -> Any:
        return self._writer(kind)(value)

    def _reader(self, hint: object) -> Read:
        if hint not in self._readers:
            read = self._new_reader(hint)
            self._readers[hint] = self._other_readers[hint](read) if hint in self._other_readers else read
        return self._readers[hint]

    def _new_reader(self, hint: object) -> Read:
        if get_origin(hint) is Annotated:
            inner, *markers = get_args(hint)
            for marker in markers:
                if isinstance(marker, Between):
                    return _number_reader(inner, marker)
                if isinstance(marker, Ascending):
                    return self._ascending_reader(get_args(inner)[0])
                if isinstance(marker, Tagged):
                    return self._tagged_reader(marker, get_args(inner))
            return self._reader(inner)
        origin, arguments = get_origin(hint), get_args(hint)
        if origin in (Union, UnionType):
            inner = [argument for argument in arguments if argument is not type(None)]
            read = self._reader(inner[0]) if inner != [int, str] else _read_number_or_text
            return lambda value: None if value is None else read(value)
        if origin is tuple:
            return self._list_reader(arguments[0])
        if origin is not None:
            return self._mapping_reader(*arguments)
        if is_dataclass(hint):
            return self._object_reader(hint)
        if isinstance(hint, type) and issubclass(hint, Enum):
            return _enum_reader(hint)
        return _SCALARS.get(hint) or _number_reader(hint, PLAIN_NUMBER)

    def _list_reader(self, item: object) -> Read:
        read_item = self._reader(item)

        def read(value: object) -> object:
            if not isinstance(value, list):
                raise Malformed(f"expected a list, found {shown(value)}")
            if item is str and {type(text) for text in value} == {str}:
                return tuple(value)
            items: list[object] = []
            try:
                for entry in value:
                    items.append(read_item(entry))  # noqa: PERF401  (its length is where the error is)
            except Malformed as error:
                raise error.below(len(items)) from None
            return tuple(items)

        return read

    def _ascending_reader(self, item: object) -> Read:
        read_each = self._list_reader(item)

        def read(value: object) -> tuple[int, ...]:
            numbers = sorted(_quick_numbers(value) or read_each(value))
            if len(set(numbers)) != len(numbers):
                twice = sorted({one for one, following in pairwise(numbers) if one == following})
                raise Malformed(f"a number is listed twice: {_cut(', '.join(map(str, twice)))}; list it once")
            return tuple(numbers)

        return read

    def _mapping_reader(self, key: object, item: object) -> Read:
        read_key, read_item = self._reader(key), self._reader(item)
        takes_key = is_dataclass(item) and any(field.metadata == KEY for field in fields(item))

        def read(value: object) -> dict[object, object]:
            if not isinstance(value, dict):
                raise Malformed(f"expected a mapping, found {shown(value)}")
            entries = {}
            for name, entry in value.items():
                met = len(self._unknown or ())
                try:
                    entries[read_key(name)] = read_item(entry, name) if takes_key else read_item(entry)
                    if takes_key and self._faulty is not None and met == len(self._unknown or ()):
                        value[name] = None  # it is read, and a large file should not be in memory twice
                except Malformed as error:
                    if self._faulty is None or not takes_key:
                        raise error.below(name) from None
                    self._faulty.append((value, error.below(name)))
            return entries

        return read

    def _object_reader(self, kind: Any, *tags: str) -> Read:
        hints = get_type_hints(kind, include_extras=True)
        key_field = next((field.name for field in fields(kind) if field.metadata == KEY), None)
        known = {_name_in_tree(field): field for field in _fields_in_tree(kind)}
        table = {name: (field.name, self._reader(hints[field.name])) for name, field in known.items()}
        required = [
            name
            for name, field in known.items()
            if (field.default is MISSING and field.default_factory is MISSING)
        ]
        # If unknown values are left out, null means the same as an absent key.
        nullable = {name for name, field in known.items() if type(None) in get_args(hints[field.name])}
        passed = known.keys() - set(required) - nullable if self._sparse else frozenset()
        extra = (*self._extra.get(kind, ()), *tags)
        implied, check = self._implied.get(kind), self._checks.get(kind)

        def read(value: object, key: str | None = None) -> object:
            if not isinstance(value, dict):
                raise Malformed(f"expected a mapping with {', '.join(known)}, found {shown(value)}")
            if implied is not None:
                implied(value)
            arguments = {} if key_field is None else {key_field: key}
            for name, entry in value.items():
                if name not in table:
                    if name not in extra:
                        self._meet_unknown(value, name, known)
                elif entry is not None or name not in passed:
                    field, read_field = table[name]
                    try:
                        arguments[field] = read_field(entry)
                    except Malformed as error:
                        raise error.below(name) from None
            for name in required:
                if name not in value:
                    if not (self._sparse and name in nullable):
                        raise Malformed("is missing", name)
                    arguments[table[name][0]] = None
            made = kind(**arguments)
            if check is not None:
                check(made)
            return made

        return read

    def _meet_unknown(self, value: dict[str, object], name: object, known: Collection[str]) -> None:
        cutoff = 0.6 if self._unknown is None else 0.75
        near = closest(str(name), [other for other in known if other not in value], cutoff)
        if near:
            raise Malformed(f"unknown field; did you mean {near}?", str(name))
        if self._unknown is None:
            raise Malformed("unknown field" + (f"; {self._advice}" if self._advice else ""), str(name))
        self._unknown.append((value, str(name)))

    def _tagged_reader(self, marker: Tagged, union: tuple[type, ...]) -> Read:
        kinds = {tag_of(kind): self._object_reader(kind, marker.field) for kind in _members_of(union)}

        def read(value: object) -> object:
            if not isinstance(value, dict):
                raise Malformed(f"expected a mapping with `{marker.field}: …`, found {shown(value)}")
            tag = value.get(marker.field)
            if not isinstance(tag, str) or tag not in kinds:
                raise Malformed(f"expected one of {', '.join(kinds)}; found {shown(tag)}", marker.field)
            return kinds[tag](value)

        return read

    def _writer(self, hint: object) -> Write:
        if hint not in self._writers:
            write = self._new_writer(hint)
            self._writers[hint] = self._other_writers[hint](write) if hint in self._other_writers else write
        return self._writers[hint]

    def _new_writer(self, hint: object) -> Write:
        if get_origin(hint) is Annotated:
            inner, *markers = get_args(hint)
            tagged = next((marker for marker in markers if isinstance(marker, Tagged)), None)
            return self._writer(inner) if tagged is None else self._tagged_writer(tagged, get_args(inner))
        origin, arguments = get_origin(hint), get_args(hint)
        if origin in (Union, UnionType):
            # Numbers and texts are written alike.
            write = self._writer(next(argument for argument in arguments if argument is not type(None)))
            return lambda value: None if value is None else write(value)
        if origin is tuple:
            write_item = self._writer(arguments[0])
            return list if write_item is _same else lambda value: [write_item(entry) for entry in value]
        if origin is not None:
            write_value = self._writer(arguments[1])
            return lambda value: {name: write_value(value[name]) for name in sorted(value)}
        if is_dataclass(hint):
            return self._object_writer(hint)
        if isinstance(hint, type) and issubclass(hint, Enum):
            return lambda value: value.value
        return _WRITTEN.get(hint, _same)

    def _object_writer(self, kind: Any) -> Callable[[object], dict[str, object]]:
        hints = get_type_hints(kind, include_extras=True)
        table = [
            (
                field.name,
                _name_in_tree(field),
                self._writer(hints[field.name]),
                (field.default if field.default_factory is MISSING else field.default_factory()),
            )
            for field in _fields_in_tree(kind)
        ]
        sparse = self._sparse

        def write(value: object) -> dict[str, object]:
            tree = {}
            for field, name, write_field, default in table:
                held = getattr(value, field)
                written = write_field(held)
                if sparse and (written is None or written == {}) and held == default:
                    continue
                tree[name] = written
            return tree

        return write

    def _tagged_writer(self, marker: Tagged, union: tuple[type, ...]) -> Write:
        writers = {kind: self._object_writer(kind) for kind in _members_of(union)}
        return lambda value: {marker.field: tag_of(type(value)), **writers[type(value)](value)}


def tag_of(kind: type) -> str:
    """The tag of a class in a file: state-in for StateIn."""
    return "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in kind.__name__)[1:]


def path_to(tree: object, target: object) -> Path:
    """The path of one place of this mapping (the same object) in a tree; empty if it is not there."""
    seen: set[int] = set()
    pending: list[tuple[Path, object]] = [((), tree)]
    while pending:
        path, value = pending.pop()
        if value is target:
            return path
        if isinstance(value, dict | list) and id(value) not in seen:
            seen.add(id(value))
            steps = value.items() if isinstance(value, dict) else enumerate(value)
            pending += [((*path, step), inner) for step, inner in steps]
    return ()


def count_values(tree: object, limit: int) -> int:
    """The number of values in a tree, counting the target of an alias each time, up to about `limit`."""
    sizes: dict[int, int] = {}

    def size(value: object) -> int:
        if not isinstance(value, dict | list):
            return 1
        if id(value) not in sizes:
            inside = value.values() if isinstance(value, dict) else value
            sizes[id(value)] = min(limit, 1 + sum(map(size, inside)))
        return sizes[id(value)]

    return size(tree)


def dotted(path: Path) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{_cut(step)}" for step in path).lstrip(".")


def shown(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, dict | list):
        # Their text may be huge: YAML's aliases repeat a value in many places.
        return "a mapping" if isinstance(value, dict) else "a list"
    return _cut(repr(value) if isinstance(value, str | bool | float) else str(value)[:61])


def _cut(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}…"


def _fields_in_tree(kind: Any) -> list[Field[object]]:
    return [field for field in fields(kind) if field.metadata not in (UNWRITTEN, KEY)]


def _name_in_tree(field: Field[object]) -> str:
    return str(field.metadata.get("named", field.name))


def _members_of(union: tuple[type, ...]) -> tuple[type, ...]:
    return get_args(union[0]) or union


def _read_text(value: object) -> str:
    if type(value) is str:
        return value
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise Malformed(f"expected a text, found {shown(value)}")
    return str(value)


def _read_number_or_text(value: object) -> int | str:
    if type(value) in (int, str):
        return value  # type: ignore[return-value]
    raise Malformed(f"expected a number or a text, found {shown(value)}")


def _read_flag(value: object) -> bool:
    if value is True or value == "true":
        return True
    if value is False or value == "false":
        return False
    raise Malformed(f"expected true or false, found {shown(value)}")


def _read_bytes(value: object) -> bytes:
    import base64

    try:
        return base64.b64decode(_read_text(value), validate=True)
    except ValueError:
        raise Malformed(f"expected base64, found {shown(value)}") from None


def _read_uuid(value: object) -> UUID:
    try:
        return parse_uuid(_read_text(value))
    except ValueError as error:
        raise Malformed(str(error)) from None


def _number_reader(kind: Any, bounds: Between) -> Read:
    expected = "a whole number" if kind is int else "a number"
    least, most, unit = bounds.least, bounds.most, bounds.unit
    if unit is not None:
        expected = duration_forms(unit)

    def read(value: object) -> object:
        try:
            if isinstance(value, bool | dict | list) or (kind is int and isinstance(value, float)):
                raise ValueError
            number = kind(value) if unit is None else _duration(kind, value, unit)
        except (ValueError, TypeError, OverflowError):
            raise Malformed(f"expected {expected}, found {shown(value)}") from None
        if not least <= number <= most:  # refuses NaN too
            number_text = _cut(str(number)) if kind is int else shown(value)
            raise Malformed(f"{number_text} is out of range ({least} to {most})")
        return number

    return read


def _duration(kind: Callable[[object], float], value: object, unit: str) -> float:
    try:
        return kind(value)
    except ValueError:
        seconds = read_duration(_read_text(value), unit)
        return round(seconds * 1000) if unit == "ms" else seconds


def _quick_numbers(value: object) -> list[int] | None:
    """The fast path for valid, non-empty lists of partition numbers, most of a large file; None for other values."""
    if type(value) is not list or not {type(number) for number in value} <= {int, str}:
        return None
    try:
        numbers = [int(number) for number in value]
    except ValueError:
        return None
    return numbers if numbers and min(numbers) >= 0 and max(numbers) <= INT32 else None


def _enum_reader(kind: Any) -> Read:
    parse: Callable[[str], object] = getattr(kind, "parse", kind)

    def read(value: object) -> object:
        try:
            if not isinstance(value, str):
                raise ValueError
            return parse(value)
        except ValueError:
            names = ", ".join(str(member.value) for member in kind)
            raise Malformed(f"expected one of {names}; found {shown(value)}") from None

    return read


def _same(value: object) -> object:
    return value


_SCALARS: Mapping[object, Read] = {str: _read_text, bool: _read_flag, bytes: _read_bytes, UUID: _read_uuid}
_WRITTEN: Mapping[object, Write] = {
    bytes: lambda value: b2a_base64(value, newline=False).decode(),
    UUID: format_uuid,
}
