// What the page shows, in one place: the query, the chosen filters, the open document.
// It is kept in the address, so a search can be bookmarked, sent, and gone back to.

export const KINDS = ["source", "category", "type", "tags", "kind", "domain", "severity", "scope"];

const listeners = new Set();
let current = read();
let waiting = 0; // the timer of an address that is still to be written

function read() {
  const address = new URLSearchParams(location.search);
  const filters = Object.fromEntries(KINDS.map((kind) => [kind, address.getAll(kind)]));
  return {
    query: address.get("q") ?? "",
    filters,
    document: address.get("document") ?? "",
    at: address.get("at") ?? "",
  };
}

/** The address of a state, for links as well. */
export function address(state) {
  const parameters = new URLSearchParams();
  if (state.query.trim()) parameters.set("q", state.query);
  for (const kind of KINDS) state.filters[kind].forEach((value) => parameters.append(kind, value));
  if (state.document) parameters.set("document", state.document);
  if (state.document && state.at) parameters.set("at", state.at);
  const text = parameters.toString();
  return text ? `?${text}` : location.pathname;
}

export const now = () => current;

/** Called with (state, before) whenever something changed. */
export function follow(listener) {
  listeners.add(listener);
}

function become(next) {
  const before = current;
  current = next;
  listeners.forEach((listener) => listener(current, before));
}

function write(how) {
  clearTimeout(waiting);
  waiting = 0;
  if (address(current) !== location.search) history[how](null, "", address(current));
}

/** Typing replaces the address, a moment later: browsers refuse too many changes. */
export function type(query) {
  if (query === current.query) return;
  become({ ...current, query });
  clearTimeout(waiting);
  waiting = setTimeout(() => write("replaceState"), 300);
}

/** Anything but typing is a step that the back button undoes. */
function step(next) {
  if (waiting) write("replaceState");
  const there = address(next) !== address(current);
  become(next);
  if (there) write("pushState");
}

export function choose(kind, value, chosen) {
  const others = current.filters[kind].filter((one) => one !== value);
  const values = chosen ? [...others, value] : others;
  step({ ...current, filters: { ...current.filters, [kind]: values } });
}

export function clearFilters() {
  step({ ...current, filters: emptied() });
}

export function search(query) {
  step({ ...current, query, document: "", at: "" });
}

export function open(document, at = "") {
  step({ ...current, document, at });
}

export function close() {
  if (current.document) step({ ...current, document: "", at: "" });
}

export function home() {
  step({ ...current, query: "", document: "", at: "", filters: emptied() });
}

function emptied() {
  return Object.fromEntries(KINDS.map((kind) => [kind, []]));
}

/** The filters that are chosen, as [kind, values]. */
export function chosen(state = current) {
  return Object.entries(state.filters).filter(([, values]) => values.length);
}

/** Whether it asks for anything: words, or a filter to browse by. */
export const asks = (state = current) => Boolean(state.query.trim() || chosen(state).length);

addEventListener("popstate", () => {
  clearTimeout(waiting);
  waiting = 0;
  become(read());
});
addEventListener("pagehide", () => waiting && write("replaceState"));
