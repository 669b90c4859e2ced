// The parts of the page that say how things are: the live region, the bar and the alert.

export const root = document.documentElement;
export const of = id => document.getElementById(id);

/** Says something in the live region. */
export function say(text) {
  if (of("status").textContent !== text) of("status").textContent = text;
}

/** Shows how much is done; without a total, only that something happens. The text is not announced. */
export function bar(done, total, text = "") {
  const progress = of("progress");
  if (total > 0) Object.assign(progress, { max: total, value: done });
  else progress.removeAttribute("value");
  of("amount").textContent = text;
}

/** Shows an alert, with a button if there is an action; without words, removes it. */
export function alert([title, text, label] = [], action) {
  const box = of("alert");
  // The focus does not get lost with the button that has been pressed.
  if (box.contains(document.activeElement)) of("status").focus();
  if (!title) return box.replaceChildren();
  const inner = document.createElement("div");
  const strong = Object.assign(document.createElement("strong"), { textContent: title });
  inner.append(strong, Object.assign(document.createElement("p"), { textContent: text }));
  if (label && action) {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: label });
    button.addEventListener("click", action);
    inner.append(button);
  }
  box.replaceChildren(inner);
}

/** Disables a button or enables it. The focus, if the button has it, moves to another one. */
export function unable(button, disabled, other) {
  const focused = document.activeElement === button;
  button.disabled = disabled;
  if (focused && disabled) other.focus();
}
