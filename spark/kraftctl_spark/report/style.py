"""The style sheet of the page."""

from __future__ import annotations

STYLE = """
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { margin: 0; background: #f0f3f6; color: #1f2933; line-height: 1.5;
  font-family: system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif;
  font-size: 15px; }
header, main { max-width: 1240px; margin: 0 auto; padding: 0 24px; }
header { padding-top: 24px; }
h1 { font-size: 28px; line-height: 1.2; margin: 0 0 12px; }
h2 { font-size: 20px; margin: 0 0 4px; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 16px; margin: 0 0 16px; }
dt { color: #52606d; }
dd { margin: 0; overflow-wrap: anywhere; }
.numbers { display: grid; grid-template-columns: repeat(auto-fit, minmax(130px, 1fr)); gap: 12px;
  list-style: none;
  padding: 0; margin: 0 0 16px; }
.numbers li { background: white; border: 1px solid #d9e0e6; border-radius: 8px; padding: 10px 14px;
  color: #52606d; }
.numbers b { display: block; font-size: 24px; line-height: 1.2; color: #1f2933;
  font-variant-numeric: tabular-nums; }
.who { background: #fff8e6; border-left: 4px solid #E69F00; border-radius: 4px; padding: 8px 14px;
  margin: 0 0 16px; }
nav { position: sticky; top: 0; z-index: 2; background: #f0f3f6; border-bottom: 1px solid #d9e0e6;
  padding: 8px 24px;
  display: flex; flex-wrap: wrap; gap: 4px 18px; justify-content: center; font-size: 14px; }
nav a, nav a:visited { color: #005a8e; text-decoration: none; }
nav a:hover, nav a:focus { text-decoration: underline; }
section { background: white; border: 1px solid #d9e0e6; border-radius: 8px; padding: 18px 22px;
  margin: 18px 0;
  scroll-margin-top: 64px; }
.summary { margin: 0; font-weight: 600; overflow-wrap: anywhere; }
.explanation, .note { margin: 2px 0 0; color: #52606d; max-width: 100ch; }
.note { font-style: italic; }
figure { margin: 14px 0 0; }
figcaption { font-size: 14px; font-weight: 600; color: #3e4c59; }
.plot { width: 100%; }
details { margin-top: 12px; }
details > summary { cursor: pointer; font-size: 14px; font-weight: 600; color: #3e4c59; }
.count { font-weight: normal; color: #52606d; }
.scroll { overflow: auto; max-height: 480px; margin-top: 6px; }
table { border-collapse: collapse; font-size: 13.5px; width: 100%; font-variant-numeric: tabular-nums; }
th { position: sticky; top: 0; background: #f0f3f6; text-align: left; font-weight: 600;
  white-space: nowrap; }
th, td { padding: 4px 12px 4px 8px; border-bottom: 1px solid #e4e7eb; vertical-align: top; }
td { overflow-wrap: anywhere; min-width: 5em; }
@media print { nav { display: none; } section { break-inside: avoid; } body { background: white; } }
"""
