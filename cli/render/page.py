"""An HTML page of Kohort: its head, its escaped text, and its style for light and dark screens and for paper. All text
from a cluster is escaped, and the page's content security policy forbids it to load or run anything."""

import re
from html import escape

from cli.render.cells import prose_parts, safe_text

_HEAD = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
"""
PAGE_END = "</main>\n</body>\n</html>\n"

COLORS = """
:root {
  color-scheme: light dark;
  --paper: #ffffff; --ink: #1b1f24; --faint: #59636e; --line: #d1d9e0; --shade: #f6f8fa;
  --k0: #6b7785; --k1: #2f6fd0; --k2: #1a7f5a; --k3: #c9730a; --k4: #8f4fc4; --k5: #b83a5e;
  --k6: #667a00; --k7: #00798c; --none: #d1242f; --good: #1a7f37; --warning: #9a6700; --bad: #cf222e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #0d1117; --ink: #e6edf3; --faint: #9198a1; --line: #3d444d; --shade: #161b22;
    --k0: #9aa5b1; --k1: #79aef5; --k2: #4cc38a; --k3: #e8a04a; --k4: #c297f0; --k5: #f08aa8;
    --k6: #b5c94c; --k7: #4fc3d3; --none: #ff7b72; --good: #3fb950; --warning: #d29922; --bad: #ff7b72;
  }
}
@media print {
  :root {
    color-scheme: light;
    --paper: #ffffff; --ink: #000000; --faint: #444444; --line: #bbbbbb; --shade: #f4f4f4;
    --k0: #6b7785; --k1: #2f6fd0; --k2: #1a7f5a; --k3: #c9730a; --k4: #8f4fc4; --k5: #b83a5e;
    --k6: #667a00; --k7: #00798c; --none: #d1242f; --good: #1a7f37; --warning: #9a6700; --bad: #cf222e;
  }
}
"""
"""Colors by name, for light and dark screens and for paper."""
_LIGHT = dict(re.findall(r"--(\w+): (#\w+);", COLORS.partition("@media")[0]))
_COLORED = re.compile(r"[\w-]+: [^;{}]*?var\(--(\w+)\);")


def with_literals(css: str) -> str:
    """Rules with a literal color before each variable, for programs that know none: rsvg-convert, mail."""
    return _COLORED.sub(
        lambda rule: f"{rule[0].replace(f'var(--{rule[1]})', _LIGHT[rule[1]])} {rule[0]}", css
    )


_PAGE = """\
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 72rem; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, sans-serif; overflow-wrap: break-word;
  -webkit-print-color-adjust: exact; print-color-adjust: exact;
}
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 1rem; }
h2 { font-size: 1.25rem; margin: 2.25rem 0 .75rem; padding-top: .75rem; border-top: 1px solid var(--line); }
h3 { font-size: 1.05rem; margin: 1.5rem 0 .5rem; }
p { margin: .6rem 0; max-width: 60rem; }
code, pre { font: .875em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
code { background: var(--shade); border-radius: 3px; padding: .1em .3em; }
pre {
  background: var(--shade); border: 1px solid var(--line); border-radius: 6px; padding: .75rem 1rem; margin: .75rem 0;
  white-space: pre-wrap; overflow-wrap: anywhere;
}
pre code { background: none; padding: 0; font-size: inherit; }
.wide { overflow-x: auto; margin: .75rem 0; }
table { border-collapse: collapse; font-size: .875rem; }
th, td { text-align: left; vertical-align: top; padding: .35rem .75rem .35rem 0; border-bottom: 1px solid var(--line); }
th { color: var(--faint); font-weight: 600; vertical-align: bottom; }
td { min-width: 4rem; max-width: 26rem; }
td.n { min-width: 0; }
.n { text-align: right; font-variant-numeric: tabular-nums; }
td.n { white-space: nowrap; }
.good { color: var(--good); }
.warning { color: var(--warning); }
.bad { color: var(--bad); }
.faint { color: var(--faint); }
b.faint { font-weight: 400; }
.strong, td.warning, td.bad { font-weight: 600; }
.card { border: 1px solid var(--line); border-left-width: 4px; border-radius: 6px; padding: .4rem 1rem; }
.card { color: inherit; margin: .75rem 0; }
.card.good { border-left-color: var(--good); }
.card.warning { border-left-color: var(--warning); }
.card.bad { border-left-color: var(--bad); }
details { margin: .75rem 0; }
details td { overflow-wrap: anywhere; }
summary { cursor: pointer; font-weight: 600; }
ul.todo { list-style: none; padding: 0; margin: .75rem 0; }
ul.todo label { display: flex; gap: .6rem; align-items: baseline; padding: .2rem 0; }
ul.todo input { flex: none; width: 1rem; height: 1rem; margin: 0; transform: translateY(.15rem); }
figure { margin: 1rem 0; }
figcaption { color: var(--faint); font-size: .875rem; max-width: 60rem; }
@media (max-width: 40rem) {
  body { padding: 1rem .75rem 3rem; }
  th, td { padding-right: .5rem; }
  td { min-width: 6rem; }
  tr > :first-child { position: sticky; left: 0; background: var(--paper); }
  figure { overflow-x: auto; }
  figure > svg { min-width: 44rem; }
}
.errors { border: 1px solid var(--none); border-radius: 6px; padding: .5rem 1rem; }
"""
DRAWING = with_literals("""\
svg { display: block; width: 100%; height: auto; font: 11px system-ui, sans-serif; }
svg text { fill: var(--ink); }
svg .faint { fill: var(--faint); }
svg .end { text-anchor: end; }
svg .middle { text-anchor: middle; }
svg .strong { font-weight: 600; }
svg .rule { stroke: var(--line); stroke-width: 1; fill: none; }
svg .step { stroke: var(--faint); stroke-width: 1; stroke-dasharray: 3 3; }
svg .box { fill: var(--shade); stroke: var(--line); }
svg .bar { fill: var(--faint); }
svg .away { fill: url(#away); stroke: var(--line); }
svg .hatch { stroke: var(--faint); stroke-width: 1; }
svg .none { fill: var(--none); }
svg .paper { fill: var(--paper); }
""")
"""The style of drawings, without their kinds."""
_PAPER = """\
@media print {
  html { font-size: 10pt; }
  body { font-size: 10pt; max-width: none; padding: 0; }
  h1, h2, h3, h4 { break-after: avoid; }
  pre, figure, tr, li, .card { break-inside: avoid; }
  .wide { overflow: visible; }
  th { white-space: normal; }
  td.n { white-space: normal; }
}
"""
KINDS = with_literals(
    "".join(
        f"svg .k{kind} {{ fill: var(--k{kind}); }}\nsvg .t{kind} {{ fill: var(--k{kind}); fill-opacity: .18; }}\n"
        for kind in range(8)
    )
)
"""`k0` to `k7` color the parts of a picture, `t0` to `t7` their background."""
STYLE = COLORS + with_literals(_PAGE) + DRAWING + _PAPER + KINDS  # The whole style sheet


def page_head(title: str, style: str) -> str:
    """The HTML before the page's contents; PAGE_END follows them."""
    return f"{_HEAD}<title>{text_html(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n<main>\n"


def text_html(text: str) -> str:
    """Text with its markup escaped, without characters that reverse text or that HTML does not allow."""
    return escape(safe_text(text))


def prose_html(text: str) -> str:
    """A text as HTML; words between backticks are code."""
    parts = ((escape(part), is_code) for part, is_code in prose_parts(text))
    return "".join(f"<code>{part}</code>" if is_code else part for part, is_code in parts)


def shortened_to(name: str, most: int) -> str:
    """A name of at most `most` characters, without its middle if it is longer; empty if nothing would be left of it."""
    if len(name) <= most:
        return name
    if most < 3:
        return ""
    return name[: (most - 1) // 2] + "\u2026" + name[-(most // 2) :]
