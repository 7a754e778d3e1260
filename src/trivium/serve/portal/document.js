// One document, opened at the passage that was found.

import * as api from "./api.js";
import { badges, pages } from "./badges.js";
import { byId, day, h, icon } from "./dom.js";
import { draw } from "./gate.js";
import { markWords, matchedWords } from "./highlights.js";
import { notice } from "./notices.js";
import { prose } from "./prose.js";
import * as search from "./search.js";
import * as state from "./state.js";
import { versionsPanel } from "./versions.js";

let running = new AbortController();
let shown = ""; // the document that is drawn
const covers = matchMedia("(max-width: 820px)"); // whether it lies over everything else

const panel = () => byId("document");

/** Draw what the state says is open. */
export async function drawDocument({ document: id, at }) {
  running.abort();
  if (!id) return hide();
  if (id === shown && panel().querySelector(".text")) return reveal(at);
  running = new AbortController();
  const { signal } = running;
  try {
    const read = await api.document(id, signal);
    draw("document", () => signal.aborted || show(read, at));
  } catch (error) {
    if (!api.aborted(error)) draw("document", () => signal.aborted || fail(error));
  }
}

/** Read the open document again, after a rollback or an upload. */
export function reloadDocument() {
  shown = "";
  if (state.now().document) drawDocument(state.now());
}

function changed() {
  reloadDocument();
  search.ask();
}

function hide() {
  shown = "";
  document.body.classList.remove("reading");
  if (panel().hidden) return;
  panel().hidden = true;
  panel().replaceChildren();
  settle();
  const hits = byId("hits");
  (
    hits.querySelector(".hit.current a.open") ??
    hits.querySelector("a.open") ??
    byId("query")
  ).focus();
}

/** What lies under the document cannot be reached while it does. */
function settle() {
  const under = [document.querySelector(".top"), byId("filters"), byId("results")];
  under.forEach((element) => (element.inert = covers.matches && !panel().hidden));
}

covers.addEventListener("change", settle);

function appear(...content) {
  panel().replaceChildren(...content);
  panel().hidden = false;
  document.body.classList.add("reading");
  settle();
  panel().querySelector("h2")?.focus({ preventScroll: true });
}

function fail(error) {
  shown = "";
  appear(
    h("header", {}, bar(), h("h2", { tabindex: "-1" }, "This document cannot be shown")),
    notice("bad", "broken", error.message),
  );
}

const bar = () =>
  h(
    "div",
    { class: "toolbar" },
    h(
      "button",
      { type: "button", class: "quiet close", title: "Close (Esc)", onclick: () => state.close() },
      icon("close"),
      h("span", {}, "Close"),
    ),
  );

function show(read, at) {
  shown = read.id;
  const past = toggle("Versions", "history", () => versionsPanel(read, changed));
  const fields = toggle("Details", "info", () => details(read));
  appear(
    h(
      "header",
      {},
      bar(),
      h(
        "p",
        { class: "where" },
        h("span", { class: "trail" }, read.uri),
        ...badges(read).filter(Boolean),
      ),
      h("h2", { tabindex: "-1" }, read.title || read.uri),
      h("div", { class: "switches" }, past.button, fields.button),
    ),
    past.content,
    fields.content,
    h("article", { class: "text", lang: "" }, ...passages(read)),
  );
  reveal(at);
}

/** A button that shows and hides a part of the view; the part is made when it is first wanted. */
function toggle(label, picture, make) {
  const content = h("section", { class: "part", hidden: true, "aria-label": label });
  const button = h(
    "button",
    { type: "button", class: "switch", "aria-expanded": "false" },
    icon(picture),
    label,
  );
  button.addEventListener("click", () => {
    if (!content.firstChild) content.append(make());
    content.hidden = !content.hidden;
    if (!content.hidden) panel().scrollTop = 0;
    button.setAttribute("aria-expanded", String(!content.hidden));
  });
  return { button, content };
}

/** The text cut at its passages, so that each can be found; what lies between goes with the next. */
function passages(read) {
  const points = Array.from(read.text ?? "");
  if (read.kind === "facts") return facts(read.chunks);
  const whole =
    read.chunks.length &&
    read.chunks.every((chunk) => chunk.end > chunk.start && chunk.end <= points.length);
  let place = 0;
  return read.chunks.map((chunk) => {
    const from = Math.max(place, Math.min(chunk.start, place));
    const text = whole ? points.slice(from, chunk.end).join("") : chunk.text;
    place = Math.max(place, chunk.end);
    return h(
      "section",
      { class: "passage", "data-chunk": chunk.id },
      pages(chunk.pages) && h("span", { class: "page" }, pages(chunk.pages)),
      ...prose(text),
    );
  });
}

/** Facts say what they are about; those about one subject stand together. */
function facts(chunks) {
  const subject = (chunk) => chunk.heading[0] ?? "";
  const sorted = chunks.toSorted((one, other) => subject(one).localeCompare(subject(other)));
  return sorted.map((chunk) =>
    h(
      "section",
      { class: "passage fact", "data-chunk": chunk.id },
      h("p", { class: "subject" }, chunk.heading.join(" › ")),
      h("p", {}, chunk.text),
    ),
  );
}

/** Go to the passage, and mark in it what was found. */
function reveal(at) {
  const all = [...panel().querySelectorAll(".passage")];
  all.forEach((one) => one.classList.remove("found"));
  const passage = all.find((one) => one.dataset.chunk === at);
  if (!passage) return void (panel().scrollTop = 0);
  passage.classList.add("found");
  markFound();
  if (passage === all[0]) return void (panel().scrollTop = 0);
  const bar =
    getComputedStyle(panel()).overflowY === "auto"
      ? 0
      : document.querySelector(".top").offsetHeight;
  passage.style.scrollMarginTop = `${bar + panel().querySelector("header").offsetHeight + 24}px`;
  passage.scrollIntoView({ block: "start" });
}

/** Mark what the answer found in the open passage; the answer may come after the document. */
export function markFound() {
  const passage = panel().querySelector(".passage.found:not([data-marked])");
  const hit = search.answer()?.hits.find((one) => one.chunk === passage?.dataset.chunk);
  if (!passage || !hit) return;
  markWords(passage, matchedWords(hit));
  passage.dataset.marked = "yes";
}

const DATES = ["created", "updated", "valid_from", "valid_until"];

/** A value of a document's own as a person would write it. */
function plain(value) {
  if (Array.isArray(value)) return value.map(plain).join(", ");
  return typeof value === "object" && value ? JSON.stringify(value) : value;
}

function details(read) {
  const rows = [
    ["Number", `#${read.number}`],
    ["Id", read.id],
    ["Kind", read.kind],
    ["Format", read.media_type],
    ["Category", read.category],
    ["Type", read.type],
    ["Domain", read.domain],
    ["Severity", read.severity],
    ["Who may see it", read.scope],
    ["Tags", read.tags?.join(", ")],
    ["Version", read.version],
    ...DATES.map((name) => [name.replace("_", " "), read[name] && day(read[name])]),
    ...Object.entries(read.metadata ?? {}).map(([name, value]) => [name, plain(value)]),
  ].filter(([, value]) => value != null && value !== "");
  return h(
    "dl",
    { class: "fields" },
    ...rows.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, String(value)))),
  );
}
