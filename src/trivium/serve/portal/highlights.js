// A snippet with what each road matched in it.

import { h } from "./dom.js";
import { roadClass, roadLabel } from "./roads.js";

const SIGNS = /\[\[|\]\]|\*\*/g; // signs of Markdown that say nothing in a snippet

/** Text nodes and marks. Offsets count code points, and roads may overlap. */
export function highlighted(text, highlights) {
  const points = Array.from(text);
  const edges = new Set([0, points.length]);
  highlights.forEach(({ start, end }) => edges.add(start).add(end));
  const places = [...edges].filter((edge) => edge <= points.length).sort((a, b) => a - b);
  return places.slice(0, -1).map((start, index) => {
    const end = places[index + 1];
    const piece = points.slice(start, end).join("").replace(SIGNS, "");
    const roads = highlights.filter((one) => one.start <= start && end <= one.end);
    return roads.length
      ? marked(
          piece,
          roads.map((one) => one.leg),
        )
      : piece;
  });
}

function marked(text, roads) {
  const names = [...new Set(roads)];
  return h(
    "mark",
    {
      class: names.map(roadClass).join(" "),
      title: `found by ${names.map(roadLabel).join(" and ")}`,
    },
    text,
  );
}

/** The matched words of a hit: lower-case text → roads. */
export function matchedWords(hit) {
  const points = Array.from(hit.snippet);
  const words = new Map();
  for (const { leg, start, end } of hit.highlights) {
    const word = points.slice(start, end).join("").toLowerCase();
    words.set(word, [...(words.get(word) ?? []), leg]);
  }
  return words;
}

/** Mark the same words in an element that is already drawn. */
export function markWords(element, words) {
  if (!words.size) return;
  const escaped = [...words.keys()].map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(${escaped.join("|")})(?![\\p{L}\\p{N}])`, "giu");
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const nodes = [];
  while (walker.nextNode()) nodes.push(walker.currentNode);
  for (const node of nodes) {
    const pieces = node.data.split(pattern);
    if (pieces.length === 1) continue;
    node.replaceWith(
      ...pieces.map((piece, index) =>
        index % 2 ? marked(piece, words.get(piece.toLowerCase()) ?? []) : piece,
      ),
    );
  }
}
