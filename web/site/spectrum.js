// The plot of the eigenvalues, as SVG: tie groups as brackets, the certificate as a whisker.

import { figure } from "./format.js";
import { BRACKETS, spectrumText, whiskerText } from "./captions.js";

const HEIGHT = 260;
const NS = "http://www.w3.org/2000/svg";

/** The runs of tied columns: `{from, to, open}`, where `open` says that the group goes on beyond the pairs. */
export function tieGroups(part, which) {
  const found = [];
  const length = part.values.filter((_, i) => part.mask[i]).length;
  for (let from = 0; from < length;) {
    let to = from;
    while (to + 1 < length && part.tieGroup[to + 1] === part.tieGroup[from]) to++;
    const cut = part.tieCut && (which === "largest" ? from === 0 : to === length - 1);
    if (to > from || cut) found.push({ from, to, open: cut });
    from = to + 1;
  }
  return found;
}

/** Draws into `figure`, an element with an `svg` and elements of the classes `bounds` and `brackets`. */
export class Spectrum {
  #svg;
  #figure;
  #shown;

  constructor(element) {
    this.#figure = element;
    this.#svg = element.querySelector("svg");
    let width = 0;
    new ResizeObserver(() => {
      if (this.#svg.clientWidth === width) return;
      width = this.#svg.clientWidth;
      this.#draw();
    }).observe(this.#svg);
  }

  show(part, options) {
    this.#shown = { part, options, groups: tieGroups(part, options.which) };
    this.#draw();
  }

  #draw() {
    const width = this.#svg.clientWidth;
    if (!this.#shown || width === 0) return;
    const { part, options, groups } = this.#shown;
    const values = [...part.values].filter((value, i) => part.mask[i] && Number.isFinite(value));
    const reach = part.residual * part.norm;
    this.#svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    this.#svg.setAttribute("aria-label", spectrumText(part, groups));
    this.#svg.replaceChildren();
    const seen = values.length > 0 && this.#points(width, values, groups, reach);
    this.#figure.querySelector(".bounds").textContent = whiskerText(part, reach, seen, options.laplacian);
    this.#figure.querySelector(".brackets").textContent = groups.length > 0 ? BRACKETS : "No eigenvalues are tied.";
  }

  /** Returns whether the whiskers are longer than the marks. */
  #points(width, values, groups, reach) {
    const top = 34;
    const bottom = HEIGHT - 40;
    const whisker = Number.isFinite(reach) ? reach : 0;
    const low = Math.min(0, ...values);
    const high = Math.max(...values) > low ? Math.max(...values) : low + 1;
    const steps = ticks(low, high, 5);
    const labels = steps.map(value => figure(value, 4));
    const left = 18 + 6.6 * Math.max(...labels.map(label => label.length));
    const right = width - 10;
    const x = i => left + (right - left) * (i + 0.5) / values.length;
    const y = value => bottom - (bottom - top) * (value - low) / (high - low);
    steps.forEach((value, i) => {
      this.#add("path", { class: "g", d: `M${left} ${y(value)}H${right}` });
      this.#add("text", { class: "e", x: left - 6, y: y(value) + 4 }, labels[i]);
    });
    this.#add("path", { class: "f", d: `M${left} ${top - 10}V${bottom}H${right}` });
    for (const i of places(values.length, Math.floor((right - left) / 34))) {
      this.#add("text", { class: "c", x: x(i), y: bottom + 16 }, String(i + 1));
    }
    this.#add("text", { class: "c", x: (left + right) / 2, y: HEIGHT - 6 }, "number of the eigenvalue");
    this.#add("text", { class: "s", x: 0, y: 11 }, "eigenvalue");
    for (const group of groups) this.#bracket(group, x, y(Math.max(...values.slice(group.from, group.to + 1))));
    const radius = Math.min(4, Math.max(1.2, (right - left) / values.length / 3));
    const half = Math.abs(y(low) - y(low + whisker));
    values.forEach((value, i) => {
      const [from, to] = [Math.min(bottom, y(value) + half), Math.max(2, y(value) - half)];
      const cap = `M${x(i) - 3} ${from}h6M${x(i) - 3} ${to}h6`;
      this.#add("path", { class: "whisker", d: `M${x(i)} ${from}V${to}${half > radius ? cap : ""}` });
      const mark = this.#add("circle", { class: "m c0", cx: x(i), cy: y(value), r: radius });
      const title = document.createElementNS(NS, "title");
      title.textContent = `eigenvalue ${i + 1}: ${figure(value, 6)}`;
      mark.append(title);
    });
    return half > radius;
  }

  #bracket({ from, to, open }, x, height) {
    const y = Math.max(18, height - 11);
    // What is cut off continues on the side away from the wanted end.
    const { which } = this.#shown.options;
    const side = end => (open && end === (which === "largest" ? "left" : "right") ? "" : "v6");
    const [a, b] = [x(from) - 4, x(to) + 4];
    this.#add("path", { class: "bracket", d: `M${a} ${y}${side("left")}M${a} ${y}H${b}${side("right")}` });
    this.#add("text", { class: "c n", x: (a + b) / 2, y: y - 4 }, `${to - from + 1} tied`);
  }

  #add(name, attributes, text) {
    const element = document.createElementNS(NS, name);
    for (const [key, value] of Object.entries(attributes)) {
      element.setAttribute(key, typeof value === "number" ? value.toFixed(1) : value);
    }
    if (text !== undefined) element.textContent = text;
    this.#svg.append(element);
    return element;
  }
}

/** Multiples of 1, 2 or 5 times a power of ten, at most `most` + 1 of them. */
function ticks(low, high, most) {
  const rough = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map(digit => digit * power).find(step => step >= rough * (1 - 1e-9));
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high * (1 + 1e-9); i++) found.push(i * step);
  return found;
}

/** The numbers below the axis: all, or every second, fifth, tenth, ... */
function places(length, room) {
  const stride = [1, 2, 5, 10, 20, 50, 100, 200, 500].find(stride => length / stride <= room) ?? length;
  const all = Array.from({ length }, (_, i) => i);
  return all.filter(i => stride === 1 || (i + 1) % stride === 0);
}
