// The sentences about samples, states, the device and times. Those about the drawing are in `captions.js`.

import { bytes, count, figure, list, plural, seconds, within } from "./format.js";

export const SAMPLES = {
  karate: ["Karate club", "Zachary's karate club"],
  mesh: ["Mesh", "A triangular mesh"],
  grid30: ["Grid", "A grid of 30 × 30 nodes"],
  "ring-of-cliques": ["Ring of cliques", "A ring of cliques"],
  molecules: ["Molecules", "A set of molecules"],
  ties: ["Tied eigenvalues", "A set of graphs with repeated eigenvalues"],
};

export function titleOf(wanted, file) {
  if (!wanted.sample) return file;
  const grid = /^grid(\d+)$/.exec(wanted.sample);
  return SAMPLES[wanted.sample]?.[1] ?? (grid ? `A grid of ${grid[1]} × ${grid[1]} nodes` : wanted.sample);
}

// States.

export const LOADING = "Loading the program.";

export function amount(received, total) {
  return `${bytes(received)}${total ? ` of ${bytes(total)}` : ""}`;
}

export function progress(done, total) {
  return total > 1 ? `${count(done)} of ${count(total)} graphs` : "";
}

export const NO_WEBASSEMBLY = ["This browser cannot run WebAssembly",
  "The page computes in the browser, which takes WebAssembly. It is missing here or turned off, as some privacy modes "
  + "do. Allow it for this page, or open the page in another browser."];

export const NO_SIMD = ["This browser is too old for this page",
  "The program needs WebAssembly with SIMD, which Chrome and Firefox have had since 2021 and Safari since 2023."];

/** The smallest module with a vector instruction. */
const SIMD = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253,
  15, 253, 98, 11);

/** What this browser lacks, or null. */
export function lacking() {
  if (typeof WebAssembly !== "object" || typeof Worker !== "function") return NO_WEBASSEMBLY;
  return WebAssembly.validate(SIMD) ? null : NO_SIMD;
}

export function computing(title) {
  return `Computing the spectrum of ${within(title)}.`;
}

export function measuring(side, done, total) {
  return `${side}: call ${Math.min(done + 1, total)} of ${total}`;
}

export function graphOf(graph, graphs) {
  return `Graph ${count(graph + 1)} of ${count(graphs)} is shown.`;
}

export function done(result, title) {
  const failed = result.status.filter(status => status !== "Converged").length;
  const where = result.onCpu === 0 ? "on the GPU" : result.onGpu === 0 ? "on the CPU" : "on the CPU and the GPU";
  const graphs = result.graphs === 1 ? within(title) : `${within(title)}, ${count(result.graphs)} graphs`;
  const tail = failed === 0 ? "" : ` ${plural(failed, "graph")} did not converge: see the table.`;
  return `Done: ${graphs}, computed ${where}.${tail}`;
}

export const STOPPED = "Stopped. Press Compute to start again.";

/** `label` is that of the button. */
export function stoppedComparison(label) {
  return `The comparison was stopped. Press “${label}” to start it again.`;
}

export function badLink(wrong) {
  const quoted = list(wrong.map(word => `“${word}”`));
  return `The link has ${wrong.length > 1 ? "parts that mean" : "a part that means"} nothing here: ${quoted}. `
    + "The defaults are used instead.";
}

export const SEVERAL_FILES = "Several files were dropped, and only the first is read. A data set of several files can "
  + "be read as one .zip file.";
export const NO_FILE = "What was dropped is not a file. A folder can be read as a .zip file.";

/** The title, the text and, where a button helps, its label and what it does. */
export function failure(error, name) {
  // A message that begins with the name of the file keeps it as it is.
  const said = error.message.startsWith(name) ? ended(error.message) : sentence(error.message);
  switch (error.kind) {
    case "load":
      return ["The program could not be loaded", `${said} ${loadAdvice(error.message)}`, "Try again", "open"];
    case "parse":
      return [`${name} could not be read`, said];
    case "io":
      return [`${name} could not be read`, `${said} If the file has changed, choose it again.`];
    case "limit":
    case "out-of-memory":
      return ["The graph is too large for this page", `${ofMemory(said)} A smaller k or a smaller graph may fit. `
        + "The command `fiedler encode` takes larger graphs."];
    case "no-adapter":
      return ["There is no GPU to compute on", `${NO_ADAPTER} The CPU can compute it instead.`,
        "Compute on the CPU", "auto"];
    case "device-lost":
      return ["The GPU was lost", `${said} This happens when its driver restarts or the computer sleeps.`,
        "Open again", "open"];
    case "device":
      return ["The GPU failed", `${said} The CPU can compute it instead.`, "Compute on the CPU", "cpu"];
    case "domain":
    case "shape":
      if (/browser cannot wait/.test(error.message)) {
        return ["The GPU cannot compute this here", `${said} Graphs of some hundred nodes and more are solved by `
          + "iterations, which in a browser run on the CPU.", "Compute on the CPU", "cpu"];
      }
      return ["These options do not fit the graph", said];
    case "uncertified":
      return ["The result is not accurate enough", said];
    default:
      return ["The program failed", `It stopped on an internal error (${error.message}), and has been started anew. If `
        + "the graph is large, the memory of the browser may not suffice.", "Try again", "again"];
  }
}

/** The library's sentence about memory, unless it advises what only a program can set. */
function ofMemory(said) {
  return /memory budget|FIEDLER_MEMORY_BUDGET/.test(said)
    ? "The memory that a page may use, 512 MiB, does not suffice for this computation." : said;
}

/** The library's sentence names a command that a visitor does not have. */
const NO_ADAPTER = "The browser offers no GPU, or only a software adapter, which has to be chosen below.";

function sentence(text) {
  return ended(text.charAt(0).toUpperCase() + text.slice(1));
}

function ended(text) {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function loadAdvice(message) {
  if (/server answered|magic word/.test(message)) return "The folder of this page may be incomplete on its server.";
  return /download|fetch|worker/.test(message) ? "The connection may have been interrupted." : "";
}

export function tooLargeFile(size, most) {
  return `The file has ${bytes(size)}, and the page reads at most ${bytes(most)}`;
}

// The device.

export function device(info, { webgpu, secure }) {
  if (info.adapter) {
    const { name, software } = info.adapter;
    return software
      ? `Software adapter: ${name}. It runs on the CPU, and is slower than computing on the CPU directly.`
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

// The table.

export const STATUS = {
  Converged: "Converged: both errors are within the promised bounds",
  NotConverged: "Not converged: the iteration ended early, or an error exceeds its bound",
  NonFinite: "Not finite: the Laplacian has a NaN or an infinity",
  Unresolved: "Unresolved: an eigenvalue is so small that its residual does not tell it from 0",
};

export function where(result) {
  const again = result.solvedAgain > 0 && result.onGpu > 0
    ? ` ${plural(result.solvedAgain, "graph")} ${result.solvedAgain === 1 ? "was" : "were"} solved again on the CPU in `
      + "f64, to settle ties and signs."
    : "";
  return `${sentence(result.choice.sentence)}${again}`;
}

// The comparison.

export const COMPARING = "Measuring the CPU and the GPU.";
export const TIMING = "Measuring the CPU.";
export const MEASURED = "Measured.";
export const NO_COMPARISON = "There is no GPU to compare the CPU with.";

/** Which side wins. `cpu` and `gpu` have the seconds of the first call and the median of the warm ones. */
export function verdict(cpu, gpu, graphs, software) {
  if (software) return "This adapter is software that runs on the CPU, so its times say nothing about a GPU.";
  const ratio = Math.max(gpu.warm, 1e-5) / Math.max(cpu.warm, 1e-5);
  const times = figure(Math.max(ratio, 1 / ratio), 2);
  if (Math.max(ratio, 1 / ratio) < 1.15) return "Once warm, the GPU and the CPU take about the same time here.";
  if (ratio > 1) {
    const why = graphs === 1 ? "A single graph does not keep a GPU busy." : "A GPU pays off for larger batches.";
    return `The GPU loses here: once warm, the CPU is ${times} times as fast. ${why}`;
  }
  const first = gpu.first > cpu.first
    ? ` Its first call is slower: ${seconds(gpu.first)}, and ${seconds(cpu.first)} on the CPU.` : "";
  return `Once warm, the GPU is ${times} times as fast as the CPU here.${first}`;
}

export const FIRST_CALL = "The first call includes what happens only once: on the GPU, compiling the kernels. Each "
  + "side runs in a fresh worker. The CPU side uses one thread. Browsers blur their clocks to 0.1 ms or so.";
