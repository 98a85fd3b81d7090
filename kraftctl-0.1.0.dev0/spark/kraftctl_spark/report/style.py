"""The style sheet of the page; its variables are also the colors of the figures."""

from __future__ import annotations

STYLE = """
:root { color-scheme: light dark;
  --page: #f0f3f6; --surface: #ffffff; --text: #1f2933; --muted: #52606d; --border: #d9e0e6;
  --grid: #e4e7eb; --line: #7b8794; --link: #005a8e;
  --bad-page: #fdeee6; --warn-page: #fff8e6;
  --blue: #0072b2; --sky: #56b4e9; --green: #009e73; --orange: #e69f00; --vermillion: #d55e00;
  --purple: #cc79a7; --yellow: #d9c900; --grey: #8c8c8c; --pale: #d6e6f2; --light-grey: #cbd2d9;
  --gap: #e3e3e3;
  --heat-0: #b7d6ee; --heat-1: #7db8dd; --heat-2: #4292c6; --heat-3: #08519c; --heat-4: #06244d; }
@media (prefers-color-scheme: dark) { :root {
  --page: #12161b; --surface: #1b2128; --text: #e4e9ee; --muted: #a3b0bd; --border: #323c47;
  --grid: #2d3640; --line: #8795a3; --link: #7cc4f5;
  --bad-page: #3a1f12; --warn-page: #33290f;
  --blue: #4aa3df; --sky: #8fd0f5; --green: #2fc497; --orange: #f0b429; --vermillion: #f0803c;
  --purple: #dd9cc0; --yellow: #f0e442; --grey: #8c8c8c; --pale: #2f4a5f; --light-grey: #59636e;
  --gap: #2c2c2e;
  --heat-0: #2a4a66; --heat-1: #2f6a9a; --heat-2: #3f8fc9; --heat-3: #8cc5ec; --heat-4: #e8f4fd; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); line-height: 1.5;
  font-family: system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif;
  font-size: 15px; }
header, main { max-width: 1480px; margin: 0 auto; padding: 0 24px; }
header { padding-top: 18px; }
h1 { font-size: 28px; line-height: 1.2; margin: 0 0 12px; }
h2 { font-size: 20px; margin: 0 0 4px; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 16px; margin: 0 0 16px; }
dt { color: var(--muted); }
dd { margin: 0; overflow-wrap: anywhere; }
.numbers { display: grid; grid-template-columns: repeat(auto-fit, minmax(130px, 1fr)); gap: 12px;
  list-style: none; padding: 0; margin: 0 0 16px; }
.numbers li { background: var(--surface); border: 1px solid var(--border); border-radius: 8px;
  padding: 10px 14px; color: var(--muted); }
.numbers b { display: block; font-size: 24px; line-height: 1.2; color: var(--text);
  font-variant-numeric: tabular-nums; }
.id { font-size: 0.6em; font-weight: normal; color: var(--muted); overflow-wrap: anywhere; }
.period { margin: 24px 0 18px; }
.points { list-style: none; padding: 0; margin: 8px 0; }
.points li { border-left: 4px solid var(--orange); background: var(--warn-page); border-radius: 4px;
  padding: 6px 12px; margin: 0 0 6px; overflow-wrap: anywhere; }
.points .bad { border-color: var(--vermillion); background: var(--bad-page); }
nav { position: sticky; top: 0; z-index: 2; background: var(--page); border-bottom: 1px solid var(--border);
  padding: 8px 24px; font-size: 14px; }
.links { display: flex; flex-wrap: wrap; gap: 4px 18px; justify-content: center; }
nav a, nav a:visited { color: var(--link); text-decoration: none; white-space: nowrap; }
nav a:hover, nav a:focus { text-decoration: underline; }
#zoom { display: block; text-align: center; margin-top: 4px; color: var(--muted); }
#zoom[hidden] { display: none; }
button { font: inherit; color: var(--link); background: var(--surface); border: 1px solid var(--border);
  border-radius: 6px; padding: 1px 10px; cursor: pointer; }
section { background: var(--surface); border: 1px solid var(--border); border-radius: 8px; padding: 18px 22px;
  margin: 18px 0; scroll-margin-top: 88px; }
.summary { margin: 0; font-weight: 600; overflow-wrap: anywhere; }
.explanation, .note { margin: 2px 0 0; color: var(--muted); max-width: 100ch; overflow-wrap: anywhere; }
.note { font-style: italic; }
figure { margin: 14px 0 0; }
figcaption { font-size: 14px; font-weight: 600; }
.plot { width: 100%; }
details { margin-top: 12px; }
details > summary { cursor: pointer; font-size: 14px; font-weight: 600; }
.count { font-weight: normal; color: var(--muted); }
.scroll { overflow: auto; max-height: 480px; margin-top: 6px; }
table { border-collapse: collapse; font-size: 13.5px; width: 100%; font-variant-numeric: tabular-nums; }
th { position: sticky; top: 0; background: var(--page); text-align: left; font-weight: 600;
  white-space: nowrap; }
th, td { padding: 4px 12px 4px 8px; border-bottom: 1px solid var(--border); vertical-align: top; }
td { overflow-wrap: anywhere; min-width: 12em; }
td.short { white-space: nowrap; min-width: 0; }
@media (max-width: 640px) {
  body { font-size: 14px; }
  header, main { padding: 0 8px; }
  header { padding-top: 12px; }
  h1 { font-size: 22px; }
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: 6px; }
  .numbers { grid-template-columns: repeat(auto-fit, minmax(92px, 1fr)); gap: 6px; }
  .numbers li { padding: 6px 8px; font-size: 12.5px; }
  .numbers b { font-size: 18px; }
  nav { padding: 6px 8px; }
  .links { flex-wrap: nowrap; justify-content: flex-start; overflow-x: auto; }
  #zoom { font-size: 12.5px; }
  .points li { padding: 4px 8px; margin-bottom: 4px; line-height: 1.4; font-size: 13px; }
  section { padding: 12px 10px; margin: 10px 0; scroll-margin-top: 64px; }
  .scroll { max-height: none; }
  td, td.short { min-width: 0; white-space: normal; }
  td.short { overflow-wrap: break-word; }
  .wide thead { position: absolute; left: -9999px; }
  .wide, .wide tbody, .wide tr { display: block; }
  .wide tr { border-bottom: 1px solid var(--border); padding: 6px 0; }
  .wide td { display: grid; grid-template-columns: 34% 1fr; gap: 8px; border: 0; padding: 0 4px;
    overflow-wrap: anywhere; }
  .wide td::before { content: attr(data-column); color: var(--muted); }
  .wide td:first-child { font-weight: 600; }
}
@media print { nav { display: none; } section { break-inside: avoid; } body { background: white; } }
"""
