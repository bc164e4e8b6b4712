"""Writes the types of messages: a stub for each file of layouts, read by mypy only: `python -m
tests.wire.messages.message_types`.
Of an API `JoinGroup` it has `JoinGroupRequest` and `JoinGroupResponse`, decoded, with attributes (`OBJECTS`), and
`JoinGroupRequestFields` and `JoinGroupResponseFields`, dictionaries to encode: a field is required if it is in all
versions and has no default. A record type `Name` has `NameKey` and `NameValue`, dictionaries by Kafka's names. A struct
of a message is named by its path: `JoinGroupRequestProtocol` is an element of its `protocols`."""

import importlib
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import wire.messages.schemas
from wire.messages.definition import Api, RecordType
from wire.messages.layout import EVER, UNSET, Array, Field, Message, Scalar, Struct, Type
from wire.messages.reader import snake

FOLDER = Path(wire.messages.schemas.__file__).parent
HEAD = '''"""Types of the messages of `{name}.py`. Written by tests/wire/messages/message_types.py."""

from collections.abc import Collection, Sequence
from typing import Final, NotRequired, TypedDict
from uuid import UUID

from wire.messages.definition import Api, RecordType
from wire.messages.layout import Message
'''
SCALARS = {
    Scalar.BOOL: "bool",
    Scalar.FLOAT64: "float",
    Scalar.STRING: "str",
    Scalar.BYTES: "bytes",
    Scalar.UUID: "UUID",
}
"""The types of scalars; all others are numbers."""


class Form:
    """One Python form of structs: how they are declared, and the suffix of their names."""

    def __init__(self, base: str, suffix: str, array: str, named: Callable[[str], str]) -> None:
        self.base, self.suffix, self.array, self.named = base, suffix, array, named

    def declared(self, field: Field, kind: str) -> str:
        return f"    {self.named(field.name)}: {self.type(field, kind)}"

    def type(self, field: Field, kind: str) -> str:
        raise NotImplementedError


class Decoded(Form):
    """Attributes: a field that is absent from a version has its default."""

    def __init__(self) -> None:
        super().__init__("", "", "tuple[{}, ...]", snake)

    def type(self, field: Field, kind: str) -> str:
        is_null = field.null_since < EVER or field.default is None or field.type is Scalar.UUID
        return f"{kind} | None" if is_null else kind


class Encoded(Form):
    def type(self, field: Field, kind: str) -> str:
        if field.type is Scalar.UUID and self.suffix:
            kind = "UUID | None"
        elif field.type is Scalar.BYTES and self.suffix:
            kind = "bytes | bytearray | memoryview"
        if field.null_since < EVER and not kind.endswith("None"):
            kind = f"{kind} | None"
        is_required = field.default is UNSET and not field.since and field.until == EVER and field.tag is None
        return kind if is_required else f"NotRequired[{kind}]"


OBJECT = Decoded()
FIELDS = Encoded("(TypedDict)", "Fields", "Collection[{}]", snake)
DICTIONARY = Encoded("(TypedDict)", "", "Sequence[{}]", str)


def stubs(folder: Path) -> None:
    for path in FOLDER.glob("[!_]*.py"):
        lines = [*_lines(importlib.import_module(f"wire.messages.schemas.{path.stem}"))]
        if any("(TypedDict):" in line for line in lines):
            text = HEAD.format(name=path.stem) + "\n".join(lines) + "\n"
            (folder / path.name).with_suffix(".pyi").write_text(text)
    for command in (
        ["check", "-q", "--no-cache", "--select", "F401,I", "--fix"],
        ["format", "-q", "--no-cache"],
    ):
        options = ["--config", "pyproject.toml", str(folder)]
        subprocess.run([sys.executable, "-m", "ruff", *command, *options], check=True)


def _lines(module: ModuleType) -> Iterator[str]:
    declared: set[str] = set()
    for name, value in vars(module).items():
        if not name.isupper():
            continue
        if isinstance(value, Api):
            if value.name not in declared:
                yield from _structs(value.request.name, value.request.struct, OBJECT)
                yield from _structs(value.request.name, value.request.struct, FIELDS)
                yield from _structs(value.response.name, value.response.struct, OBJECT)
                yield from _structs(value.response.name, value.response.struct, FIELDS)
            declared.add(value.name)
            sides = (value.request.name, value.response.name)
            parts = ", ".join([*sides, *(f"{side}Fields" for side in sides)])
            yield f"{name}: Final[Api[{parts}]]"
        elif isinstance(value, RecordType):
            yield from _structs(value.key.name, value.key.struct, DICTIONARY)
            yield from _structs(value.value.name, value.value.struct, DICTIONARY)
            yield f"{name}: Final[RecordType[{value.key.name}, {value.value.name}]]"
        elif isinstance(value, Message):
            yield from _structs(value.name, value.struct, OBJECT)
            yield from _structs(value.name, value.struct, FIELDS)
            yield f"{name}: Final[Message[{value.name}, {value.name}Fields]]"
        elif isinstance(value, tuple):
            yield f"{name}: Final[tuple[RecordType, ...]]"
        elif isinstance(value, (str, int)):
            yield f"{name}: Final = {value!r}"


def _structs(name: str, struct: Struct, form: Form) -> Iterator[str]:
    """The classes of a struct and, before it, of its parts."""
    names: dict[Struct, str] = {}
    fields: list[str] = []
    for field in struct.fields:
        element = field.type.of if isinstance(field.type, Array) else field.type
        if isinstance(element, Struct) and element not in names:
            part = field.name[0].upper() + field.name[1:]
            names[element] = name + (_singular(part) if element is not field.type else part)
            yield from _structs(names[element], element, form)
        fields.append(form.declared(field, _kind(field.type, names, form)))
    yield f"class {name}{form.suffix}{form.base}:"
    yield from fields or ["    pass"]


def _kind(of: Type, names: dict[Struct, str], form: Form) -> str:
    if isinstance(of, Array):
        return form.array.format(_kind(of.of, names, form))
    if isinstance(of, Struct):
        return names[of] + form.suffix
    return SCALARS.get(of, "int")


def _singular(plural: str) -> str:
    for end, instead in (("ies", "y"), ("data", "data"), ("us", "us"), ("s", "")):
        if plural.endswith(end):
            return plural.removesuffix(end) + instead
    return plural


if __name__ == "__main__":
    stubs(FOLDER)
