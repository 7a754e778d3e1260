// Ties the parts together: the state asks, answers are drawn.

import { refused } from "./api.js";
import { drawDocument, markFound, reloadDocument } from "./document.js";
import { byId, counted, h, painted } from "./dom.js";
import { drawChips, drawFacets } from "./facets.js";
import { draw } from "./gate.js";
import { drawHits, markOpen } from "./hits.js";
import { openKey, startKey } from "./key.js";
import { startKeyboard } from "./keyboard.js";
import { notice, notices } from "./notices.js";
import { roadClass, roadLabel } from "./roads.js";
import * as search from "./search.js";
import { fillStart } from "./start.js";
import * as state from "./state.js";
import { showStatus } from "./status.js";
import { startTheme } from "./theme.js";
import { startUpload } from "./upload.js";

const PAUSE = 30; // ms: letters that come faster than this are one question

let typed = 0; // the timer of the next question, 0 if none is waiting
let pressed = 0; // when the last key was pressed
let since = 0; // when the first key was pressed that the next drawing answers

function follow(next, before) {
  document.body.classList.toggle("asked", state.asks(next));
  const asks = next.query !== before.query || next.filters !== before.filters;
  if (byId("query").value !== next.query) byId("query").value = next.query;
  document.title = next.query.trim() ? `${next.query.trim()} · Trivium` : "Trivium";
  if (next.filters !== before.filters) drawChoice();
  if (next.document !== before.document || next.at !== before.at) {
    drawDocument(next);
    markOpen(byId("hits"), next);
  }
  if (asks) ask(next.filters === before.filters);
}

/**
 * A letter asks at once, before anything is drawn; while an answer is still on its way it waits
 * for the next, so that a slow server is not asked for every letter.
 */
function ask(typing) {
  pressed = performance.now();
  since ||= pressed;
  clearTimeout(typed);
  typed = 0;
  if (typing && search.waiting()) typed = setTimeout(askNow, PAUSE);
  else search.ask();
}

function askNow() {
  typed = 0;
  search.ask();
}

/** The choice shows at once, before any answer to it. */
function drawChoice() {
  drawFacets(byId("facets"));
  drawChips(byId("chips"));
  const count = state.chosen().reduce((sum, [, values]) => sum + values.length, 0);
  byId("filters-clear").hidden = !count;
  byId("filters-open").textContent = count ? `Filters · ${count}` : "Filters";
}

function drawAnswer(answer) {
  byId("problem").replaceChildren();
  if (!answer) return clear();
  drawHits(byId("hits"), answer);
  markOpen(byId("hits"), state.now());
  markFound();
  byId("notices").replaceChildren(...notices(answer));
  byId("count").textContent = took(answer);
  const asked = answer.legs.some((leg) => leg.state !== "skipped"); // browsing takes no road
  byId("legs").replaceChildren(...(asked ? answer.legs.map(road) : []));
  byId("nothing").hidden = answer.hits.length > 0;
  byId("nothing").textContent = nothing(answer);
  byId("more").hidden = !answer.next_cursor;
  if (!since) return; // the same question again: whoever reads stays where they are
  scrollTo(0, 0);
  measure(since);
  since = typed ? pressed : 0; // a letter that came meanwhile is answered by the next drawing
}

/** What to try where nothing was found. */
function nothing(answer) {
  if (!answer.query.trim()) return "Nothing is left by these filters. Take one away.";
  const filtered = state.chosen().length > 0;
  return `Nothing was found. Try fewer or other words${filtered ? ", or take a filter away" : ""}.`;
}

function clear() {
  since = 0;
  for (const name of ["hits", "notices", "count", "legs"]) byId(name).replaceChildren();
  for (const name of ["nothing", "more"]) byId(name).hidden = true;
}

/** How long it took from the key to the drawn page; the browser's own tools show it. */
async function measure(start) {
  performance.measure("trivium:built", { start, end: performance.now() });
  await painted();
  performance.measure("trivium:drawn", { start, end: performance.now() });
}

const took = (answer) =>
  `${counted(answer.total, "result")} in ${Math.max(1, Math.round(answer.took_ms))} ms`;

/** Each road, and how many passages it gave. */
function road(leg) {
  const gave = leg.state === "ok" ? leg.candidates.toLocaleString() : leg.state;
  return h(
    "span",
    { class: `leg ${leg.state}`, title: leg.note ?? `${leg.candidates} passages in ${leg.ms} ms` },
    h("span", { class: `dot ${roadClass(leg.name)}` }),
    roadLabel(leg.name),
    h("b", {}, gave),
  );
}

function drawProblem(error) {
  const enter =
    refused(error) &&
    h("button", { type: "button", class: "small", onclick: openKey }, "Enter a key");
  const again = h(
    "button",
    { type: "button", class: "small", onclick: () => search.ask() },
    "Try again",
  );
  byId("problem").replaceChildren(notice("bad", "broken", error.message, enter || again));
}

function changed() {
  search.ask();
  fillStart();
  reloadDocument();
}

function startDialogs() {
  for (const dialog of document.querySelectorAll("dialog")) {
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  }
  byId("help-open").addEventListener("click", () => byId("help").showModal());
  byId("status-open").addEventListener("click", () => {
    byId("status").showModal();
    showStatus();
  });
}

function startFilters() {
  const show = (on) => {
    document.body.classList.toggle("filtering", on);
    byId("filters-open").setAttribute("aria-expanded", String(on));
  };
  byId("filters-open").addEventListener("click", () =>
    show(!document.body.classList.contains("filtering")),
  );
  byId("filters-close").addEventListener("click", () => show(false));
  byId("filters-clear").addEventListener("click", () => state.clearFilters());
}

function startField() {
  const field = byId("query");
  field.value = state.now().query;
  field.addEventListener("input", () => state.type(field.value));
  byId("search").addEventListener("submit", (event) => {
    event.preventDefault();
    byId("hits").querySelector("a.open")?.focus();
  });
  byId("home").addEventListener("click", (event) => {
    event.preventDefault();
    state.home();
    field.focus();
  });
}

state.follow(follow);
search.on("answer", (answer) => draw("answer", () => drawAnswer(answer)));
search.on("facets", (counts) =>
  draw("facets", () => drawFacets(byId("facets"), counts, state.now().query)),
);
search.on("problem", (error) => draw("problem", () => drawProblem(error)));
search.on("busy", (busy) => document.body.classList.toggle("busy", busy));
byId("more").addEventListener("click", () => search.more());

startTheme();
startDialogs();
startFilters();
startField();
startKeyboard();
startKey(changed);
startUpload(() => {
  search.ask();
  fillStart();
});
document.body.classList.toggle("asked", state.asks());
drawChoice();
search.ask();
drawDocument(state.now());
fillStart();
