// What the library holds, and whether anything is amiss.

import * as api from "./api.js";
import { byId, counted, h } from "./dom.js";
import { notice } from "./notices.js";

export async function showStatus() {
  const place = byId("status-content");
  place.replaceChildren(h("p", { class: "fine" }, "Asking the library …"));
  try {
    place.replaceChildren(...content(await api.status()));
  } catch (error) {
    place.replaceChildren(notice("bad", "broken", error.message));
  }
}

function content(status) {
  const ready = status.waiting
    ? notice(
        "soft",
        "info",
        `${counted(status.waiting, "passage")} can be found by words already, and by meaning as soon as the model has read them.`,
      )
    : null;
  const failed = (status.failed ?? []).map((one) =>
    notice("bad", "broken", `${one.model}: ${one.problem}`),
  );
  return [
    h("div", { class: "numbers" }, ...numbers(status)),
    ...failed,
    ready,
    h(
      "dl",
      { class: "fields" },
      ...fields(status).map(([name, value]) =>
        h("div", {}, h("dt", {}, name), h("dd", {}, String(value))),
      ),
    ),
  ].filter(Boolean);
}

function numbers(status) {
  const shown = [
    ["documents", "documents"],
    ["chunks", "passages"],
    ["facts", "facts"],
    ["versions", "versions"],
  ];
  return shown
    .filter(([name]) => typeof status[name] === "number")
    .map(([name, label]) =>
      h("div", {}, h("strong", {}, status[name].toLocaleString()), h("span", {}, label)),
    );
}

function who(caller) {
  if (!caller) return "";
  const sees = caller.scopes
    ? caller.scopes.map((scope) => (scope === "all" ? "public documents" : scope)).join(", ")
    : "everything";
  return `${caller.name === "nobody" ? "a guest" : caller.name} (${caller.role}), and see ${sees}`;
}

const counts = (values) =>
  Object.entries(values ?? {})
    .map(([name, count]) => `${name} ${count}`)
    .join(", ");

function fields(status) {
  return [
    ["You are", who(status.caller)],
    ["Library", status.library],
    ["Profile", status.profile],
    ["Model", status.model],
    ["Kinds", counts(status.kinds)],
    ["Scopes", counts(status.scopes)],
    ["Size", status.bytes && `${(status.bytes / 1e6).toFixed(1)} MB`],
    ["Sources", Object.keys(status.sources ?? {}).join(", ")],
    ["Changes so far", status.generation],
    ["May be written to", status.writable == null ? "" : status.writable ? "yes" : "no"],
  ].filter(([, value]) => value !== "" && value != null);
}
