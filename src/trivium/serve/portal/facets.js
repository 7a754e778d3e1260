// Filters. What is chosen lives in the state alone; the boxes only show it and ask to change it.

import { counted, h, keyed } from "./dom.js";
import * as state from "./state.js";

const TITLES = {
  source: "Source",
  category: "Category",
  type: "Type",
  tags: "Tags",
  kind: "Kind",
  domain: "Domain",
  severity: "Severity",
  scope: "Who may see it",
};
const ALWAYS = new Set(["source", "category", "type", "tags"]);
const FEW = 7;

const opened = new Set(); // kinds whose values are all shown
const order = new Map(); // kind → values in the order in which they are shown
let asked = null; // the query that the order belongs to
let counts = null;

/** Draw the filters for new counts, or, without any, for the choice as it is now. */
export function drawFacets(panel, fresh, query = asked) {
  if (fresh !== undefined) counts = fresh;
  if (query !== asked) order.clear(); // while the query stays, no value moves under the pointer
  asked = query;
  const kinds = state.KINDS.filter(
    (kind) => values(kind).length > (ALWAYS.has(kind) ? 0 : 1) || chosen(kind).length,
  );
  keyed(
    panel,
    kinds,
    (kind) => kind,
    group,
    (element, kind) => fill(element, kind),
  );
}

const chosen = (kind) => state.now().filters[kind];

/** Chosen values, and those that the answer counted; both stay where they were. */
function values(kind) {
  const before = order.get(kind) ?? [];
  const present = [...Object.keys(counts?.[kind] ?? {}), ...chosen(kind)];
  const there = new Set(present);
  const all = [...new Set([...before.filter((value) => there.has(value)), ...present])];
  order.set(kind, all);
  return all;
}

function group(kind) {
  const more = h("button", {
    type: "button",
    class: "link more",
    onclick: () => {
      if (!opened.delete(kind)) opened.add(kind);
      fill(element, kind);
    },
  });
  const element = h(
    "fieldset",
    { class: "facet" },
    h("legend", {}, TITLES[kind]),
    h("div", { class: "values" }),
    more,
  );
  return element;
}

function fill(element, kind) {
  const all = values(kind);
  const shown = opened.has(kind)
    ? all
    : all.filter((value, place) => place < FEW || chosen(kind).includes(value));
  const list = element.querySelector(".values");
  keyed(
    list,
    shown,
    (value) => value,
    (value) => box(kind, value),
    (label, value) => {
      label.querySelector("input").checked = chosen(kind).includes(value);
      const count = counts?.[kind]?.[value] ?? 0;
      label.querySelector(".count").textContent = count.toLocaleString();
      label.querySelector(".count").title = counted(count, "result");
      label.classList.toggle("none", count === 0);
      label.classList.toggle("chosen", chosen(kind).includes(value));
    },
  );
  list.classList.toggle("all", opened.has(kind));
  const more = element.querySelector(".more");
  more.hidden = all.length <= FEW;
  more.setAttribute("aria-expanded", String(opened.has(kind)));
  more.textContent = opened.has(kind) ? "Show fewer" : `Show all ${all.length}`;
}

function box(kind, value) {
  const input = h("input", {
    type: "checkbox",
    name: kind,
    value,
    onchange: () => state.choose(kind, value, input.checked),
  });
  return h("label", {}, input, h("span", { class: "name" }, value), h("span", { class: "count" }));
}

/** The chosen filters as chips above the results; each takes itself away. */
export function drawChips(row) {
  const all = state.chosen().flatMap(([kind, list]) => list.map((value) => ({ kind, value })));
  keyed(
    row,
    all,
    ({ kind, value }) => JSON.stringify([kind, value]),
    ({ kind, value }) =>
      h(
        "button",
        {
          type: "button",
          class: "chip",
          "aria-label": `Remove filter ${TITLES[kind]}: ${value}`,
          onclick: () => state.choose(kind, value, false),
        },
        h("small", {}, TITLES[kind]),
        value,
        h("span", { "aria-hidden": "true" }, "×"),
      ),
  );
  row.hidden = !all.length;
}
