// What an answer wants a person to know, in words that need no manual.

import { h, icon, sentence } from "./dom.js";
import { roadLabel } from "./roads.js";
import * as state from "./state.js";

const LOST = {
  vector:
    "Meaning could not be searched just now. These results come from words and spelling alone, so something that is put in other words may be missing.",
  keyword:
    "Words could not be searched just now. These results come from meaning and spelling alone.",
  trigram:
    "Spelling could not be searched just now. A word that is typed differently may not be found.",
};

/** The notices of an answer, most important first. */
export function notices(answer) {
  return [
    ...answer.degraded.map(degraded),
    ...(farFetched(answer) ? [notice("soft", "info", FAR_FETCHED)] : ambiguous(answer)),
    ...(answer.warnings.length ? [warnings(answer.warnings)] : []),
  ];
}

const FAR_FETCHED =
  "Nothing has these words, or words like them. These results are only the nearest in meaning.";

/** Whether meaning alone found anything: it always finds something, however far away. */
function farFetched({ hits, legs }) {
  const others = legs.filter((leg) => leg.name !== "vector");
  return hits.length > 0 && others.length > 0 && others.every((leg) => leg.state === "empty");
}

function degraded(text) {
  const [name] = text.split(":", 1);
  const said = LOST[name] ?? `Something is missing from this answer: ${roadLabel(name)}.`;
  return notice("bad", "broken", said, details("What the library said", [text]));
}

function warnings(texts) {
  const said =
    texts.length === 1 ? sentence(texts[0]) : "There is something to know about this answer.";
  return notice("soft", "info", said, texts.length > 1 ? details("Show", texts) : null);
}

/** Which things compete for the first place, and what tells them apart where that is known. */
function ambiguous(answer) {
  const competing = answer.hits.filter((hit) => answer.ambiguous.includes(hit.id));
  const apart = new Map((answer.told_apart ?? []).map((one) => [one.id, one]));
  if (competing.length < 2 && apart.size < 2) return [];
  const said =
    apart.size > 1
      ? "This name belongs to more than one thing. Which do you mean?"
      : `${number(competing.length)} results fit about equally well. Which do you mean?`;
  return [
    notice(
      "ask",
      "fork",
      said,
      h("ul", { class: "choices" }, ...competing.map((hit) => choice(hit, apart.get(hit.id)))),
    ),
  ];
}

function choice(hit, told) {
  const open = h(
    "button",
    { type: "button", class: "link", onclick: () => state.open(hit.document.id, hit.chunk) },
    told?.label || hit.title,
  );
  const said = told
    ? [...told.types.map(local), ...told.facts.slice(0, 2).map(([, value]) => local(value))].join(
        " · ",
      )
    : [hit.heading, hit.document.uri.split(/[:/]/).at(-1)].filter(Boolean).join(" · ");
  return h("li", {}, open, said && h("span", {}, said));
}

/** The last part of an IRI, or the text itself. */
const local = (text) =>
  /^https?:/.test(text) ? decodeURIComponent(text.split(/[/#]/).at(-1)) : text;

const number = (count) =>
  ["", "One", "Two", "Three", "Four", "Five", "Six"][count] ?? String(count);

function details(title, texts) {
  return h(
    "details",
    {},
    h("summary", {}, title),
    h("ul", {}, ...texts.map((text) => h("li", {}, text))),
  );
}

export function notice(kind, picture, said, ...more) {
  return h(
    "div",
    { class: `notice ${kind}` },
    icon(picture),
    h("div", {}, h("p", {}, said), ...more.filter(Boolean)),
  );
}
