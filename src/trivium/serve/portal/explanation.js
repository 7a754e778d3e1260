// Where a score comes from: a bar that shows each road's share, and the whole sum on demand.

import { h } from "./dom.js";
import { roadClass, roadLabel, roadSense } from "./roads.js";

const gave = (part) => Math.max(0, part.contribution);

/** A bar as long as the score is beside the best one, cut into what each road gave. */
export function bar(hit, best) {
  const element = h("span", { class: "bar", role: "img", "aria-label": said(hit) });
  const parts = hit.parts.filter((part) => gave(part) > 0);
  for (const part of parts) {
    const piece = h("span", { class: `piece ${roadClass(part.name)}`, title: share(part, hit) });
    piece.style.width = `${(100 * gave(part)) / (best || 1)}%`;
    element.append(piece);
  }
  return element;
}

function share(part, hit) {
  return `${roadLabel(part.name)} ${Math.round((100 * part.contribution) / (hit.score || 1))} %`;
}

function said(hit) {
  const parts = hit.parts.filter((part) => gave(part) > 0).map((part) => share(part, hit));
  return parts.length ? `Score from ${parts.join(", ")}` : "No score";
}

const number = (value, digits = 3) => (value == null ? "–" : value.toFixed(digits));

/** The whole sum as a table. */
export function explanation(hit, answer) {
  const legs = new Map(answer.legs.map((leg) => [leg.name, leg]));
  return h(
    "div",
    { class: "explanation" },
    h(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": "What the score is made of" },
      h(
        "table",
        {},
        h("thead", {}, h("tr", {}, ...head("Road", "Place", "Own score", "Weight", "Gave"))),
        h("tbody", {}, ...hit.parts.map((part) => line(part, legs.get(part.name)))),
        h(
          "tfoot",
          {},
          h(
            "tr",
            {},
            h("th", { scope: "row", colspan: "4" }, "Score"),
            h("td", {}, number(hit.score)),
          ),
        ),
      ),
    ),
    h("p", { class: "fine" }, sentence(answer)),
  );
}

const head = (...names) => names.map((name) => h("th", { scope: "col" }, name));

function line(part, leg) {
  const of = leg && h("span", { class: "of" }, ` of ${leg.candidates}`);
  return h(
    "tr",
    {},
    h(
      "th",
      { scope: "row" },
      h("span", { class: `dot ${roadClass(part.name)}` }),
      roadLabel(part.name),
      h("small", {}, roadSense(part.name) || part.stage),
    ),
    h("td", {}, ...(part.rank == null ? ["–"] : [String(part.rank), of])),
    h("td", {}, number(part.value)),
    h("td", {}, number(part.weight, 2)),
    h("td", {}, number(part.contribution)),
  );
}

const KINDS = {
  blend: "The roads' own scores were put on one scale and added up.",
  rrf: "Each road counts by the place it gave, not by its own score.",
  signals: "Several signals were weighed and added up.",
  rerank: "A reranker read the best results again and gave this score.",
};

function sentence(answer) {
  const sure =
    answer.confidence == null
      ? ""
      : ` Confidence in the first place: ${number(answer.confidence, 2)}.`;
  return `${KINDS[answer.score_kind] ?? ""} Profile ${answer.profile}.${sure}`;
}
