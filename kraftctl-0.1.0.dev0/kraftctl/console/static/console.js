// Keeps the page live: an event says that there is a new picture, and the sections that differ are replaced.
"use strict";

const live = document.getElementById("live");
const parts = document.getElementById("parts");
const shown = new Map();
let isFetching = false;
let isWanted = false;
let seenAt = Date.now();
let seenNumber = "";
let isRefused = false;
const SECONDS_MAX = 10;

function say(text, isLost) {
  if (live.textContent !== text) live.textContent = text;
  live.classList.toggle("lost", isLost);
}

function keyed(root) {
  return new Map([...root.querySelectorAll("details[data-key]")].map((each) => [each.dataset.key, each]));
}

// What is open stays open, and the focus stays on the element with the same key or address.
function replace(old, next) {
  const before = keyed(old);
  for (const [key, each] of keyed(next)) {
    if (before.has(key)) each.open = before.get(key).open;
  }
  const focused = old.contains(document.activeElement) ? document.activeElement : null;
  const key = focused?.closest("details[data-key]")?.dataset.key;
  const address = focused?.getAttribute("href");
  old.replaceWith(next);
  if (!focused) return;
  const links = address ? [...next.querySelectorAll("a")].filter((each) => each.getAttribute("href") === address) : [];
  const again = links[0] ?? (key === undefined ? null : keyed(next).get(key)?.querySelector("summary"));
  again?.focus({ preventScroll: true });
}

function isSelecting() {
  const selection = document.getSelection();
  return selection !== null && !selection.isCollapsed && parts.contains(selection.anchorNode);
}

function sayAge() {
  const seconds = Math.round((Date.now() - seenAt) / 1000);
  if (seconds > SECONDS_MAX) say(`not live for ${seconds} s`, true);
  else say("live", false);
}

async function refresh() {
  if (isFetching) {
    isWanted = true;
    return;
  }
  isFetching = true;
  try {
    const response = await fetch("/parts", { credentials: "same-origin" });
    isRefused = response.status === 401;
    if (isRefused) {
      say("a token is needed: reload the page", true);
      return;
    }
    if (!response.ok) throw new Error(String(response.status));
    const text = await response.text();
    const next = new DOMParser().parseFromString(text, "text/html").body;
    const number = next.querySelector("#state")?.dataset.number ?? "";
    if (number !== seenNumber) seenAt = Date.now(); // the same picture again is no news
    seenNumber = number;
    if (isSelecting()) return; // a text that is being copied does not change
    const olds = [...parts.querySelectorAll("[id]")].filter((each) => each.matches("section, p.end"));
    const nexts = [...next.querySelectorAll("[id]")].filter((each) => each.matches("section, p.end"));
    if (olds.map((each) => each.id).join() !== nexts.map((each) => each.id).join()) {
      parts.replaceChildren(...next.childNodes);
    } else {
      olds.forEach((old, at) => {
        const text = nexts[at].innerHTML; // as the server sends it, with nothing opened
        if (shown.get(old.id) !== text) {
          shown.set(old.id, text);
          replace(old, nexts[at]);
        }
      });
    }
    sayAge();
  } catch (error) {
    say("not live", true);
  } finally {
    isFetching = false;
    if (isWanted) {
      isWanted = false;
      refresh();
    }
  }
}

function follow() {
  const updates = new EventSource("/updates");
  updates.onmessage = () => {
    if (!document.hidden) refresh();
  };
  updates.onerror = () => {
    if (!isRefused) say("not live", true);
    if (updates.readyState !== EventSource.CLOSED) return;
    refresh(); // the status of a refused stream is not known here
    setTimeout(follow, 5000);
  };
}

function move(step) {
  const all = [...document.querySelectorAll(".trouble summary")];
  const at = all.indexOf(document.activeElement);
  const next = all[at < 0 ? (step > 0 ? 0 : all.length - 1) : at + step];
  next?.focus();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const field = document.getElementById("q");
  if (event.target === field) {
    if (event.key === "Escape") field.blur();
    return;
  }
  if (event.key === "/") {
    event.preventDefault();
    field.focus();
    field.select();
  } else if (event.key === "j" || event.key === "k") {
    move(event.key === "j" ? 1 : -1);
  }
});

document.addEventListener("visibilitychange", () => {
  if (!document.hidden) refresh();
});

setInterval(() => {
  if (!document.hidden && !isRefused && Date.now() - seenAt > 1000 * SECONDS_MAX) sayAge();
}, 2000);

follow();
