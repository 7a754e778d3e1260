// The past of a document: its versions, what changed between two, and the way back.

import * as api from "./api.js";
import { counted, h, moment } from "./dom.js";
import { draw } from "./gate.js";
import { notice } from "./notices.js";
import { toast } from "./toast.js";

/** A list that fills itself; `changed` is called when another version became the active one. */
export function versionsPanel(read, changed) {
  const panel = h(
    "div",
    { class: "versions" },
    h("p", { class: "fine" }, "Reading the versions …"),
  );
  fill(panel, read, changed).catch((error) =>
    panel.replaceChildren(notice("bad", "broken", error.message)),
  );
  return panel;
}

async function fill(panel, read, changed) {
  const all = (await api.versions(read.id)).toReversed();
  const active = all.find((one) => one.active);
  const difference = h("div", { class: "difference", "aria-live": "polite" });
  const rows = all.map((one) => row(read, one, active, difference, changed));
  const only =
    all.length === 1 &&
    h(
      "p",
      { class: "fine" },
      "It has not changed since it was added. When it does, earlier readings stay here.",
    );
  draw("versions", () =>
    panel.replaceChildren(h("ol", {}, ...rows), ...(only ? [only] : []), difference),
  );
}

function row(read, one, active, difference, changed) {
  const compare = h(
    "button",
    {
      type: "button",
      class: "small",
      onclick: () => show(read.id, one.version, active.version, difference),
    },
    "Compare",
  );
  const actions = one.active
    ? [h("span", { class: "badge current" }, "Active")]
    : [compare, back(read, one, changed)];
  return h(
    "li",
    {},
    h("strong", {}, `Version ${one.version}`),
    h("span", { class: "fine" }, `${moment(one.made)} · ${counted(one.chunks, "passage")}`),
    h("span", { class: "actions" }, ...actions),
  );
}

/** Going back asks once more, in the same place, until the button is left. */
function back(read, one, changed) {
  const button = h("button", { type: "button", class: "small" });
  const ask = (sure) => {
    button.textContent = sure ? "Really go back?" : "Go back to it";
    button.classList.toggle("sure", sure);
  };
  ask(false);
  button.addEventListener("blur", () => ask(false));
  button.addEventListener("click", async () => {
    if (!button.classList.contains("sure")) return ask(true);
    button.disabled = true;
    try {
      await api.rollback(read.id, one.version);
      toast(`Version ${one.version} is the active one again.`);
      changed();
    } catch (error) {
      button.disabled = false;
      toast(error.message, "bad");
    }
  });
  return button;
}

async function show(id, old, fresh, place) {
  const [from, to] = [old, fresh].sort((a, b) => a - b);
  try {
    const told = await api.diff(id, from, to);
    const counts = `${counted(told.kept, "passage")} kept, ${told.added.length} new, ${told.removed.length} gone`;
    const lines = told.diff.slice(2).map(line);
    place.replaceChildren(
      h("h3", {}, `From version ${from} to ${to}`),
      h("p", { class: "fine" }, counts),
      lines.length
        ? h(
            "div",
            { class: "diff", tabindex: "0", role: "region", "aria-label": "Differences" },
            ...lines,
          )
        : h("p", {}, "The text is the same."),
    );
  } catch (error) {
    place.replaceChildren(notice("bad", "broken", error.message));
  }
}

const LINES = { "+": ["ins", "added"], "-": ["del", "removed"], "@": ["div", "jump"] };

function line(text) {
  const [tag, kind] = LINES[text.charAt(0)] ?? ["div", "same"];
  return h(tag, { class: `line ${kind}` }, kind === "jump" ? "⋯" : text.slice(1) || "\u00a0");
}
