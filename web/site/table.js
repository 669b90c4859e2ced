// The tables: the certificate of a graph beside the worst of the whole set, and the eigenvalues as numbers.

import { count, figure, plural, seconds } from "./format.js";
import { slice } from "./layout.js";
import { STATUS, where } from "./words.js";

/** The smallest difference of neighboring eigenvalues that are not tied: `{gap, at}`, or null. */
function gapOf(part) {
  let found = null;
  for (let i = 1; i < part.k; i++) {
    if (!part.mask[i] || !part.mask[i - 1] || part.tieGroup[i] === part.tieGroup[i - 1]) continue;
    const gap = part.values[i] - part.values[i - 1];
    if (!found || gap < found.gap) found = { gap, at: i };
  }
  return found;
}

function tied(part) {
  return [...part.tieGroup.keys()].filter(i => part.mask[i] && [i - 1, i + 1].some(other =>
    part.mask[other] && part.tieGroup[other] === part.tieGroup[i])).length;
}

const gapText = found => (found.gap > 0 ? figure(found.gap) : "below the resolution of f32");

/** The rows about one graph. */
function rowsOf(part, edges) {
  const gap = gapOf(part);
  const pairs = part.mask.reduce((sum, bit) => sum + bit, 0);
  const ties = tied(part);
  const missing = pairs < part.k ? " (the graph has no more)" : "";
  return {
    Nodes: count(part.nodes),
    Edges: count(edges),
    Components: `${count(part.components)}${part.components === 1 ? " (connected)" : ""}`,
    Pairs: `${count(pairs)}${missing}`,
    Status: STATUS[part.status] ?? part.status,
    Residual: figure(part.residual),
    Orthogonality: figure(part.orthogonality),
    "Tied eigenvalues": `${count(ties)}${part.tieCut ? "; the last group is cut off at k" : ""}`,
    "Smallest gap": gap ? `${gapText(gap)}, between eigenvalues ${gap.at} and ${gap.at + 1}` : "–",
  };
}

/** The rows about a whole set. */
function rowsOfAll(result) {
  const parts = Array.from({ length: result.graphs }, (_, graph) => slice(result, graph));
  const total = of => parts.reduce((sum, part) => sum + of(part), 0);
  const worst = of => parts.reduce((found, part, graph) => {
    const value = of(part);
    return value > found.value || found.graph < 0 ? { value, graph } : found;
  }, { value: -Infinity, graph: -1 });
  const at = ({ value, graph }) => `at most ${figure(value)} (graph ${count(graph + 1)})`;
  const states = {};
  for (const { status } of parts) states[status] = (states[status] ?? 0) + 1;
  const gaps = parts.map(gapOf);
  const least = gaps.reduce((best, gap, i) => (gap && (best < 0 || gap.gap < gaps[best].gap) ? i : best), -1);
  const connected = total(part => Number(part.components === 1));
  const ties = total(part => Number(tied(part) > 0));
  const cut = total(part => Number(part.tieCut));
  return {
    Nodes: count(result.nodes),
    Edges: count(result.edges),
    Components: `${count(connected)} of ${plural(result.graphs, "graph")} connected`,
    Pairs: count(total(part => part.mask.reduce((sum, bit) => sum + bit, 0))),
    Status: Object.entries(states).map(([name, number]) => `${count(number)} ${STATUS[name]?.split(":")[0] ?? name}`)
      .join(", "),
    Residual: at(worst(part => part.residual)),
    Orthogonality: at(worst(part => part.orthogonality)),
    "Tied eigenvalues": `in ${plural(ties, "graph")}${cut ? `; cut off at k in ${count(cut)}` : ""}`,
    "Smallest gap": least < 0 ? "–" : `${gapText(gaps[least])} (graph ${count(least + 1)})`,
  };
}

const MEANINGS = {
  Residual: "largest ‖Lv − λv‖₂ / ‖L‖₁ over the pairs (λ, v)",
  Orthogonality: "largest entry of |VᵀV − I|",
  "Smallest gap": "between neighboring eigenvalues that are not tied: the smaller, the less the vectors are determined",
};

function cell(name, text, attributes = {}) {
  const element = document.createElement(name);
  element.textContent = text;
  Object.assign(element, attributes);
  return element;
}

function row(...cells) {
  const element = document.createElement("tr");
  element.append(...cells);
  return element;
}

let summed = { result: null, rows: null };

/** Fills the table of certificates for one graph of a result. */
export function showCertificates(table, result, graph, edges) {
  const part = slice(result, graph);
  const rows = rowsOf(part, edges);
  if (result.graphs > 1 && summed.result !== result) summed = { result, rows: rowsOfAll(result) };
  const all = result.graphs > 1 ? summed.rows : null;
  const heads = [cell("td", "")];
  if (all) heads.push(cell("th", `All ${count(result.graphs)} graphs`, { scope: "col" }));
  heads.push(cell("th", `Graph ${count(graph + 1)}`, { scope: "col" }));
  table.tHead.replaceChildren(...(all ? [row(...heads)] : []));
  const body = Object.entries(rows).map(([name, text]) => {
    const head = cell("th", name, { scope: "row" });
    if (MEANINGS[name]) head.append(cell("span", MEANINGS[name], { className: "meaning" }));
    return row(head, ...(all ? [cell("td", all[name])] : []), cell("td", text));
  });
  const span = { colSpan: all ? 2 : 1 };
  body.push(row(cell("th", "Computed", { scope: "row" }), cell("td", where(result), span)));
  body.push(row(cell("th", "Time", { scope: "row" }), cell("td", timeOf(result), span)));
  table.tBodies[0].replaceChildren(...body);
}

function timeOf({ seconds: taken, choice }) {
  const other = choice.gpuSeconds === null ? "" : `, ${seconds(choice.gpuSeconds, false)} on the GPU`;
  return `${seconds(taken)}; predicted: ${seconds(choice.cpuSeconds, false)} on the CPU${other}`;
}

/** Fills the table of eigenvalues, of which at most the first thousand are listed. */
export function showValues(table, part) {
  const rows = [];
  for (let i = 0; i < Math.min(part.k, 1000); i++) {
    if (!part.mask[i]) continue;
    const group = part.tieGroup[i];
    const others = [...part.tieGroup.keys()].filter(j => j !== i && part.mask[j] && part.tieGroup[j] === group);
    const ties = others.length === 0 ? "–" : `with ${others.map(j => j + 1).join(", ")}`;
    const value = figure(part.values[i], 7);
    rows.push(row(cell("th", String(i + 1), { scope: "row" }), cell("td", value), cell("td", ties)));
  }
  table.tBodies[0].replaceChildren(...rows);
}
