// The routes of the server. Nothing else in the portal knows an address.

import { sentence } from "./dom.js";

const BASE = new URL("./", import.meta.url);
const STORED = "trivium.key";

/** A key or owner token: for this tab, or for this browser if the user wants that. */
export function key() {
  return sessionStorage.getItem(STORED) ?? localStorage.getItem(STORED) ?? "";
}

export function setKey(value, keep) {
  sessionStorage.removeItem(STORED);
  localStorage.removeItem(STORED);
  if (value) (keep ? localStorage : sessionStorage).setItem(STORED, value);
}

/** What went wrong, as a sentence that a person can read, and what to do next. */
export class Problem extends Error {
  constructor(status, code, detail, next = "") {
    super([detail, next].filter(Boolean).map(sentence).join(" "));
    this.status = status;
    this.code = code;
  }
}

export const refused = (error) => error.status === 401 || error.status === 403;

export const aborted = (error) => error.name === "AbortError";

const headers = (secret) => (secret ? { Authorization: `Bearer ${secret}` } : {});

async function ask(
  method,
  path,
  { body, signal, accept = "application/json", secret = key() } = {},
) {
  const options = { method, signal, headers: { Accept: accept, ...headers(secret) } };
  if (body !== undefined) {
    options.body = JSON.stringify(body);
    options.headers["Content-Type"] = "application/json";
  }
  const response = await fetch(new URL(path, BASE), options).catch((error) => {
    if (aborted(error)) throw error;
    throw new Problem(
      0,
      "unreachable",
      "The server does not answer. Is trivium serve still running?",
    );
  });
  if (!response.ok) throw problem(response.status, await response.text());
  return response;
}

function problem(status, text) {
  try {
    const said = JSON.parse(text);
    return new Problem(status, said.code ?? "", said.detail ?? text, said.next);
  } catch {
    return new Problem(status, "", text || `The server answered ${status}.`);
  }
}

const json = async (...request) => (await ask(...request)).json();

function parameters(filter) {
  const pairs = Object.entries(filter).flatMap(([kind, values]) =>
    values.map((value) => [kind, value]),
  );
  return new URLSearchParams(pairs).toString();
}

const named = (id, rest = "") => `documents/${encodeURIComponent(id)}${rest}`;

export const search = (body, signal) => json("POST", "search", { body, signal });
export const document = (id, signal) => json("GET", named(id), { signal });
export const overview = async (filter, signal) =>
  (await json("GET", `facets?${parameters(filter)}`, { signal })).facets;
export const session = (token) => json("POST", "session", { body: { token }, secret: "" });
export const versions = (id, signal) => json("GET", named(id, "/versions"), { signal });
export const diff = (id, old, fresh) => json("GET", named(id, `/diff?old=${old}&new=${fresh}`));
export const rollback = (id, version) =>
  json("POST", named(id, "/rollback"), { body: { version } });
export const feedback = (body) => json("POST", "feedback", { body });
export const status = () => json("GET", "status");
/** Whether a text is a key: true, or the problem with it. */
export const knows = (secret) =>
  json("GET", "status", { secret }).then(
    () => true,
    (problem) => problem,
  );
export const task = (id) => json("GET", `tasks/${encodeURIComponent(id)}`);

/** Send a file; `sent` hears how much of it is on its way, from 0 to 1. Gives the task. */
export function upload(file, sent) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest(); // fetch does not tell how far it is
    request.open("POST", new URL("documents", BASE));
    for (const [name, value] of Object.entries(headers(key())))
      request.setRequestHeader(name, value);
    request.upload.addEventListener("progress", (event) => {
      if (event.lengthComputable) sent(event.loaded / event.total);
    });
    request.addEventListener("load", () => {
      if (request.status < 300) resolve(JSON.parse(request.responseText));
      else reject(problem(request.status, request.responseText));
    });
    request.addEventListener("error", () =>
      reject(new Problem(0, "unreachable", "The file did not reach the server; try again.")),
    );
    const form = new FormData();
    form.append("file", file, file.name);
    request.send(form);
  });
}

/** Follow a task by server-sent events; gives each state of it, the last one last. */
export async function* events(id) {
  const response = await ask("GET", `tasks/${encodeURIComponent(id)}/events`, {
    accept: "text/event-stream",
  });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    text += value.replaceAll("\r\n", "\n");
    const messages = text.split("\n\n");
    text = messages.pop();
    for (const message of messages) {
      const data = message.split("\n").filter((line) => line.startsWith("data:"));
      if (data.length) yield JSON.parse(data.map((line) => line.slice(5)).join("\n"));
    }
  }
}
