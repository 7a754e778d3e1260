// Everything can be done without a mouse: / to search, arrows to move, Enter to open, Esc to leave.

import { byId } from "./dom.js";
import * as state from "./state.js";

const links = () => [...byId("hits").querySelectorAll("a.open")];

const typing = (element) => element.matches?.("input:not([type=checkbox]), textarea, select");

const ACTIONS = {
  "/": () => {
    byId("query").focus();
    byId("query").select();
  },
  "?": () => byId("help").showModal(),
  ArrowDown: () => move(1),
  ArrowUp: () => move(-1),
  j: () => move(1),
  k: () => move(-1),
  e: () => document.activeElement.closest?.(".hit")?.querySelector(".why")?.click(),
  Escape: () => escape(),
};

export function startKeyboard() {
  addEventListener("keydown", (event) => {
    if (
      event.defaultPrevented ||
      event.metaKey ||
      event.ctrlKey ||
      event.altKey ||
      event.isComposing
    )
      return;
    if (document.querySelector("dialog[open]")) return;
    const field = event.target === byId("query");
    if (typing(event.target) && !(field && ["ArrowDown", "Escape"].includes(event.key))) return;
    if (event.key.startsWith("Arrow") && !field && !moves(event.target)) return;
    const action = ACTIONS[event.key];
    if (action && action() !== false) event.preventDefault();
  });
}

/** Arrows move between results; inside a document, a table or a box they keep their own meaning. */
function moves(element) {
  return (
    element === document.body || Boolean(element.closest("#hits") && !element.closest(".scroll"))
  );
}

/** The next or the last result; above the first one is the search field. */
function move(by) {
  const all = links();
  const here = all.findIndex((link) => link.closest("li").contains(document.activeElement));
  const place = here < 0 ? (by > 0 ? 0 : -1) : here + by;
  if (place < 0) return void byId("query").focus();
  if (!all[place]) return false;
  all[place].focus({ preventScroll: true });
  all[place].closest("li").scrollIntoView({ block: "nearest" });
}

/** From the document back to the results, from there to the field, from there to an empty one. */
function escape() {
  if (document.body.classList.contains("filtering"))
    return void document.body.classList.remove("filtering");
  if (state.now().document) return void state.close();
  if (document.activeElement === byId("query")) {
    byId("query").value = "";
    return void state.type("");
  }
  byId("query").focus();
}
