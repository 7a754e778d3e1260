// The text of a document as paragraphs, headings, lists and tables: enough of Markdown to read by.
// Everything becomes text nodes; a link leads only to the web or to a search in this library.

import { h } from "./dom.js";
import * as state from "./state.js";

const INLINE =
  /(`[^`\n]+`|\*\*[^*\n]+\*\*|\*[^*\s][^*\n]*\*|(?<![\p{L}\p{N}])_[^_\s][^_\n]*_(?![\p{L}\p{N}])|\[\[[^[\]\n]+\]\]|\[[^[\]\n]+\]\([^()[\s]+\))/u;

/** Text with emphasis, code and links. */
export function inline(text) {
  return text.split(INLINE).map((piece, index) => (index % 2 ? span(piece) : piece));
}

function span(piece) {
  if (piece.startsWith("`")) return h("code", {}, piece.slice(1, -1));
  if (piece.startsWith("**")) return h("strong", {}, ...inline(piece.slice(2, -2)));
  if (piece.startsWith("*") || piece.startsWith("_"))
    return h("em", {}, ...inline(piece.slice(1, -1)));
  if (piece.startsWith("[[")) return wiki(piece.slice(2, -2));
  const [, label, target] = /^\[(.+)\]\((.+)\)$/.exec(piece);
  return /^https?:\/\//.test(target)
    ? h("a", { href: target, rel: "noopener noreferrer", target: "_blank" }, label)
    : label;
}

/** `[[Name]]` or `[[Name|shown]]`: searches for the name. */
function wiki(text) {
  const [name, label = name] = text.split("|");
  const go = (event) => {
    event.preventDefault();
    state.search(name);
  };
  return h(
    "a",
    {
      class: "wiki",
      href: state.address({ ...state.now(), query: name, document: "" }),
      onclick: go,
    },
    label,
  );
}

const HEADING = /^(#{1,6})\s+(.*)$/;
const ITEM = /^\s*(?:[-*+]|(\d+)[.)])\s+(.*)$/;
const FENCE = /^\s*(```|~~~)/;
const ROW = /^\s*\|.*\|\s*$/;

/** Blocks of a piece of text, in order. */
export function prose(text) {
  const lines = text.split("\n");
  const blocks = [];
  while (lines.length) blocks.push(block(lines));
  return blocks.filter(Boolean);
}

function block(lines) {
  const [line] = lines;
  if (!line.trim()) return void lines.shift();
  if (FENCE.test(line)) return fenced(lines);
  const heading = HEADING.exec(line);
  if (heading) {
    lines.shift();
    return h(`h${Math.min(6, heading[1].length + 2)}`, {}, ...inline(heading[2]));
  }
  if (ROW.test(line)) return table(take(lines, (one) => ROW.test(one)));
  if (ITEM.test(line)) return list(take(lines, (one) => ITEM.test(one) || /^\s+\S/.test(one)));
  if (/^\s*>/.test(line)) {
    const quoted = take(lines, (one) => /^\s*>/.test(one)).map((one) =>
      one.replace(/^\s*>\s?/, ""),
    );
    return h("blockquote", {}, ...prose(quoted.join("\n")));
  }
  if (/^\s*([-*_])(\s*\1){2,}\s*$/.test(line)) return (lines.shift(), h("hr"));
  return h("p", {}, ...inline(take(lines, paragraph).join("\n")));
}

const paragraph = (line, place) =>
  place === 0 ||
  (line.trim() && !HEADING.test(line) && !ITEM.test(line) && !ROW.test(line) && !FENCE.test(line));

/** Take lines from the front while they belong. */
function take(lines, belongs) {
  let count = 0;
  while (count < lines.length && belongs(lines[count], count)) count += 1;
  return lines.splice(0, count);
}

function fenced(lines) {
  lines.shift();
  const body = take(lines, (line) => !FENCE.test(line));
  lines.shift();
  return h("pre", { tabindex: "0" }, h("code", {}, body.join("\n")));
}

function list(lines) {
  const items = [];
  for (const line of lines) {
    const match = ITEM.exec(line);
    if (match) items.push(match[2]);
    else items[items.length - 1] += `\n${line.trim()}`;
  }
  const ordered = ITEM.exec(lines[0])[1];
  return h(
    ordered ? "ol" : "ul",
    ordered ? { start: ordered } : {},
    ...items.map((item) => h("li", {}, ...inline(item))),
  );
}

function table(lines) {
  const rows = lines.map((line) =>
    line
      .trim()
      .slice(1, -1)
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim()),
  );
  const ruled = rows[1]?.every((cell) => /^:?-*:?$/.test(cell));
  const cells = (tag, row) => h("tr", {}, ...row.map((cell) => h(tag, {}, ...inline(cell))));
  const body = ruled ? rows.slice(2) : rows;
  return h(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": "Table" },
    h(
      "table",
      {},
      ruled && h("thead", {}, cells("th", rows[0])),
      h("tbody", {}, ...body.map((row) => cells("td", row))),
    ),
  );
}
