// Paints the spectral drawing on a canvas, and writes it as SVG.

import { fit } from "./layout.js";

/** More edges than this are drawn as an even sample of them. */
export const MOST_EDGES = 100_000;

/** Edges painted between two frames, so that the page answers while a large graph is painted. */
const STRIDE = 8_000;

const MARGIN = 22;

/** The radius of a node, the width of an edge and its opacity, by the size of the graph. */
function pen(nodes, edges) {
  const radius = nodes <= 60 ? 5.5 : nodes <= 300 ? 4 : nodes <= 2_000 ? 2.6 : nodes <= 20_000 ? 1.6 : 1;
  const opacity = Math.min(0.7, Math.max(0.08, 16 / Math.sqrt(edges + 1)));
  return { radius, opacity, line: nodes <= 2_000 ? 1 : 0.6 };
}

/** The edges that are drawn: all, or an even sample. */
export function sampled(edges) {
  const total = edges.length / 2;
  if (total <= MOST_EDGES) return edges;
  const some = new Uint32Array(2 * MOST_EDGES);
  for (let i = 0; i < MOST_EDGES; i++) {
    const edge = Math.floor(i * total / MOST_EDGES);
    some[2 * i] = edges[2 * edge];
    some[2 * i + 1] = edges[2 * edge + 1];
  }
  return some;
}

function colors() {
  const style = getComputedStyle(document.documentElement);
  const of = name => style.getPropertyValue(name).trim();
  const signs = [of("--k1"), of("--soft"), of("--k0")];
  return { background: of("--bg"), edge: of("--edge"), rule: of("--soft"), signs };
}

export class Drawing {
  #canvas;
  #picture;
  #places;
  #turn = 0;

  constructor(canvas) {
    this.#canvas = canvas;
    let width = 0;
    new ResizeObserver(() => {
      if (canvas.clientWidth === width) return;
      width = canvas.clientWidth;
      this.paint();
    }).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.paint());
  }

  /** Shows a layout that has something to draw; null clears the canvas. Resolves when it is painted. */
  show(picture) {
    this.#picture = picture;
    return this.paint();
  }

  async paint() {
    const turn = ++this.#turn;
    const canvas = this.#canvas;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    const picture = this.#picture;
    if (!picture || width === 0) return;
    const scale = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    const context = canvas.getContext("2d");
    context.setTransform(canvas.width / width, 0, 0, canvas.height / height, 0, 0);
    const palette = colors();
    const places = fit(picture, width, height, MARGIN);
    this.#places = places;
    if (places.zero !== null) rule(context, places.zero, height, palette.rule);
    const edges = sampled(picture.edges);
    const { radius, opacity, line } = pen(picture.x.length, edges.length / 2);
    context.strokeStyle = palette.edge;
    context.lineWidth = line;
    context.setLineDash([]);
    for (let from = 0; from < edges.length; from += 2 * STRIDE) {
      context.globalAlpha = opacity;
      strokes(context, places, edges, from, Math.min(edges.length, from + 2 * STRIDE));
      await (edges.length > 2 * STRIDE ? frame() : null);
      if (turn !== this.#turn) return; // something newer is being painted
    }
    context.globalAlpha = 1;
    dots(context, places, picture.sign, radius, palette);
  }

  /** The node nearest to a point of the canvas, as an index into the layout's nodes; -1 if none is near. */
  near(x, y) {
    if (!this.#places || !this.#picture) return -1;
    const { px, py } = this.#places;
    let [best, least] = [-1, 144];
    for (let i = 0; i < px.length; i++) {
      const distance = (px[i] - x) ** 2 + (py[i] - y) ** 2;
      if (distance < least) [best, least] = [i, distance];
    }
    return best;
  }
}

/** Waits for a frame, but not for long: a hidden page has none. */
function frame() {
  return new Promise(resolve => {
    requestAnimationFrame(resolve);
    setTimeout(resolve, 100);
  });
}

/** The line at which the sign of the horizontal vector changes. */
function rule(context, x, height, color) {
  context.strokeStyle = color;
  context.lineWidth = 1;
  context.setLineDash([5, 4]);
  context.beginPath();
  context.moveTo(x, 4);
  context.lineTo(x, height - 4);
  context.stroke();
}

function strokes(context, { px, py }, edges, from, to) {
  // A path of many lines is slow where it covers itself, so paths are short.
  for (let start = from; start < to; start += 400) {
    context.beginPath();
    for (let i = start; i < Math.min(to, start + 400); i += 2) {
      context.moveTo(px[edges[i]], py[edges[i]]);
      context.lineTo(px[edges[i + 1]], py[edges[i + 1]]);
    }
    context.stroke();
  }
}

function dots(context, { px, py }, signs, radius, palette) {
  for (const sign of [0, -1, 1]) {
    context.fillStyle = palette.signs[sign + 1];
    context.strokeStyle = palette.background;
    context.lineWidth = 1.2;
    for (let i = 0; i < px.length; i++) {
      if (signs[i] !== sign) continue;
      if (radius < 2) {
        context.fillRect(px[i] - radius, py[i] - radius, 2 * radius, 2 * radius);
        continue;
      }
      context.beginPath();
      context.arc(px[i], py[i], radius, 0, 2 * Math.PI);
      context.fill();
      if (radius > 3) context.stroke();
    }
  }
}

const STYLE = `.edge{stroke:#6e7781;fill:none}.rule{stroke:#57606a;stroke-dasharray:5 4}.p{fill:#0072b2}.n{fill:#b84800}
.z{fill:#57606a}@media(prefers-color-scheme:dark){.edge{stroke:#8b96a1}.rule{stroke:#a3adb8}.p{fill:#56b4e9}
.n{fill:#ff8f4d}.z{fill:#a3adb8}}`;

/** The drawing as an SVG file of its own. */
export function svg(picture, title) {
  const [width, height] = [800, 600];
  const places = fit(picture, width, height, 30);
  const edges = sampled(picture.edges);
  const { radius, opacity, line } = pen(picture.x.length, edges.length / 2);
  const at = i => `${places.px[i].toFixed(1)} ${places.py[i].toFixed(1)}`;
  const lines = [];
  for (let i = 0; i < edges.length; i += 2) lines.push(`M${at(edges[i])}L${at(edges[i + 1])}`);
  const nodes = Array.from(picture.sign, (sign, i) => {
    const [x, y] = at(i).split(" ");
    return `<circle class="${"nzp"[sign + 1]}" cx="${x}" cy="${y}" r="${radius}"/>`;
  });
  const text = title.replace(/[&<>"]/g, c => `&#${c.charCodeAt(0)};`);
  const dashed = places.zero === null ? ""
    : `<path class="rule" d="M${places.zero.toFixed(1)} 8V${height - 8}"/>\n`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img">
<title>${text}</title>
<style>${STYLE}</style>
${dashed}<path class="edge" stroke-opacity="${opacity.toFixed(2)}" stroke-width="${line}" d="${lines.join("")}"/>
${nodes.join("\n")}
</svg>
`;
}
