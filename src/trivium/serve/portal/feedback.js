// Thumbs: was this of use? The library learns from it, and from nothing else on this page.

import * as api from "./api.js";
import { h, icon } from "./dom.js";
import { toast } from "./toast.js";

const given = new Map(); // what was said in this tab: query and document → verdict

const name = (query, hit) => JSON.stringify([query, hit.document.id]);

export function thumbs(hit, query) {
  const buttons = {
    accepted: button("up", "Of use"),
    dismissed: button("down", "Of no use"),
  };
  const show = () => {
    for (const [verdict, one] of Object.entries(buttons)) {
      one.setAttribute("aria-pressed", String(given.get(name(query, hit)) === verdict));
    }
  };
  for (const [verdict, one] of Object.entries(buttons)) {
    one.addEventListener("click", () => judge(verdict, hit, query).then(show));
  }
  show();
  return h(
    "span",
    { class: "thumbs", role: "group", "aria-label": `Was “${hit.title}” of use?` },
    buttons.accepted,
    buttons.dismissed,
  );
}

const button = (picture, label) =>
  h(
    "button",
    {
      type: "button",
      class: `thumb ${picture}`,
      title: label,
      "aria-label": label,
      "aria-pressed": "false",
    },
    icon(picture),
  );

async function judge(verdict, hit, query) {
  if (given.get(name(query, hit)) === verdict) return;
  try {
    await api.feedback({ verdict, documents: [hit.document.id], query });
    given.set(name(query, hit), verdict);
    toast(verdict === "accepted" ? "Noted: this was of use." : "Noted: this was of no use.");
  } catch (error) {
    toast(error.message, "bad");
  }
}
