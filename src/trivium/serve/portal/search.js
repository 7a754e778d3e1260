// Asking. Each question has a number, and an answer to any but the last question is dropped.

import * as api from "./api.js";
import { painted } from "./dom.js";
import { asks, chosen, now } from "./state.js";

const PAGE = 12;

const listeners = { answer: new Set(), facets: new Set(), problem: new Set(), busy: new Set() };
let last = 0;
let running = new AbortController();
let open = false; // whether the last question still waits for its answer
let shown = null; // the answer on the page with the hits of all its pages; `asked` is its number

export const answer = () => shown;

export const waiting = () => open;

/** `answer`, `facets` (kind → value → count), `problem`, or `busy` (true or false). */
export function on(event, listener) {
  listeners[event].add(listener);
}

const tell = (event, ...what) => listeners[event].forEach((listener) => listener(...what));

/** The question that the state asks, or null if it asks nothing yet. */
function question(state) {
  if (!asks(state)) return null;
  return {
    query: state.query,
    limit: PAGE,
    filter: Object.fromEntries(chosen(state)),
    facets: true,
  };
}

/** Ask what the state says now; whatever was asked before no longer counts. */
export async function ask() {
  const mine = ++last;
  running.abort();
  running = new AbortController();
  const { signal } = running;
  const asked = question(now());
  open = Boolean(asked);
  if (!asked) {
    shown = null;
    tell("busy", false);
    tell("answer", null);
    tell("facets", null);
    return;
  }
  tell("busy", true);
  try {
    const main = api.search(asked, signal);
    const counts = without(asked, signal);
    const found = await main;
    if (mine !== last) return;
    open = false;
    arrive({ ...found, asked: mine });
    const others = settled(await counts, found.facets, asked.filter);
    await painted(); // the results come first, the counts beside them a frame later
    if (mine === last) tell("facets", { ...found.facets, ...others });
  } catch (error) {
    if (mine === last && !api.aborted(error)) tell("problem", error);
  } finally {
    if (mine === last) {
      open = false;
      tell("busy", false);
    }
  }
}

function arrive(found) {
  shown = found;
  tell("answer", found);
}

/** The next page of the answer that is shown. */
export async function more() {
  if (!shown?.next_cursor) return;
  const mine = last;
  tell("busy", true);
  try {
    const asked = { ...question(now()), facets: false, cursor: shown.next_cursor };
    const next = await api.search(asked, running.signal);
    if (mine === last) arrive({ ...next, asked: mine, hits: [...shown.hits, ...next.hits] });
  } catch (error) {
    if (mine === last && !api.aborted(error)) tell("problem", error);
  } finally {
    if (mine === last) tell("busy", false);
  }
}

/** A kind that has a choice is counted without it, so that its other values stay on offer. */
async function without(asked, signal) {
  const kinds = Object.keys(asked.filter);
  const counts = await Promise.all(
    kinds.map(async (kind) => {
      const { [kind]: _, ...filter } = asked.filter;
      const found = await counted({ ...asked, filter }, signal).catch(() => ({}));
      return [kind, found[kind] ?? {}];
    }),
  );
  return Object.fromEntries(counts);
}

/** What is chosen has as many results as are shown: the answer to the whole question counts it. */
function settled(others, facets, filter) {
  const known = (kind) => filter[kind].map((value) => [value, facets?.[kind]?.[value] ?? 0]);
  return Object.fromEntries(
    Object.entries(others).map(([kind, counts]) => [
      kind,
      { ...counts, ...Object.fromEntries(known(kind)) },
    ]),
  );
}

async function counted(asked, signal) {
  if (!asked.query.trim()) return api.overview(asked.filter, signal);
  return (await api.search({ ...asked, limit: 1 }, signal)).facets;
}
