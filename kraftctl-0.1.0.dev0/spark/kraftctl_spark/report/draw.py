"""The script of the page: draws the figures in the colors of the style sheet, and joins their zooms."""

from __future__ import annotations

DRAW = """
const source = document.getElementById("figures").textContent;
const options = {responsive: true, displaylogo: false, showSendToCloud: false, plotlyServerURL: "",
  modeBarButtonsToRemove: ["lasso2d", "select2d"]};
const dark = matchMedia("(prefers-color-scheme: dark)");
const narrow = matchMedia("(max-width: 640px)");
const zoom = document.getElementById("zoom");
let shown = null;
let following = false;

function colored() {
  const style = getComputedStyle(document.documentElement);
  return JSON.parse(source, (key, value) => typeof value === "string" && /^var\\(--[a-z0-9-]+\\)$/.test(value)
    ? style.getPropertyValue(value.slice(4, -1)).trim() : value);
}

function buttons() {
  return {...options, displayModeBar: narrow.matches ? false : "hover"};
}

function fitted(figure) {
  const layout = figure.layout;
  if (narrow.matches) {
    layout.margin = {l: 44, r: 6, t: 30, b: 40};
    layout.font.size = 11;
    if (layout.meta.short.length) layout.yaxis.ticktext = layout.meta.short;
    for (const name of Object.keys(layout).filter(name => name.startsWith("xaxis"))) {
      Object.assign(layout[name], {nticks: 4, tickangle: 0});
    }
  }
  if (shown !== null && isTime(layout)) layout.xaxis.range = shown;
  return figure;
}

function isTime(layout) {
  return layout.xaxis.type === "date";
}

function draw() {
  return Promise.all(Object.entries(colored()).map(([id, figure]) => {
    const {data, layout} = fitted(figure);
    return Plotly.react(id, data, layout, buttons());
  })).then(aligned);
}

// The same time is at the same place in all plots, where the screen is wide enough.
function aligned() {
  const timed = narrow.matches ? [] : plots();
  const widest = side => Math.max(...timed.map(plot => Math.ceil(plot._fullLayout._size[side])));
  const margins = {"margin.l": widest("l"), "margin.r": widest("r")};
  return Promise.all(timed.map(plot => Plotly.relayout(plot, {...margins})));
}

function plots() {
  return Object.keys(JSON.parse(source)).map(id => document.getElementById(id))
    .filter(plot => isTime(plot.layout));
}

function follow(origin) {
  const range = [...origin.layout.xaxis.range];
  if (following || String(range) === String(shown ?? whole)) return;
  show(range);
}

function show(range) {
  following = true;
  shown = String(range) === String(whole) ? null : range;
  zoom.hidden = shown === null;
  const times = range.map(time => String(time).slice(0, 19));
  zoom.querySelector("output").textContent = times.join(" to ") + " UTC";
  Promise.all(plots().filter(plot => String(plot.layout.xaxis.range) !== String(range))
    .map(plot => Plotly.relayout(plot, {"xaxis.range": [...range]})))
    .finally(() => { following = false; });
}

let whole = null;
draw().then(() => {
  const timed = plots();
  if (timed.length) whole = [...timed[0].layout.xaxis.range];
  for (const plot of timed) plot.on("plotly_relayout", () => follow(plot));
  zoom.querySelector("button").addEventListener("click", () => show([...whole]));
  for (const query of [dark, narrow]) query.addEventListener("change", draw);
  document.documentElement.dataset.plots = "drawn";
});
"""
