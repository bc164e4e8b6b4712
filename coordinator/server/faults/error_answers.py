"""An error as the answer of any API, at the level of the response that has a field for it (getErrorResponse)."""

from collections.abc import Mapping, Sequence
from typing import Any

from wire.errors import ErrorCode
from wire.messages.definition import Api
from wire.messages.layout import UNSET, Array, Field, Scalar, Struct, Type, zero
from wire.messages.reader import snake

OF_PARTITIONS = frozenset(
    {
        ErrorCode.OFFSET_OUT_OF_RANGE,
        ErrorCode.CORRUPT_MESSAGE,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.REPLICA_NOT_AVAILABLE,
        ErrorCode.OFFSET_METADATA_TOO_LARGE,
        ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.OFFSET_NOT_AVAILABLE,
        ErrorCode.UNSTABLE_OFFSET_COMMIT,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.INCONSISTENT_TOPIC_ID,
    }
)  # errors of single partitions or topics, not of a whole request
_ERRORS = ("errorCode", "partitionErrorCode")
_ALSO_CALLED = {"partitionIndex": "partition"}  # a request's names for fields of its response


def error_answer(api: Api, version: int, request: object, code: ErrorCode) -> Mapping[str, object] | None:
    """The fields of a response with the error; None if the response has no field for it."""
    answer, has_it = _answer(
        api.response.struct, api.request.struct, request, _Error(version, code, code in OF_PARTITIONS)
    )
    return answer if has_it else None


class _Error:
    __slots__ = ("code", "is_inside", "version")

    def __init__(self, version: int, code: ErrorCode, is_inside: bool) -> None:
        self.version, self.code, self.is_inside = version, code, is_inside

    def carried_by(self, of: Type) -> bool:
        if not isinstance(of, Array) or not isinstance(of.of, Struct):
            return False
        return any(field.name in _ERRORS or self.carried_by(field.type) for field in of.of.at(self.version))


def _answer(layout: Struct, asked: Struct, request: object, error: _Error) -> tuple[dict[str, object], bool]:
    fields = layout.at(error.version)
    answer = {
        snake(field.name): _blank(field.type, field, error.version)
        for field in fields
        if field.default is UNSET
    }
    error_fields = [snake(field.name) for field in fields if field.name in _ERRORS]
    answer.update(dict.fromkeys(error_fields, ErrorCode.NONE))
    has_it = False
    if not error_fields or error.is_inside:
        for field in fields:
            if error.carried_by(field.type):
                elements = _elements(field, asked, request, error)
                answer[snake(field.name)] = elements
                has_it = has_it or bool(elements)
    if error_fields and not has_it:
        answer.update(dict.fromkeys(error_fields, error.code))
        has_it = True
    return answer, has_it


def _elements(of: Field, asked: Struct, request: object, error: _Error) -> list[dict[str, object]]:
    """An element for each of the request's, with the same name, number or id."""
    layout: Any = of.type
    arrays = [element for element in asked.at(error.version) if isinstance(element.type, Array)]
    source = next((array for array in arrays if array.name == of.name), arrays[0] if arrays else None)
    if source is None:
        return []
    requested: Sequence[Any] = getattr(request, snake(source.name)) or ()
    inner: Any = source.type
    elements = []
    for element in requested:
        if isinstance(inner.of, Struct):
            answer, has_it = _answer(layout.of, inner.of, element, error)
            answer |= _names(layout.of, inner.of, element, error.version)
        else:
            answer, has_it = _answer(layout.of, Struct(()), element, error)
            answer |= _name(layout.of, inner.of, element, error.version)
        if has_it:
            elements.append(answer)
    return elements


def _names(layout: Struct, asked: Struct, request: object, version: int) -> dict[str, object]:
    known = {field.name for field in asked.at(version) if isinstance(field.type, Scalar)}
    names = {}
    for field in layout.at(version):
        name = field.name if field.name in known else _ALSO_CALLED.get(field.name)
        if name in known:
            names[snake(field.name)] = getattr(request, snake(name or ""))
    return names


def _name(layout: Struct, of: Type, value: object, version: int) -> dict[str, object]:
    """The field that identifies an element whose request is a bare name or number: the first that is never null."""
    for field in layout.at(version):
        if field.type is of and field.name not in _ERRORS and not field.nullable(version):
            return {snake(field.name): value}
    return {}


def _blank(of: Type, field: Field, version: int) -> object:
    """The value of an unknown field: offsets, times and producer ids are -1."""
    if field.nullable(version):
        return None
    if isinstance(of, Array):
        return ()
    if isinstance(of, Struct):
        return {
            snake(part.name): _blank(part.type, part, version)
            for part in of.at(version)
            if part.default is UNSET
        }
    return -1 if of is Scalar.INT64 else zero(of)
