// Shows a result: drawing, spectrum, tables, and the choice of the graph in a set of many.

import { Drawing } from "./drawing.js";
import { coinciding, layout, slice } from "./layout.js";
import { Spectrum } from "./spectrum.js";
import { showCertificates, showValues } from "./table.js";
import { count, figure } from "./format.js";
import { of, unable } from "./state.js";
import { caption, notes, pictureText, signs, undrawn } from "./captions.js";

export class Result {
  #drawing = new Drawing(of("canvas"));
  #spectrum = new Spectrum(of("spectrum"));
  #downloads;
  #picture;
  #ids;

  /** `choose(graph)` is called with the index of the graph that is to be shown. */
  constructor(downloads, choose) {
    this.#downloads = downloads;
    const number = of("number");
    const go = value => {
      const graph = Math.min(Number(number.max), Math.max(1, Math.round(value) || 1));
      number.value = graph; // at once, so that a second press counts from here
      choose(graph - 1);
    };
    of("previous").addEventListener("click", () => go(Number(number.value) - 1));
    of("next").addEventListener("click", () => go(Number(number.value) + 1));
    number.addEventListener("change", () => go(number.valueAsNumber));
    number.addEventListener("keydown", event => {
      if (event.key === "Enter") go(number.valueAsNumber);
    });
    of("canvas").addEventListener("pointermove", event => this.#point(event.offsetX, event.offsetY));
    of("canvas").addEventListener("pointerleave", () => { of("node").textContent = ""; });
  }

  /** Shows one graph of a result. Resolves when it is painted. */
  async show(result, { graph, edges, ids, title, options }) {
    const part = slice(result, graph);
    const picture = layout(part, edges, options.which);
    this.#picture = picture;
    this.#ids = ids;
    const many = result.graphs > 1;
    const name = many ? `${title}, graph ${count(graph + 1)}` : title;
    of("result").hidden = false;
    of("title").textContent = title;
    of("chooser").hidden = !many;
    of("number").max = result.graphs;
    of("number").value = graph + 1;
    of("of").textContent = `of ${count(result.graphs)}`;
    unable(of("previous"), graph === 0, of("number"));
    unable(of("next"), graph === result.graphs - 1, of("number"));
    bullets(of("notices"), shortened(result.notices));
    this.#spectrum.show(part, options);
    showCertificates(of("certificates"), result, graph, edges.length / 2);
    showValues(of("values"), part);
    of("node").textContent = "";
    await this.#draw(part, picture, name, options);
  }

  async #draw(part, picture, name, options) {
    const canvas = of("canvas");
    const nothing = picture.reason !== undefined;
    canvas.hidden = nothing;
    of("undrawn").hidden = !nothing;
    document.querySelector("#drawing .legend").hidden = nothing || picture.columns[0] === null;
    of("axes").textContent = nothing ? "" : caption(part, picture, options);
    this.#downloads.drawing(nothing ? null : picture, nothing ? "" : pictureText(name, part, picture, options));
    if (nothing) {
      of("undrawn").textContent = undrawn(picture, part.k);
      bullets(of("notes"), []);
      return this.#drawing.show(null);
    }
    of("zero-key").hidden = picture.counts.zero === 0;
    canvas.setAttribute("aria-label", pictureText(name, part, picture, options));
    const said = [signs(part, picture, options), ...notes(part, picture, coinciding(picture))];
    bullets(of("notes"), said.filter(Boolean));
    return this.#drawing.show(picture);
  }

  #point(x, y) {
    const picture = this.#picture;
    const near = this.#drawing.near(x, y);
    if (!picture?.members || near < 0) {
      of("node").textContent = "";
      return;
    }
    const node = picture.members[near];
    const at = [picture.x[near], picture.y[near]].map(value => figure(value)).join(", ");
    of("node").textContent = `Node ${this.#ids?.[node] ?? node}: ${at}`;
  }
}

function bullets(list, texts) {
  list.replaceChildren(...texts.map(text => Object.assign(document.createElement("li"), { textContent: text })));
  list.hidden = texts.length === 0;
}

function shortened(notices) {
  const most = 5;
  return notices.length <= most ? notices : [...notices.slice(0, most), `${count(notices.length - most)} more notices`];
}
