"""Values that are made faster are the same as those of Python's own dataclasses and named tuples."""

import ast
import dataclasses
import sys
from importlib import import_module
from operator import attrgetter
from pathlib import Path

from coordinator.engine.classic.heartbeat import Heartbeat
from coordinator.engine.offsets.commit import Offset
from wire.values import made

FIELDS = {"group": "billing", "generation": 3, "member": "a", "instance": None}
HOT = Path(sys.modules["coordinator"].__path__[0])


def test_a_value_is_hashed_compared_and_shown_like_a_frozen_one() -> None:
    frozen = dataclasses.make_dataclass("Heartbeat", FIELDS, frozen=True, kw_only=True)
    assert hash(Heartbeat(**FIELDS)) == hash(frozen(**FIELDS))  # type: ignore[arg-type]
    assert Heartbeat(**FIELDS) == Heartbeat(**FIELDS)  # type: ignore[arg-type]
    assert repr(Heartbeat(**FIELDS)) == repr(frozen(**FIELDS))  # type: ignore[arg-type]


def test_a_named_tuple_that_is_made_is_the_usual_one() -> None:
    fields = "orders", None, 3, 17, -1, ""
    assert repr(made(Offset, fields)) == repr(Offset(*fields))


def test_all_fields_are_given_wherever_a_tuple_is_made() -> None:
    calls = 0
    for path in HOT.rglob("*.py"):
        module = ".".join(path.relative_to(HOT.parent).with_suffix("").parts)
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "made":
                kind, fields = node.args
                assert isinstance(fields, ast.Tuple)
                cls = attrgetter(ast.unparse(kind))(import_module(module))
                assert len(fields.elts) == len(cls._fields), f"{path}:{node.lineno}"
                calls += 1
    assert calls > 5
