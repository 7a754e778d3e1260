// Nothing is drawn between pressing and letting go: what is under the pointer stays what it was.

const pending = new Map();
let pressed = false;

/** Draw now, or when the click that is going on has ended; the last drawing of a name counts. */
export function draw(name, drawing) {
  if (pressed) pending.set(name, drawing);
  else drawing();
}

function press() {
  pressed = true;
}

// The click comes just after the release, so the release waits for it.
function release() {
  if (pressed) setTimeout(flush, 30);
}

function flush() {
  pressed = false;
  const drawings = [...pending.values()];
  pending.clear();
  drawings.forEach((drawing) => drawing());
}

const listen = (name, listener) => addEventListener(name, listener, { capture: true });

listen("pointerdown", press);
for (const name of ["pointerup", "pointercancel", "dragend", "drop"]) listen(name, release);
listen("blur", (event) => event.target === window && release());
listen("pointermove", (event) => event.buttons === 0 && release());
listen("keydown", (event) => {
  if (event.key === " " && event.target.closest("button, input[type=checkbox], summary")) press();
});
listen("keyup", (event) => event.key === " " && release());
