"""docs/glossary.md is the glossary of `kohort help`, with links to pages of docs/; KOHORT_WRITE_GOLDEN=1 writes it."""

import os

from cli.verbs.help.command import LINK, glossary, plain, terms
from tests.docs.pages import DOCS

PAGE = DOCS / "glossary.md"
HEAD = """# Glossary

The terms that Kohort uses, most of them Kafka's own. `kohort help TERM` prints each of them.
"""
PAGES = {
    "assignors": "explanation/classic.md#a-rebalance-in-four-messages",
    "contexts": "contexts.md",
    "cooperative": "explanation/classic.md#cooperative-rebalances",
    "epochs": "explanation/consumer.md#three-epochs",
    "consumer-lag": "lag.md",
    "protocols": "explanation/README.md",
    "regexes": "regexes.md",
    "share-and-streams": "share-and-streams.md",
    "sources": "sources.md",
    "states": "explanation/consumer.md#three-epochs",
    "static-membership": "explanation/classic.md#static-members",
    "two-bounces": "explanation/moving.md#eager-to-cooperative-two-bounces",
    "upgrade": "explanation/moving.md#classic-to-consumer-online",
}
"""Where the documentation explains a topic of `kohort help`."""


def page() -> str:
    entries = glossary().partition("\n## ")[2].replace("\nSee also:", "\n\nSee also:")
    return f"{HEAD}\n## " + LINK.sub(lambda link: f"[{link[1]}]({PAGES[link[2]]})", entries)


def test_the_page_is_the_glossary_of_help() -> None:
    if os.environ.get("KOHORT_WRITE_GOLDEN"):
        PAGE.write_text(page(), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page()


def test_terms_are_sorted_and_fit_a_terminal() -> None:
    names = list(terms())
    assert names == sorted(names)
    for term in terms().values():
        lines = plain(term).splitlines()
        assert max(map(len, lines)) <= 80
        assert 4 <= len(lines) <= 8, term
