// The list of results.

import { badges, pages } from "./badges.js";
import { h, icon, keyed } from "./dom.js";
import { bar, explanation } from "./explanation.js";
import { thumbs } from "./feedback.js";
import { highlighted } from "./highlights.js";
import * as state from "./state.js";

/** The link of a hit opens the document at the passage; its address can be copied. */
function link(hit, marks) {
  const { id } = hit.document;
  const there = { ...state.now(), document: id, at: hit.chunk };
  const open = (event) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    state.open(id, hit.chunk);
  };
  return h(
    "a",
    { class: "open", href: state.address(there), onclick: open },
    ...highlighted(hit.title || hit.document.uri, marks),
  );
}

function where(hit) {
  const [source, ...path] = hit.document.uri.split(":");
  const trail = [source, ...path.join(":").split("/")].filter(Boolean);
  return h(
    "p",
    { class: "where" },
    h("span", { class: "trail" }, trail.join(" › ")),
    ...badges({ ...hit, scope: hit.document.scope }),
  );
}

const BETWEEN = " › ";

function section(hit, marks) {
  const path = hit.heading && hit.heading !== hit.title ? hit.heading.split(BETWEEN) : [];
  const last = path.pop() ?? "";
  const said = [...path.flatMap((one) => [one, BETWEEN]), ...highlighted(last, marks)];
  const where = pages(hit.pages);
  if (where) said.push(last ? ` · ${where}` : where);
  return last || where ? h("p", { class: "heading" }, ...said) : null;
}

/**
 * A passage that begins with its own heading says it twice, above the snippet and in it: what was
 * found in the heading is marked there, and the snippet begins after it.
 */
function parted(hit) {
  const name = hit.heading ? hit.heading.split(BETWEEN).at(-1) : hit.title;
  const rest = hit.snippet.startsWith(`${name} `)
    ? hit.snippet.slice(name.length).replace(/^ (\| )?/, "")
    : "";
  if (!name || !rest) return { above: [], snippet: hit.snippet, highlights: hit.highlights };
  const [all, left, head] = [hit.snippet, rest, name].map((text) => Array.from(text).length);
  const after = all - left;
  return {
    above: hit.highlights.filter(({ end }) => end <= head),
    snippet: rest,
    highlights: hit.highlights
      .filter(({ start }) => start >= after)
      .map((one) => ({ ...one, start: one.start - after, end: one.end - after })),
  };
}

function tag(value) {
  const chosen = state.now().filters.tags.includes(value);
  return h(
    "button",
    {
      type: "button",
      class: "tag",
      "aria-pressed": String(chosen),
      onclick: () => state.choose("tags", value, !state.now().filters.tags.includes(value)),
    },
    value,
  );
}

function why(hit, answer, best, item) {
  const id = `why-${hit.rank}`;
  const button = h(
    "button",
    {
      type: "button",
      class: "why",
      "aria-expanded": "false",
      "aria-controls": id,
      title: "What this score is made of (e)",
    },
    bar(hit, best),
    h("span", { class: "score" }, hit.score.toFixed(2)),
    icon("chevron"),
  );
  const whole = h("div", { id, hidden: true });
  button.addEventListener("click", () => {
    if (!whole.firstChild) whole.append(explanation(hit, answer));
    whole.hidden = !whole.hidden;
    button.setAttribute("aria-expanded", String(!whole.hidden));
    item.classList.toggle("explained", !whole.hidden);
  });
  return [button, whole];
}

function item(hit, answer, best) {
  const element = h("li", {
    class: "hit",
    "data-document": hit.document.id,
    "data-chunk": hit.chunk,
  });
  const [button, whole] = hit.parts.length ? why(hit, answer, best, element) : [null, null];
  const { above, snippet, highlights } = parted(hit);
  const titled = !hit.heading || hit.heading === hit.title;
  element.append(
    where(hit),
    h("h3", {}, link(hit, titled ? above : [])),
    ...[section(hit, titled ? [] : above)].filter(Boolean),
    h("p", { class: "snippet" }, ...highlighted(snippet, highlights)),
    h(
      "div",
      { class: "foot" },
      ...(button ? [button] : []),
      h(
        "span",
        { class: "tags" },
        hit.type && h("span", { class: "type" }, hit.type),
        ...hit.tags.slice(0, 4).map(tag),
      ),
      thumbs(hit, answer.query),
    ),
    ...(whole ? [whole] : []),
  );
  return element;
}

/** Draw an answer; what was drawn for the same question stays as it is when a page is added. */
export function drawHits(list, answer) {
  const best = Math.max(0, ...answer.hits.map((hit) => hit.score));
  const held = list.contains(document.activeElement) ? place(list) : null;
  if (list.dataset.asked !== String(answer.asked)) list.replaceChildren();
  list.dataset.asked = answer.asked;
  list.dataset.query = answer.query;
  keyed(
    list,
    answer.hits,
    (hit) => hit.rank,
    (hit) => item(hit, answer, best),
  );
  if (held) focusAgain(list, held);
}

function place(list) {
  const inside = document.activeElement.closest("li");
  return { key: inside?.dataset.document, rank: inside?.dataset.key };
}

/** A redrawn list must not throw whoever moves by keyboard back to the top of the page. */
function focusAgain(list, held) {
  if (list.contains(document.activeElement)) return;
  const same = [...list.children].find((child) => child.dataset.document === held.key);
  (same ?? list.firstElementChild)?.querySelector("a.open").focus({ preventScroll: true });
}

/** Show which result is open: the passage, or, where it is not in the list, all of its document. */
export function markOpen(list, { document: id, at }) {
  const all = [...list.children];
  const exact = all.some((child) => child.dataset.chunk === at);
  for (const child of all)
    child.classList.toggle(
      "current",
      exact ? child.dataset.chunk === at : child.dataset.document === id,
    );
}
