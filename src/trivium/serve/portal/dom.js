// Building the page. Text from the library goes in as text nodes and attributes, never as markup.

const SVG = "http://www.w3.org/2000/svg";

/** An element. `on…` properties are listeners; false, null and undefined leave an attribute out. */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child != null && child !== false));
  return element;
}

/** A picture from icons.svg; it says nothing to a screen reader, the text beside it does. */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `${new URL("icons.svg", import.meta.url).pathname}#${name}`);
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  svg.append(use);
  return svg;
}

/** Make the children of `parent` those of `items`, keeping the element of each key in place. */
export function keyed(parent, items, key, make, update = () => {}) {
  const before = new Map([...parent.children].map((child) => [child.dataset.key, child]));
  let place = parent.firstElementChild;
  for (const item of items) {
    const name = String(key(item));
    let child = before.get(name);
    before.delete(name);
    if (!child) {
      child = make(item);
      child.dataset.key = name;
    }
    if (child === place) place = place.nextElementSibling;
    else parent.insertBefore(child, place);
    update(child, item);
  }
  before.forEach((child) => child.remove());
}

/** When what was changed up to now is on the screen. */
export const painted = () =>
  new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));

export const byId = (id) => document.getElementById(id);

/** A message of the library as a sentence. */
export const sentence = (text) =>
  text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?…]$/.test(text) ? "" : ".");

/** `1 passage`, `2 passages`. */
export function counted(count, one, many = `${one}s`) {
  return `${count.toLocaleString()} ${count === 1 ? one : many}`;
}

export function day(text) {
  return new Date(text).toLocaleDateString(undefined, { dateStyle: "medium" });
}

export function moment(text) {
  return new Date(text).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}
