// Short sentences at the edge of the page that go away by themselves.

import { byId, h, icon } from "./dom.js";

export function toast(sentence, kind = "") {
  const close = h(
    "button",
    { type: "button", class: "quiet", "aria-label": "Dismiss", onclick: () => note.remove() },
    icon("close"),
  );
  const note = h("div", { class: `toast ${kind}` }, h("span", {}, sentence), close);
  byId("toasts").append(note);
  setTimeout(() => note.remove(), kind === "bad" ? 12_000 : 5_000);
}
