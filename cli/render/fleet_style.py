"""What a report on a fleet has in its style sheet beside what all pages have."""

from cli.render.page_style import STYLE

_PLOTS = """\
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(max(9rem, 20%), 1fr)); gap: .75rem; }
.figures { margin: 1rem 0; padding: 0; list-style: none; }
.figures li {
  border: 1px solid var(--line); border-radius: 6px; padding: .5rem .75rem; background: var(--shade);
}
.figures b { display: block; font-size: 1.35rem; line-height: 1.3; font-variant-numeric: tabular-nums; }
.figures span, .note { color: var(--faint); font-size: .875rem; }
.legend { display: flex; flex-wrap: wrap; gap: .25rem 1.1rem; margin: .5rem 0; padding: 0; list-style: none; }
.legend { font-size: .875rem; }
svg.key { display: inline-block; width: .8rem; height: .8rem; margin-right: .4rem; vertical-align: -.05rem; }
.chart { position: relative; margin: 1rem 0 0 3.5rem; padding-bottom: 1.75rem; font-size: .75rem; }
.chart svg { height: 12rem; overflow: visible; }
.over rect { fill: transparent; }
.over rect:hover { fill: var(--ink); fill-opacity: .12; }
.scale, .dates { color: var(--faint); font-variant-numeric: tabular-nums; }
.scale { position: absolute; left: -3.5rem; width: 3.1rem; height: 12rem; text-align: right; }
.scale span { position: absolute; right: 0; transform: translateY(50%); }
.dates { position: absolute; left: 0; right: 0; bottom: 0; height: 1.25rem; overflow: hidden; }
.dates span { position: absolute; white-space: nowrap; }
.bars { display: grid; grid-template-columns: minmax(6rem, 18rem) 1fr minmax(4rem, max-content); }
.bars { gap: .3rem .75rem; align-items: center; margin: .75rem 0; font-size: .875rem; }
.bars .name { overflow-wrap: anywhere; }
.bars .value { text-align: right; font-variant-numeric: tabular-nums; }
svg.meter { height: .95rem; background: var(--shade); }
td:not(.n) { min-width: 7rem; overflow-wrap: anywhere; }
.reason { overflow-wrap: anywhere; }
.drawing { overflow-x: auto; }
.drawing svg { min-width: 44rem; }
@media (max-width: 40rem) {
  .sparse { display: none; }
  .bars { grid-template-columns: 1fr max-content; }
  .bars .name { grid-column: 1 / -1; margin-top: .35rem; }
}
@media print {
  .chart svg, .scale { height: 9rem; }
  .drawing { overflow: visible; }
  .drawing svg { min-width: 0; }
  th.n { white-space: normal; }
  table { font-size: .75rem; }
  td:not(.n) { min-width: 5rem; }
  .figures li, .bars > *, .legend { break-inside: avoid; }
}
"""
FLEET_STYLE = STYLE + _PLOTS
