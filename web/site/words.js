// The sentences of the page.

import { MOST_EDGES } from "./drawing.js";
import { bytes, count, figure, list, ordinal, plural } from "./format.js";

export const SAMPLES = {
  karate: ["Karate club", "Zachary's karate club"],
  mesh: ["Mesh", "A triangular mesh"],
  grid30: ["Grid", "A grid of 30 × 30 nodes"],
  "ring-of-cliques": ["Ring of cliques", "A ring of cliques"],
  molecules: ["Molecules", "A set of molecules"],
  ties: ["Tied eigenvalues", "A set of graphs with repeated eigenvalues"],
};

const LAPLACIANS = {
  symmetric: "symmetric normalized Laplacian",
  combinatorial: "combinatorial Laplacian",
  "random-walk": "random-walk Laplacian",
};

export const KEPT_HERE = "The file stays in this browser: nothing is uploaded.";

export function titleOf(wanted, file) {
  if (!wanted.sample) return file;
  const grid = /^grid(\d+)$/.exec(wanted.sample);
  return SAMPLES[wanted.sample]?.[1] ?? (grid ? `A grid of ${grid[1]} × ${grid[1]} nodes` : wanted.sample);
}

// States.

export function loading(received, total) {
  if (!received) return "Loading the program.";
  return `Loading the program: ${bytes(received)}${total ? ` of ${bytes(total)}` : ""}`;
}

export const NO_WEBASSEMBLY = ["This browser cannot run WebAssembly",
  "The page computes in the browser, which takes WebAssembly. It is missing here or turned off, as some privacy modes "
  + "do. Allow it for this page, or open the page in another browser."];

export function computing(name, done, total) {
  const part = total > 1 ? `: ${count(done)} of ${count(total)} graphs done` : "";
  return `Computing the spectrum of ${name}${part}.`;
}

export function done(result, title) {
  const failed = result.status.filter(status => status !== "Converged").length;
  const where = result.onCpu === 0 ? "on the GPU" : result.onGpu === 0 ? "on the CPU" : "on the CPU and the GPU";
  const graphs = result.graphs === 1 ? title : `${title}, ${plural(result.graphs, "graph")}`;
  const tail = failed === 0 ? "" : ` ${plural(failed, "graph")} did not converge: see the table.`;
  return `Done: ${graphs}, computed ${where}.${tail}`;
}

export const STOPPED = "Stopped. Press Compute to start again.";

export function badLink(wrong) {
  const quoted = list(wrong.map(word => `“${word}”`));
  return `The link has ${wrong.length > 1 ? "parts that mean" : "a part that means"} nothing here: ${quoted}. `
    + "The defaults are used instead.";
}

export const SEVERAL_FILES = "Several files were dropped, and only the first is read. A data set of several files can "
  + "be read as one .zip file.";
export const NO_FILE = "What was dropped is not a file. A folder can be read as a .zip file.";

/** The title, the text and the label of the button, by the kind of an error. */
export function failure(error, name) {
  const said = sentence(error.message);
  switch (error.kind) {
    case "load":
      return ["The program could not be loaded", `${said} ${loadAdvice(error.message)}`, "Try again"];
    case "parse":
      return [`${name} could not be read`, said];
    case "io":
      return [`${name} could not be read`, `${said} If the file has changed, choose it again.`];
    case "limit":
    case "out-of-memory":
      return ["The graph is too large for this page", `${said} A smaller k or a smaller graph may fit. The command `
        + "`fiedler encode` takes larger graphs."];
    case "no-adapter":
      return ["There is no GPU to compute on", `${said} Choose the CPU, or leave the choice to the program.`];
    case "device-lost":
      return ["The GPU was lost", `${said} This happens when its driver restarts or the computer sleeps.`,
        "Open again"];
    case "device":
      return ["The GPU refused the computation", `${said} The CPU can compute it instead.`, "Open again"];
    case "domain":
    case "shape":
      return ["These options do not fit the graph", said];
    case "uncertified":
      return ["The result is not accurate enough", said];
    default:
      return ["The computation failed", `${said} The program has been started anew.`, "Try again"];
  }
}

function sentence(text) {
  const capital = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(capital) ? capital : `${capital}.`;
}

function loadAdvice(message) {
  if (/simd|v128|opcode|compile/i.test(message)) {
    return "The program needs WebAssembly with SIMD, which browsers have had since 2021 (Safari since 2023).";
  }
  return "Check the connection.";
}

export function tooLargeFile(size, most) {
  return `The file has ${bytes(size)}, and the page reads at most ${bytes(most)}`;
}

// The device.

export function device(info, { webgpu, secure }) {
  if (info.adapter) {
    const { name, software } = info.adapter;
    return software
      ? `Software adapter: ${name}. It runs on the CPU, so it is slower than computing on the CPU directly.`
      : `GPU: ${name || "the browser does not tell its name"}.`;
  }
  if (!webgpu && !secure) return "Everything is computed on the CPU: browsers offer WebGPU only over HTTPS.";
  if (!webgpu) return "Everything is computed on the CPU: this browser has no WebGPU.";
  if (!info.webgpu) return "Everything is computed on the CPU: this browser offers WebGPU to pages, not to workers.";
  if (info.unused) {
    return `Everything is computed on the CPU: the only adapter is software (${info.unused}), which is slower.`;
  }
  return "Everything is computed on the CPU: the browser has WebGPU, but found no GPU that it can use.";
}

// The drawing.

function vectorName(part, column, which, components) {
  const place = which === "largest" ? part.values.filter(Number.isFinite).length - column : column + 1;
  if (which === "largest") return `the eigenvector of the ${place === 1 ? "" : `${ordinal(place)} `}largest eigenvalue`;
  const nulls = part.values.filter(value => value === 0).length;
  if (components === 1 && column === nulls) return "the Fiedler vector";
  return nulls > 0 ? `the ${ordinal(place)} eigenvector` : `the ${ordinal(place)} nontrivial eigenvector`;
}

export function axes(part, picture, which) {
  return picture.columns.map(column => {
    if (column === null) return null;
    const name = vectorName(part, column, which, picture.components);
    return { name, value: figure(part.values[column]) };
  });
}

export function caption(part, picture, options) {
  const [x, y] = axes(part, picture, options.which);
  if (!x) return "The only node.";
  const up = y ? ` Up: ${y.name} (eigenvalue ${y.value}).` : "";
  return `Across: ${x.name} (eigenvalue ${x.value}).${up} Of the ${LAPLACIANS[options.laplacian]}.`;
}

/** Why there is nothing to draw. */
export function undrawn(picture, k) {
  switch (picture.reason) {
    case "empty":
      return "The graph has no nodes.";
    case "edgeless":
      return `The graph has ${count(picture.nodes)} nodes and no edge between two of them, so there is nothing to draw.`;
    case "trivial":
      return `All ${k === 1 ? "of the 1 pair" : `${count(k)} pairs`} that were computed belong to the null space, which `
        + "does not tell the nodes of a component apart. Increase k, or leave out the null space.";
    default:
      return "None of the pairs that were computed belongs to a component with three or more nodes. Increase k.";
  }
}

/** What is to be known about a drawing, besides the axes. */
export function notes(part, picture, twins) {
  const said = [];
  if (picture.components > 1) {
    const [all, size] = [count(picture.components), plural(picture.size, "node")];
    const which = picture.size === picture.biggest ? "its largest component is drawn" : "one component is drawn";
    said.push(`The graph is disconnected: it has ${all} components, and ${which}, with ${size}.`);
  }
  const [x, y] = picture.columns;
  if (x !== null && y === null && picture.size > 2) {
    said.push("Only one of the pairs that were computed belongs to this component. Increase k for a second axis.");
  }
  said.push(...tieNotes(part, x, y));
  if (twins > 0) {
    said.push(`${plural(twins, "node")} ${twins === 1 ? "lies" : "lie"} exactly on top of others.`);
  }
  const edges = picture.edges.length / 2;
  if (edges > MOST_EDGES) said.push(`Of ${count(edges)} edges, an even sample of ${count(MOST_EDGES)} is drawn.`);
  return said;
}

function tieNotes(part, x, y) {
  const size = column => part.tieGroup.filter((group, i) => part.mask[i] && group === part.tieGroup[column]).length;
  if (x === null) return [];
  if (y !== null && part.tieGroup[x] === part.tieGroup[y]) {
    return [size(x) === 2
      ? "The two eigenvalues are tied: any rotation of this drawing is just as good."
      : `The two eigenvectors belong to a group of ${size(x)} tied eigenvalues: any other pair of orthogonal vectors from `
        + "their space is just as good."];
  }
  return [x, y].flatMap((column, axis) => (column === null || size(column) === 1 ? [] : [
    `The ${axis === 0 ? "horizontal" : "vertical"} axis is one vector of a group of ${size(column)} tied eigenvalues: `
    + "any other from their space is just as good."]));
}

export function pictureText(title, part, picture, options) {
  const edges = picture.edges.length / 2;
  const what = `Spectral drawing of ${title}: ${plural(picture.size, "node")} and ${plural(edges, "edge")}.`;
  return `${what} ${caption(part, picture, options)} ${signs(part, picture, options)}`;
}

/** What the colors say. */
export function signs(part, picture, options) {
  const [x] = axes(part, picture, options.which);
  if (!x) return "";
  const { positive, negative, zero } = picture.counts;
  const none = zero > 0 ? `, and 0 at ${count(zero)}` : "";
  const name = x.name.charAt(0).toUpperCase() + x.name.slice(1);
  return `${name} is positive at ${plural(positive, "node")}, negative at ${count(negative)}${none}.`;
}

// The spectrum.

export function spectrumText(part, groups) {
  const values = part.values.filter((_, i) => part.mask[i]);
  if (values.length === 0) return "No eigenvalues.";
  const range = values.length === 1 ? figure(values[0]) : `from ${figure(values[0])} to ${figure(values.at(-1))}`;
  const ties = groups.map(({ from, to }) => `${from + 1} to ${to + 1}`);
  const tied = ties.length === 0 ? "No eigenvalues are tied." : `Tied eigenvalues: ${list(ties)}.`;
  return `${plural(values.length, "eigenvalue")}, ${range}. ${tied}`;
}

export function whiskerText(part, reach, seen, laplacian) {
  if (!Number.isFinite(reach)) return "There is no certificate for these eigenvalues.";
  const size = `±${figure(reach)}, the residual times the norm of the Laplacian`;
  const look = seen ? "The whiskers are" : "The whiskers, too short to be seen, are";
  const inside = laplacian === "random-walk" ? "" : " Within each lies an exact eigenvalue.";
  return `${look} ${size}.${inside}`;
}

export const BRACKETS = "A bracket joins tied eigenvalues; an open end means that the group goes on beyond the k pairs.";

// The table.

export const STATUS = {
  Converged: "Converged: both errors are within the promised bounds",
  NotConverged: "Not converged: the iteration ended early, or an error exceeds its bound",
  NonFinite: "Not finite: the Laplacian has a NaN or an infinity",
  Unresolved: "Unresolved: an eigenvalue is so small that its residual does not tell it from 0",
};

export function where(result) {
  const again = result.solvedAgain > 0 && result.onGpu > 0
    ? ` ${plural(result.solvedAgain, "graph")} of the GPU ${result.solvedAgain === 1 ? "was" : "were"} solved again on the `
      + "CPU in f64, to settle ties and signs."
    : "";
  return `${sentence(result.choice.sentence)}${again}`;
}

// The comparison.

export function verdict(cpu, gpu, graphs, software) {
  if (software) {
    return "This adapter is software that runs on the CPU, so its times say nothing about a GPU.";
  }
  const ratio = gpu / cpu;
  const close = Math.max(ratio, 1 / ratio) < 1.15;
  if (close) return "Once warm, the two are about equally fast here.";
  const times = figure(Math.max(ratio, 1 / ratio), 2);
  if (ratio < 1) return `Once warm, the GPU is ${times} times as fast as the CPU here.`;
  const why = graphs === 1
    ? "One graph does not fill a GPU, and the steps of a computation wait for each other."
    : "A GPU pays off for larger batches.";
  return `The GPU loses here: once warm, the CPU is ${times} times as fast. ${why}`;
}

export const FIRST_CALL = "The first call includes what happens only once: on the GPU, compiling the kernels. Each "
  + "side runs in a fresh worker. The CPU side uses one thread. Browsers blur their clocks to 0.1 ms or so.";
