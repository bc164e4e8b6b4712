"""docs/exporter.md lists every metric of the exporter; alerts and dashboard are of metrics that are there.
KOHORT_WRITE_GOLDEN=1 writes the table."""

import json
import os
import re
from collections.abc import Iterator
from typing import Any

import promql_parser
import yaml

from cli.verbs.exporter.families import FAMILIES, AnyFamily
from cli.verbs.exporter.newest_page import BUILD, BUILD_HELP, OF_POLLS, OF_PUSHES
from cli.verbs.exporter.options import SampleLevel
from tests.docs.pages import DOCS

ADDED = {"instance", "job", "cluster"}
"""The labels that Prometheus adds, and that of the context if there are several."""
PAGE = DOCS / "exporter.md"
_TABLE = re.compile(r"(?<=<!-- metrics -->\n).*?(?=<!-- /metrics -->)", re.S)


def labels_of(family: AnyFamily) -> tuple[str, ...]:
    levels = (SampleLevel.GROUP, SampleLevel.TOPIC, SampleLevel.PARTITION)
    return ("group", "topic", "partition")[: levels.index(family.level) + 1] + family.labels


def table() -> str:
    rows = [(family.sample, labels_of(family), family.help) for family in FAMILIES]
    rows += [
        (item.name + ("_total" if item.counts else ""), (item.label,) if item.label else (), item.help)
        for item in OF_POLLS
    ]
    rows += [(f"{name}_total", (), text) for name, text, _ in OF_PUSHES]
    rows.append((f"{BUILD}_info", ("version",), BUILD_HELP))
    lines = ["| metric | labels | what it is |", "| --- | --- | --- |"]
    lines += [f"| `{name}` | {', '.join(labels)} | {text} |" for name, labels, text in rows]
    return "\n".join(lines) + "\n"


def test_every_metric_is_documented() -> None:
    page = PAGE.read_text()
    if os.environ.get("KOHORT_WRITE_GOLDEN"):
        PAGE.write_text(_TABLE.sub(lambda _: table(), page))
        return
    assert _TABLE.search(page)[0] == table()  # type: ignore[index]


def metrics() -> dict[str, set[str]]:
    """Labels of every metric of the exporter, with those that Prometheus adds; by the names of samples."""
    samples = {family.sample: set(labels_of(family)) for family in FAMILIES}
    for metric in OF_POLLS:
        samples[metric.name + ("_total" if metric.counts else "")] = {metric.label} if metric.label else set()
    return {"up": ADDED, **{name: labels | ADDED for name, labels in samples.items()}}


def selectors(expression: Any) -> Iterator[Any]:
    """The vector selectors of a query of PromQL, by its parser."""
    selector = (
        expression.vector_selector if isinstance(expression, promql_parser.MatrixSelector) else expression
    )
    if isinstance(selector, promql_parser.VectorSelector):
        yield selector
    for part in ("lhs", "rhs", "expr"):
        if hasattr(expression, part):
            yield from selectors(getattr(expression, part))
    for argument in getattr(expression, "args", ()):
        yield from selectors(argument)


def check_query(query: str) -> set[str]:
    """The metrics of a query; what it names is there."""
    known, used = metrics(), set()
    for selector in selectors(promql_parser.parse(query)):
        assert selector.name in known, query
        assert {matcher.name for matcher in selector.matchers.matchers} <= known[selector.name], query
        used.add(selector.name)
    labels = set().union(*(known[name] for name in used))
    for named in re.findall(r"\b(?:by|on) ?\(([^)]*)\)", query):
        assert {label.strip() for label in named.split(",")} <= labels, query
    return used


def test_alerts_name_metrics_that_are_there() -> None:
    groups = yaml.safe_load((DOCS / "exporter" / "alerts.yaml").read_text())["groups"]
    rules = [rule for group in groups for rule in group["rules"]]
    assert len({rule["alert"] for rule in rules}) == len(rules)
    for rule in rules:
        labels = set().union(*(metrics()[name] for name in check_query(rule["expr"])))
        for text in rule["annotations"].values():
            assert set(re.findall(r"\$labels\.(\w+)", text)) <= labels, rule["alert"]
    tested = yaml.safe_load((DOCS / "exporter" / "alerts_test.yaml").read_text())
    for test in tested["tests"]:
        for series in test["input_series"]:
            check_query(series["series"])
        assert {alert["alertname"] for alert in test["alert_rule_test"]} <= {rule["alert"] for rule in rules}


def test_the_dashboard_names_metrics_that_are_there() -> None:
    board = json.loads((DOCS / "exporter" / "dashboard.json").read_text())
    panels = [panel for panel in board["panels"] if panel["type"] != "row"]
    used = {name for panel in panels for target in panel["targets"] for name in check_query(target["expr"])}
    assert {
        "kohort_group_lag_records",
        "kohort_group_lag_seconds",
        "kohort_up",
        "kohort_group_findings",
    } <= used
    for variable in board["templating"]["list"]:
        if variable["type"] == "query":
            query, label = re.fullmatch(r"label_values\((.*), (\w+)\)", variable["definition"]).groups()  # type: ignore[union-attr]
            assert label in metrics()[check_query(query).pop()]
    ids = [panel["id"] for panel in board["panels"]]
    assert len(set(ids)) == len(ids)
    for panel in panels:
        position = panel["gridPos"]
        assert position["x"] + position["w"] <= 24
        assert panel["description"]
        assert len({target["refId"] for target in panel["targets"]}) == len(panel["targets"])
    cells = [
        (x, y)
        for panel in board["panels"]
        for grid in [panel["gridPos"]]
        for x in range(grid["x"], grid["x"] + grid["w"])
        for y in range(grid["y"], grid["y"] + grid["h"])
    ]
    assert len(set(cells)) == len(cells), "panels overlap"
