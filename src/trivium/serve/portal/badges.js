// Small facts about a document: who may see it, whether it is fresh, where it stands.

import { counted, h, icon } from "./dom.js";

const FRESHNESS = {
  stale: ["Source changed", "Its file is not what it was when it was read; add it again."],
  missing: ["Source gone", "The file it was read from is no longer there."],
  unverified: ["Not checked", "Nobody compared it with its source."],
  current: ["Current", "It says what its source says today."],
};

/** `3`, `3–4`, or nothing. */
export function pages(range) {
  if (!range) return "";
  return range[0] === range[1] ? `p. ${range[0]}` : `pp. ${range[0]}–${range[1]}`;
}

export function badges({ scope, freshness, tier, verifications = [] }) {
  const [word, sense] = FRESHNESS[freshness] ?? [];
  return [
    scope &&
      scope !== "all" &&
      h(
        "span",
        { class: "badge scope", title: `Only those who are granted ${scope} see this` },
        icon("lock"),
        scope,
      ),
    word &&
      h("span", { class: `badge ${freshness}`, title: sense }, h("span", { class: "word" }, word)),
    tier && h("span", { class: "badge tier", title: "The library it came from" }, tier),
    verifications.length > 0 &&
      h(
        "span",
        { class: "badge stale", title: "Facts about it contradict each other" },
        counted(verifications.length, "open conflict"),
      ),
  ];
}
