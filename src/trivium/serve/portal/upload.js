// Adding files: dropped anywhere on the page or chosen; one after the other, each with its progress.

import * as api from "./api.js";
import { byId, h, icon, sentence } from "./dom.js";
import { openKey } from "./key.js";
import * as state from "./state.js";

const queue = [];
let working = false;
let finished = () => {};

/** `done` is called after each file that went in. */
export function startUpload(done) {
  finished = done;
  const field = byId("file");
  byId("add").addEventListener("click", () => field.click());
  field.addEventListener("change", () => {
    take(field.files);
    field.value = "";
  });
  drops(byId("drop"));
}

const carries = (event) => event.dataTransfer?.types.includes("Files");

function drops(veil) {
  addEventListener("dragover", (event) => {
    if (!carries(event)) return;
    event.preventDefault();
    veil.hidden = false;
  });
  addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) veil.hidden = true;
  });
  addEventListener("drop", (event) => {
    if (!carries(event)) return;
    event.preventDefault();
    veil.hidden = true;
    take(event.dataTransfer.files);
  });
}

function take(files) {
  for (const file of files) queue.push({ file, row: row(file) });
  byId("uploads").hidden = false;
  if (!working) work();
}

async function work() {
  working = true;
  while (queue.length) {
    const { file, row: shown } = queue.shift();
    await send(file, shown);
  }
  working = false;
}

function row(file) {
  const progress = h("progress", { max: "1", value: "0", "aria-label": `Adding ${file.name}` });
  const said = h("span", { class: "fine" }, "Waiting");
  const close = h(
    "button",
    { type: "button", class: "quiet", "aria-label": `Dismiss ${file.name}`, hidden: true },
    icon("close"),
  );
  const element = h("li", { class: "upload" }, h("strong", {}, file.name), close, progress, said);
  close.addEventListener("click", () => {
    element.remove();
    byId("uploads").hidden = !byId("upload-list").childElementCount;
  });
  byId("upload-list").append(element);
  return { element, progress, said, close };
}

async function send(file, { element, progress, said, close }) {
  const say = (text, share) => {
    said.textContent = text;
    if (share === undefined) progress.removeAttribute("value");
    else progress.value = share;
  };
  try {
    say("Sending", 0);
    const { task } = await api.upload(file, (share) =>
      say(share < 1 ? "Sending" : "Reading it", share / 2),
    );
    const end = await follow(task, say);
    if (end.state !== "done") throw new Error(problemOf(end));
    say(outcome(end.report), 1);
    element.classList.add("done");
    element.append(...opener(end.report));
    finished();
  } catch (error) {
    say(error.message, 0);
    element.classList.add("failed");
    if (api.refused(error))
      element.append(
        h("button", { type: "button", class: "small", onclick: openKey }, "Enter a key"),
      );
  }
  close.hidden = false;
}

/** Until the task has ended: by its events, and by asking if they break off. */
async function follow(task, say) {
  let seen = null;
  try {
    for await (const state of api.events(task)) {
      seen = state;
      tell(seen, say);
    }
  } catch {
    // asked for below
  }
  while (!ended(seen)) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    seen = await api.task(task);
    tell(seen, say);
  }
  return seen;
}

const ended = (task) => ["done", "failed"].includes(task?.state);

const STAGES = { waiting: "Waiting for its turn", embed: "Learning what it means" };

function tell({ state, stage, done, total }, say) {
  say(STAGES[state] ?? STAGES[stage] ?? "Reading it", total ? 0.5 + done / total / 2 : undefined);
}

const problemOf = ({ problem }) =>
  problem ? `${sentence(problem.detail)} ${sentence(problem.next)}` : "It could not be taken in.";

/** A way to what went in. */
function opener({ added, updated, unchanged }) {
  const [id] = [...added, ...updated, ...unchanged];
  return id
    ? [h("button", { type: "button", class: "small", onclick: () => state.open(id) }, "Open it")]
    : [];
}

/** What became of the file; the first error is one. */
function outcome(report) {
  const [error] = report?.errors ?? [];
  if (error) throw new Error(sentence(error.message));
  if (report?.added?.length) return "Added";
  if (report?.updated?.length) return "Added as a new version";
  return "It was there already";
}
