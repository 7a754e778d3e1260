"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const SVG = "http://www.w3.org/2000/svg";
const $ = (id) => document.getElementById(id);
const rowOf = (name) => data.rows.find((row) => row.name === name);
const number = (value, digits = 3) => (value === null ? "–" : value.toFixed(digits).replace(/^(-?)0\./, "$1."));
const signed = (value) => (value < 0 ? "−" : "+") + number(Math.abs(value));
const milliseconds = (value) => (value === null ? "–" : value < 10 ? value.toFixed(1) : value.toFixed(0));

function node(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}
function shape(name, attributes = {}, text = "") {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== "") made.textContent = text;
  return made;
}
function canvas(id, height, label) {
  const place = $(id);
  const width = Math.max(280, place.clientWidth);
  const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
  place.replaceChildren(svg);
  return [svg, width];
}

// Each leg keeps its colour everywhere; of the others each kind has one, in several shades.
const colours = {};
for (const kind of ["plain", "leg", "fusion", "profile", "run"]) {
  const rows = data.rows.filter((row) => row.kind === kind && row.name !== "default");
  rows.forEach((row, place) => {
    const share = (kind === "profile" ? 80 : 100) - (35 * place) / Math.max(1, rows.length - 1);
    colours[row.name] = kind === "leg" ? `var(--${row.name})` : `color-mix(in oklab, var(--${kind}) ${share}%, var(--card))`;
  });
}
colours["default"] = "var(--profile)";

// --- the tip that follows the pointer ------------------------------------------------------------
function tip(event, ...lines) {
  const box = $("tip");
  box.replaceChildren(...lines.map(([text, dim]) => node("p", dim ? { class: "dim" } : {}, text)));
  box.hidden = false;
  const { width, height } = box.getBoundingClientRect();
  const left = Math.min(event.clientX + 14, innerWidth - width - 8);
  const top = event.clientY + 18 + height > innerHeight ? event.clientY - height - 12 : event.clientY + 18;
  box.style.left = `${Math.max(8, left)}px`;
  box.style.top = `${top}px`;
}
const untip = () => { $("tip").hidden = true; };

// --- head ----------------------------------------------------------------------------------------
function head() {
  $("set").textContent = data.set;
  const count = (n, one) => `${n.toLocaleString("en")} ${one}${n === 1 ? "" : "s"}`;
  $("facts").textContent = [count(data.documents, "document"), count(data.queries.length, "judged query").replace("querys", "queries"), count(data.judgements, "judgement"), `model ${data.model}`].join(" · ");
  const best = [...data.rows].sort((a, b) => b.means["ndcg@10"] - a.means["ndcg@10"])[0];
  const gap = best.difference;
  const lead = $("lead");
  lead.append(node("b", {}, best.name), ` answers best here: nDCG@10 ${number(best.means["ndcg@10"])}, `, `recall@100 ${number(best.means["recall@100"])}. `);
  if (gap) lead.append(`That is ${signed(gap.mean)} beside ${data.baseline}, and with 95 % certainty between ${signed(gap.low)} and ${signed(gap.high)}.`);
  $("theme").onclick = () => {
    const dark = getComputedStyle(document.documentElement).getPropertyValue("--paper").trim() === "#14161a";
    document.documentElement.dataset.theme = dark ? "light" : "dark";
  };
  if (data.remarks.length) {
    $("remarks").hidden = false;
    $("remarks").querySelector("ul").append(...data.remarks.map((text) => node("li", {}, text)));
  }
}

// --- the table with intervals --------------------------------------------------------------------
let sorting = null;
function table() {
  const measures = ["ndcg@10", "recall@10", "recall@100", "mrr", "map", "p@1", "p@5", "p@10"];
  const columns = [["row", null], ["interval of nDCG@10", null], ...measures.map((m) => [m.replace("ndcg", "nDCG").replace(/^(mrr|map|p)/, (s) => s.toUpperCase()), (r) => r.means[m]]), [`Δ ${data.baseline}`, (r) => (r.difference ? r.difference.mean : 0)], ["p50 ms", (r) => r.p50 ?? Infinity]];
  const rows = [...data.rows];
  if (sorting) rows.sort((a, b) => (columns[sorting.at][1](a) - columns[sorting.at][1](b)) * sorting.way);
  const header = node("tr");
  columns.forEach(([name, value], at) => {
    const cell = node("th", at === 1 ? { class: "wide" } : {}, name);
    if (sorting?.at === at) cell.setAttribute("aria-sort", sorting.way < 0 ? "descending" : "ascending");
    cell.onclick = () => {
      const first = name === "p50 ms" ? 1 : -1;
      sorting = !value ? null : { at, way: sorting?.at === at ? -sorting.way : first };
      table();
    };
    header.append(cell);
  });
  const low = Math.min(...data.rows.map((r) => r.interval.low)), high = Math.max(...data.rows.map((r) => r.interval.high));
  const scale = (v) => 6 + (188 * (v - low)) / (high - low || 1);
  const best = Object.fromEntries(measures.map((m) => [m, Math.max(...data.rows.map((r) => r.means[m]))]));
  const body = rows.map((row) => {
    const svg = shape("svg", { viewBox: "0 0 200 32", width: "100%", height: 32, preserveAspectRatio: "none", "aria-hidden": "true" });
    const base = rowOf(data.baseline).interval.mean;
    svg.append(shape("line", { x1: scale(base), x2: scale(base), y1: 0, y2: 32, class: "axis", opacity: 0.45, "stroke-dasharray": "2 3" }));
    svg.append(shape("rect", { x: scale(row.interval.low), width: scale(row.interval.high) - scale(row.interval.low), y: 14, height: 4, rx: 2, fill: colours[row.name], opacity: 0.4 }));
    svg.append(shape("rect", { x: scale(row.interval.mean) - 1.6, y: 9.5, width: 3.2, height: 13, rx: 1.6, fill: colours[row.name] }));
    const gap = row.difference;
    const way = !gap || !(gap.low > 0 || gap.high < 0) ? "level" : gap.mean > 0 ? "up" : "down";
    const line = node("tr", {}, node("td", {}, node("span", { class: "mark", style: `background:${colours[row.name]}` }), row.name, node("span", { class: "chip" }, row.kind)), node("td", { class: "wide" }, svg));
    line.append(...measures.map((m) => node("td", row.means[m] === best[m] ? { class: "best" } : {}, number(row.means[m]))));
    line.append(node("td", { class: way }, gap ? signed(gap.mean) : "·"), node("td", {}, milliseconds(row.p50)));
    line.onmousemove = (event) => tip(event, [`${row.name}: nDCG@10 ${number(row.interval.mean)}, between ${number(row.interval.low)} and ${number(row.interval.high)}`], [gap ? `${signed(gap.low)} to ${signed(gap.high)} beside ${data.baseline}${way === "level" ? ": may be chance" : ""}` : "the baseline", true]);
    line.onmouseleave = untip;
    return line;
  });
  $("table").replaceChildren(node("thead", {}, header), node("tbody", {}, ...body));
}

// --- wins and losses -----------------------------------------------------------------------------
function wins() {
  const row = rowOf($("row").value), other = rowOf($("against").value);
  const bars = data.queries.map((query, i) => ({ query, i, gap: row.ndcg[i] - other.ndcg[i] })).sort((a, b) => b.gap - a.gap || a.i - b.i);
  const tally = (test) => bars.filter((bar) => test(bar.gap)).length;
  $("tally").replaceChildren(node("b", { class: "w" }, `${tally((g) => g > 0)} won`), ` · ${tally((g) => g === 0)} level · `, node("b", { class: "l" }, `${tally((g) => g < 0)} lost`));
  const height = 240, left = 34;
  const [svg, width] = canvas("wins", height, `nDCG@10 of ${row.name} less that of ${other.name}, query by query`);
  const reach = Math.max(0.2, Math.ceil(Math.max(...bars.map((bar) => Math.abs(bar.gap))) * 5) / 5);
  const y = (v) => 10 + ((1 - v / reach) * (height - 20)) / 2;
  for (const v of [reach, reach / 2, 0, -reach / 2, -reach]) {
    svg.append(shape("line", { x1: left, x2: width, y1: y(v), y2: y(v), class: v ? "grid" : "axis" }));
    svg.append(shape("text", { x: left - 6, y: y(v) + 4, "text-anchor": "end" }, v ? (v < 0 ? "−" : "+") + number(Math.abs(v), 1) : 0));
  }
  const step = (width - left) / bars.length;
  const tell = (event, bar) => tip(event, [bar.query.text], [`${row.name} ${number(row.ndcg[bar.i])} · ${other.name} ${number(other.ndcg[bar.i])}`, true], [`first relevant hit: ${place(row.first[bar.i])} · ${place(other.first[bar.i])}`, true]);
  bars.forEach((bar, at) => {
    const top = Math.min(y(bar.gap), y(0));
    svg.append(shape("rect", { x: left + at * step, width: Math.max(step * 0.82, 0.6), y: bar.gap ? top : y(0) - 1, height: Math.max(Math.abs(y(bar.gap) - y(0)), 2), rx: Math.min(2, step / 3), fill: bar.gap > 0 ? "var(--win)" : bar.gap < 0 ? "var(--loss)" : "var(--faint)" }));
    const zone = shape("rect", { x: left + at * step, width: step, y: 0, height, fill: "transparent" });
    zone.onmousemove = (event) => { zone.setAttribute("fill", "var(--faint)"); zone.setAttribute("opacity", 0.18); tell(event, bar); };
    zone.onmouseleave = () => { zone.setAttribute("fill", "transparent"); untip(); };
    svg.append(zone);
  });
  const list = (title, chosen, mark) => {
    const items = chosen.map((bar) => {
      const item = node("li", {}, node("span", { class: mark }, signed(bar.gap)), node("span", {}, bar.query.text));
      item.onmousemove = (event) => tell(event, bar);
      item.onmouseleave = untip;
      return item;
    });
    return node("div", {}, node("h3", {}, items.length ? title : ""), node("ol", {}, ...items));
  };
  $("extremes").replaceChildren(
    list("Won by most", bars.filter((bar) => bar.gap > 0).slice(0, 5), "w"),
    list("Lost by most", bars.filter((bar) => bar.gap < 0).slice(-5).reverse(), "l"),
  );
}
const place = (rank) => (rank ? `#${rank}` : "none");

// --- recall curves -------------------------------------------------------------------------------
const kept = new Set(["grep", "keyword", "vector", "trigram", "default"].filter(rowOf));
function recall(pointed = null) {
  const height = 340, left = 40, bottom = 26;
  const [svg, width] = canvas("recall", height, "recall at every depth from 1 to 100");
  const depth = data.rows[0].curve.length;
  const x = (k) => left + ((width - left - 92) * Math.log(k)) / Math.log(depth);
  const top = Math.min(1, Math.ceil(Math.max(...data.rows.map((r) => r.curve[depth - 1])) * 5) / 5 || 1);
  const low = Math.min(top - 0.2, Math.floor(Math.min(...data.rows.map((r) => r.curve[0])) * 5) / 5);
  const y = (v) => 8 + ((top - v) / (top - low)) * (height - bottom - 8);
  for (let v = low; v <= top + 1e-9; v += top - low > 0.5 ? 0.2 : 0.1) {
    svg.append(shape("line", { x1: left, x2: x(depth), y1: y(v), y2: y(v), class: "grid" }));
    svg.append(shape("text", { x: left - 8, y: y(v) + 4, "text-anchor": "end" }, number(v, 1)));
  }
  for (const k of [1, 2, 5, 10, 20, 50, 100].filter((k) => k <= depth)) svg.append(shape("text", { x: x(k), y: height - 6, "text-anchor": "middle" }, k));
  const shown = (name) => (pointed ? name === pointed : kept.has(name));
  const ordered = [...data.rows].sort((a, b) => shown(a.name) - shown(b.name));
  const labels = [];
  for (const row of ordered) {
    const points = row.curve.map((v, i) => `${x(i + 1).toFixed(1)},${y(v).toFixed(1)}`).join(" ");
    svg.append(shape("polyline", { points, fill: "none", stroke: shown(row.name) ? colours[row.name] : "var(--rule)", "stroke-width": shown(row.name) ? 2.4 : 1.4, "stroke-linejoin": "round" }));
    if (shown(row.name)) labels.push({ row, at: y(row.curve[depth - 1]) });
  }
  labels.sort((a, b) => a.at - b.at);
  let last = -Infinity;
  for (const label of labels) {
    last = Math.max(label.at, last + 14);
    svg.append(shape("text", { x: x(depth) + 8, y: last + 4, style: `fill:${colours[label.row.name]};font-weight:600` }, label.row.name));
  }
  const guide = shape("line", { y1: 8, y2: height - bottom, class: "axis", visibility: "hidden" });
  const zone = shape("rect", { x: left, y: 0, width: x(depth) - left, height: height - bottom, fill: "transparent" });
  zone.onmousemove = (event) => {
    const box = svg.getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width) * width;
    const k = Math.max(1, Math.min(depth, Math.round(Math.exp(((at - left) / (x(depth) - left)) * Math.log(depth)))));
    guide.setAttribute("x1", x(k)); guide.setAttribute("x2", x(k)); guide.setAttribute("visibility", "visible");
    const lines = data.rows.filter((r) => shown(r.name)).sort((a, b) => b.curve[k - 1] - a.curve[k - 1]);
    tip(event, [`first ${k}`], ...lines.map((r) => [`${number(r.curve[k - 1])}  ${r.name}`, true]));
  };
  zone.onmouseleave = () => { guide.setAttribute("visibility", "hidden"); untip(); };
  svg.append(guide, zone);
}
function legend() {
  $("legend").replaceChildren(...data.rows.map((row) => {
    const button = node("button", { type: "button", "aria-pressed": kept.has(row.name) }, node("span", { class: "mark", style: `background:${colours[row.name]}` }), row.name);
    button.onmouseenter = () => recall(row.name);
    button.onmouseleave = () => recall();
    button.onclick = () => { kept.has(row.name) ? kept.delete(row.name) : kept.add(row.name); button.setAttribute("aria-pressed", kept.has(row.name)); recall(); };
    return button;
  }));
}

// --- which legs find what ------------------------------------------------------------------------
function overlap() {
  const sets = data.overlap[$("depth").value].filter((set) => set.legs.length || set.count);
  const legs = data.rows.filter((row) => row.kind === "leg").map((row) => row.name);
  const total = sets.reduce((sum, set) => sum + set.count, 0) || 1;
  sets.sort((a, b) => !a.legs.length - !b.legs.length || b.count - a.count);
  const line = 30, gap = 72, left = legs.length * gap;
  const [svg, width] = canvas("overlap", 26 + sets.length * line, "relevant documents by the legs that found them");
  legs.forEach((leg, i) => svg.append(shape("text", { x: i * gap + gap / 2, y: 14, "text-anchor": "middle" }, leg)));
  const most = Math.max(...sets.map((set) => set.count)) || 1;
  sets.forEach((set, at) => {
    const y = 26 + at * line + line / 2;
    const inside = legs.map((leg, i) => (set.legs.includes(leg) ? i : -1)).filter((i) => i >= 0);
    if (inside.length > 1) svg.append(shape("line", { x1: inside[0] * gap + gap / 2, x2: inside.at(-1) * gap + gap / 2, y1: y, y2: y, stroke: "var(--faint)", "stroke-width": 2 }));
    legs.forEach((leg, i) => svg.append(shape("circle", { cx: i * gap + gap / 2, cy: y, r: 6, fill: set.legs.includes(leg) ? colours[leg] : "var(--rule)" })));
    const length = ((width - left - 110) * set.count) / most;
    const fill = set.legs.length === 1 ? colours[set.legs[0]] : set.legs.length ? "var(--profile)" : "var(--faint)";
    svg.append(shape("rect", { x: left + 8, y: y - 9, width: Math.max(length, 1), height: 18, rx: 4, fill, opacity: set.legs.length ? 0.85 : 0.4 }));
    svg.append(shape("text", { x: left + 14 + length, y: y + 4, class: "strong" }, `${set.count} · ${((100 * set.count) / total).toFixed(1)} %`));
    const zone = shape("rect", { x: 0, y: y - line / 2, width, height: line, fill: "transparent" });
    zone.onmousemove = (event) => tip(event, [`${set.count} of ${total} relevant documents`], [set.legs.length ? `found by ${set.legs.join(", ")}${set.legs.length < legs.length ? " only" : ""}` : "found by none of the legs", true]);
    zone.onmouseleave = untip;
    svg.append(zone);
  });
}

// --- latency -------------------------------------------------------------------------------------
function latency() {
  const rows = data.rows.filter((row) => row.ms.length);
  const every = rows.flatMap((row) => row.ms);
  const line = 24, left = 92;
  const [svg, width] = canvas("latency", 30 + rows.length * line, "time of searches by row");
  const low = Math.max(0.05, Math.min(...every) * 0.8), high = Math.max(...every) * 1.2;
  const x = (v) => left + ((width - left - 52) * Math.log(Math.max(v, low) / low)) / Math.log(high / low);
  for (const v of [0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000, 3000].filter((v) => v >= low && v <= high)) {
    svg.append(shape("line", { x1: x(v), x2: x(v), y1: 0, y2: rows.length * line, class: "grid" }));
    svg.append(shape("text", { x: x(v), y: rows.length * line + 18, "text-anchor": "middle" }, `${v} ms`));
  }
  rows.forEach((row, at) => {
    const y = at * line + line / 2;
    svg.append(shape("text", { x: left - 10, y: y + 4, "text-anchor": "end", class: "strong" }, row.name));
    row.ms.forEach((v, i) => svg.append(shape("circle", { cx: x(v), cy: y + ((i * 7) % 9) - 4, r: 2, fill: colours[row.name], opacity: 0.4 })));
    svg.append(shape("rect", { x: x(row.p50) - 1.5, y: y - 9, width: 3, height: 18, rx: 1.5, fill: colours[row.name] }));
    svg.append(shape("text", { x: width, y: y + 4, "text-anchor": "end" }, milliseconds(row.p50)));
    const zone = shape("rect", { x: 0, y: y - line / 2, width, height: line, fill: "transparent" });
    zone.onmousemove = (event) => tip(event, [`${row.name}: median ${milliseconds(row.p50)} ms`], [`95 % of ${row.ms.length} searches within ${milliseconds(row.p95)} ms`, true]);
    zone.onmouseleave = untip;
    svg.append(zone);
  });
}

// --- all of it -----------------------------------------------------------------------------------
function choose(id, names, chosen, change) {
  $(id).append(...names.map((name) => node("option", { value: name, ...(name === chosen ? { selected: "" } : {}) }, name)));
  $(id).onchange = change;
}
const names = data.rows.map((row) => row.name);
choose("row", names, rowOf("default") ? "default" : names.at(-1), wins);
choose("against", names, data.baseline, wins);
choose("depth", Object.keys(data.overlap), Object.keys(data.overlap).at(-1), overlap);
function draw() { wins(); recall(); overlap(); latency(); }
head(); table(); legend(); draw();
addEventListener("resize", draw);
