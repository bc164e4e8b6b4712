"""Pages of HTML, read element by element."""

from html.parser import HTMLParser

VOID = {"meta", "input"}
RUNNING_OR_FETCHED = frozenset(
    ("script", "img", "link", "iframe", "object", "embed", "image", "use", "form", "base", "a")
)


class Page(HTMLParser):
    """What a page holds: elements in their order, and texts by the element they are in. :raises AssertionError: an
    element is closed that is not open, or stays open"""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
            self.texts.setdefault(tag, []).append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open:
            self.texts[self.open[-1]][-1] += data

    def check_harmless(self) -> None:
        assert RUNNING_OR_FETCHED.isdisjoint(tag for tag, _ in self.tags)
        for tag, attributes in self.tags:
            assert not {"src", "href", "action", "xlink:href"} & attributes.keys(), tag
            assert not any(name.startswith("on") for name in attributes), tag
