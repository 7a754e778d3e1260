// Who is asking: a key, or the owner's token. The server decides what either may see.

import * as api from "./api.js";
import { byId } from "./dom.js";

/** `changed` is called when another key counts from now on. */
export async function startKey(changed) {
  show();
  byId("key-open").addEventListener("click", () => openKey());
  byId("key-form").addEventListener("submit", (event) => {
    event.preventDefault();
    enter(changed);
  });
  byId("key-forget").addEventListener("click", () => {
    api.setKey("");
    done(changed);
  });
  await fromAddress(changed);
}

export function openKey() {
  byId("key-problem").textContent = "";
  byId("key-dialog").showModal();
}

async function enter(changed) {
  const keep = byId("key-keep").checked;
  try {
    api.setKey(await valid(byId("key-field").value.trim()), keep);
    done(changed);
  } catch (error) {
    byId("key-problem").textContent = error.message;
  }
}

/** The key itself, or the one that a token of `trivium serve --owner` is exchanged for. */
async function valid(text) {
  const known = await api.knows(text);
  if (known === true) return text;
  return api.session(text).then(
    (given) => given.key,
    () => {
      throw known;
    },
  );
}

function done(changed) {
  byId("key-field").value = "";
  byId("key-dialog").close();
  show();
  changed();
}

/** `trivium serve --owner` prints an address that ends in `#token=…`; it is good once. */
async function fromAddress(changed) {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (!token) return;
  history.replaceState(null, "", location.pathname + location.search);
  try {
    api.setKey((await api.session(token)).key);
    done(changed);
  } catch (error) {
    openKey();
    byId("key-problem").textContent = error.message;
  }
}

function show() {
  const has = Boolean(api.key());
  byId("key-open").classList.toggle("on", has);
  byId("key-open").title = has ? "Key: entered" : "Key: none, public documents only";
  byId("key-forget").hidden = !has;
}
