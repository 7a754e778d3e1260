// Light, dark, or as the system says.

import { byId } from "./dom.js";

const STORED = "trivium.theme";
const NEXT = { "": "light", light: "dark", dark: "" };
const NAMES = { "": "as the system", light: "light", dark: "dark" };

function apply(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  const button = byId("theme");
  button.title = `Colours: ${NAMES[theme]}`;
  button.setAttribute("aria-label", `Colours: ${NAMES[theme]}. Press for ${NAMES[NEXT[theme]]}.`);
}

export function startTheme() {
  let theme = localStorage.getItem(STORED) ?? "";
  if (!(theme in NEXT)) theme = "";
  apply(theme);
  byId("theme").addEventListener("click", () => {
    theme = NEXT[theme];
    localStorage.setItem(STORED, theme);
    apply(theme);
  });
}
