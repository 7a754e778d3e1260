// What is shown before anything is asked: what there is, and ways in.

import * as api from "./api.js";
import { byId, counted, h } from "./dom.js";
import { draw } from "./gate.js";
import * as state from "./state.js";

const MOST = 8;

/** Fill the start page; where the server says nothing it stays as it is. */
export async function fillStart() {
  const [status, counts] = await Promise.all([
    api.status().catch(() => null),
    api.overview({}).catch(() => null),
  ]);
  const groups = ["category", "tags"].map((kind) => group(kind, counts?.[kind])).filter(Boolean);
  draw("start", () => {
    byId("holds").textContent = status ? sentence(status) : "";
    byId("ways").replaceChildren(...groups);
  });
}

function sentence(status) {
  if (!status.documents) return "There is nothing to see yet. Drop files here, or enter a key.";
  const facts = status.facts ? `, ${counted(status.facts, "fact")}` : "";
  return `${counted(status.documents, "document")}, ${counted(status.chunks, "passage")}${facts}.`;
}

const NAMES = { category: "Browse", tags: "Common tags" };

function group(kind, values) {
  const most = Object.entries(values ?? {}).slice(0, MOST);
  if (!most.length) return null;
  return h(
    "div",
    { class: "way" },
    h("h2", {}, NAMES[kind]),
    h("p", {}, ...most.map(([value, count]) => way(kind, value, count))),
  );
}

function way(kind, value, count) {
  return h(
    "button",
    { type: "button", class: "chip", onclick: () => state.choose(kind, value, true) },
    value,
    h("small", {}, count.toLocaleString()),
  );
}
