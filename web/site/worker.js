// Computes, so that the page never stalls. Messages: {id, call, args} -> {id, result} | {id, error} | {id, progress};
// while the program is downloaded, {loading: [received, total]}.

/** The wasm module, when it is loaded. */
let library;
let fiedler;
/** Why the program could not be loaded or opened: calls that need it fail with the same words. */
let failure = { kind: "domain", message: "the program is not open" };
/** The last graphs that were read, so that the CPU and the GPU can be compared without reading twice. */
let held = { key: undefined, graphs: undefined };
/** The last encoding, until its files are asked for. */
let kept;
/** Calls up to this number have been cancelled. */
let stopped = 0;
let queue = Promise.resolve();

onmessage = ({ data }) => {
  if (data.call === "cancel") {
    stopped = data.id;
    fiedler?.cancel(); // heard by a call that waits for the GPU
  } else queue = queue.then(() => answer(data));
};

async function answer({ id, call, args }) {
  try {
    if (call !== "load" && call !== "open") goOn(id); // without these, no later call would work
    const result = await calls[call](id, ...args);
    postMessage({ id, result }, buffers(result));
  } catch (error) {
    const trap = error instanceof WebAssembly.RuntimeError || error instanceof RangeError;
    postMessage({ id, error: { kind: error.kind ?? "internal", message: error.message ?? String(error), trap } });
  }
}

function goOn(id) {
  if (id <= stopped) throw fault("cancelled", "the computation was stopped");
}

function fault(kind, message) {
  return Object.assign(new Error(message), { kind });
}

/** Remembers an error for the calls that come later, which cannot work without what failed. */
async function needed(work) {
  try {
    return await work();
  } catch (error) {
    fiedler = undefined;
    failure = { kind: error.kind ?? "load", message: error.message ?? String(error) };
    throw fault(failure.kind, failure.message);
  }
}

function opened() {
  if (!fiedler) throw fault(failure.kind, failure.message);
  return fiedler;
}

const calls = {
  load: (id, module) => needed(async () => {
    const { default: init, ...exports } = await import("./pkg/fiedler_web.js");
    const compiled = module ?? await WebAssembly.compileStreaming(download());
    await init({ module_or_path: compiled });
    library = exports;
    return compiled;
  }),

  open: (id, options) => {
    if (!library) opened();
    return needed(async () => {
      fiedler?.free();
      fiedler = undefined;
      fiedler = await library.open(options);
      const info = fiedler.info();
      if (info.adapter?.name === "WebGPU") info.adapter.name = await adapterName() ?? "";
      const samples = [...library.samples()];
      return { ...info, samples, webgpu: Boolean(navigator.gpu), unused: info.adapter ? null : await adapterName() };
    });
  },

  async encode(id, input, options) {
    const program = opened();
    const graphs = await read(input);
    goOn(id);
    forget();
    const start = performance.now();
    kept = await program.encode(graphs, options, reporter(id));
    const seconds = (performance.now() - start) / 1000;
    return { ...described(graphs), ...plain(kept), seconds };
  },

  files() {
    if (!kept) throw fault("domain", "there is no encoding that has not been written to files");
    const written = { npz: kept.npz(), csv: kept.csv() };
    forget();
    return written;
  },

  async graph(id, input, index) {
    opened();
    const graphs = await read(input);
    return { nodes: graphs.nodesOf(index), edges: graphs.edgesOf(index), ids: graphs.idsOf(index) };
  },

  async measure(id, input, options, warm) {
    const program = opened();
    const graphs = await read(input);
    const seconds = [];
    let choice;
    // Slow calls are repeated less often, since a median is not worth a minute.
    for (let spent = 0; seconds.length === 0 || (seconds.length <= warm && spent < 15);) {
      goOn(id);
      postMessage({ id, progress: [seconds.length, warm + 1] });
      await new Promise(resolve => setTimeout(resolve)); // lets a cancellation in
      goOn(id);
      const start = performance.now();
      const encoding = await program.encode(graphs, options);
      seconds.push((performance.now() - start) / 1000);
      spent += seconds.at(-1);
      choice = encoding.choice;
      encoding.free();
    }
    return { seconds, choice };
  },

  explain: async (id, input, options) => opened().explain(await read(input), options),
  eigh: (id, ...args) => opened().eigh(...args),
  svd: (id, ...args) => opened().svd(...args),
  fft: (id, ...args) => opened().fft(...args),
};

/** The wasm file, as a response that reports how much of it has arrived. */
async function download() {
  let response;
  try {
    response = await fetch(new URL("./pkg/fiedler_web_bg.wasm", import.meta.url));
  } catch {
    throw fault("load", "the download of pkg/fiedler_web_bg.wasm failed");
  }
  if (!response.ok) throw fault("load", `the server answered ${response.status} for pkg/fiedler_web_bg.wasm`);
  // The length of a compressed body is no measure of the bytes that come out of it.
  const compressed = response.headers.get("content-encoding");
  const length = compressed ? 0 : Number(response.headers.get("content-length"));
  let received = 0;
  let shown = -Infinity;
  const counter = new TransformStream({
    transform(chunk, controller) {
      received += chunk.byteLength;
      if (performance.now() - shown > 30) {
        shown = performance.now();
        postMessage({ loading: [received, received <= length ? length : null] });
      }
      controller.enqueue(chunk);
    },
    flush: () => postMessage({ loading: [received, received] }),
  });
  return new Response(response.body.pipeThrough(counter), { headers: { "content-type": "application/wasm" } });
}

/** The name of the browser's adapter, opened or not, as far as the browser tells it; null if there is no adapter. */
async function adapterName() {
  const adapter = await navigator.gpu?.requestAdapter().catch(() => null);
  const info = adapter?.info;
  return adapter ? info?.description || info?.device || info?.architecture || "an adapter without a name" : null;
}

const isWhole = value => Number.isInteger(value) && value >= 0 && value < 2 ** 32;
const isNumber = value => typeof value === "number";
/** Whether it is a list of such numbers. What WebAssembly gets is converted in silence otherwise. */
const isList = (value, such) => (Array.isArray(value) || ArrayBuffer.isView(value)) && value.every?.(such) === true;

/** Refuses an input of other types than those of a sample, a file or a list of edges. */
function check({ sample, bytes, name, nodes, edges, weights }) {
  const expect = (fits, what, expected, found) => {
    if (!fits) throw fault("domain", `${what}: expected ${expected}, found ${named(found)}`);
  };
  if (sample !== undefined) return expect(typeof sample === "string", "sample", "a string", sample);
  if (bytes !== undefined) {
    const is = [Uint8Array, ArrayBuffer, Blob].some(type => bytes instanceof type);
    expect(is, "bytes", "a Uint8Array, an ArrayBuffer or a Blob", bytes);
    return expect(name === undefined || typeof name === "string", "name", "a string", name);
  }
  if (nodes === undefined && edges === undefined) {
    throw fault("domain", "the input: expected {sample}, {bytes, name} or {nodes, edges, weights}");
  }
  expect(isWhole(nodes), "nodes", "a number of nodes", nodes);
  expect(edges instanceof Uint32Array || isList(edges, isWhole), "edges", "a Uint32Array", edges);
  const are = [Float64Array, Float32Array].some((kind) => weights instanceof kind) || isList(weights, isNumber);
  expect(weights == null || are, "weights", "a Float64Array or a Float32Array", weights);
}

function named(value) {
  if (typeof value === "number") return String(value);
  return value == null ? "nothing" : value.constructor?.name ?? typeof value;
}

async function read(input) {
  check(input);
  if (held.key === input.key) return held.graphs;
  held.graphs?.free();
  held = { key: undefined, graphs: undefined };
  const options = { symmetrize: input.symmetrize ?? "max" };
  let graphs;
  if (input.sample !== undefined) graphs = library.Graphs.sample(input.sample);
  else if (input.bytes !== undefined) {
    graphs = library.Graphs.read(await bytesOf(input.bytes), input.name ?? "", options);
  } else graphs = library.Graphs.fromEdges(input.nodes, input.edges, input.weights, options);
  held = { key: input.key, graphs };
  return graphs;
}

async function bytesOf(source) {
  if (source instanceof Uint8Array) return source;
  if (source instanceof ArrayBuffer) return new Uint8Array(source);
  try {
    return new Uint8Array(await source.arrayBuffer());
  } catch (error) {
    throw fault("io", `the browser could not read the file: ${error.message}`);
  }
}

function described(graphs) {
  const { name, format, count, edges } = graphs;
  return { name, format, count, edges, notices: [...graphs.notices()] };
}

function plain(encoding) {
  const { k, graphs, nodes, eigenvalues, eigenvectors, nodeOffsets, residual, orthogonality, components } = encoding;
  const { tieGroup, tieCut, mask, norm, randomWalk, choice, onCpu, onGpu, solvedAgain } = encoding;
  const status = [...encoding.status];
  return {
    k, graphs, nodes, eigenvalues, eigenvectors, nodeOffsets, residual, orthogonality, components,
    tieGroup, tieCut, mask, norm, randomWalk, choice, onCpu, onGpu, solvedAgain, status,
  };
}

function forget() {
  kept?.free();
  kept = undefined;
}

/** Reports progress, at most twenty times a second. Returns false once the call has been cancelled. */
function reporter(id) {
  let shown = -Infinity;
  return (done, total) => {
    if (performance.now() - shown > 50 || done === total) {
      shown = performance.now();
      postMessage({ id, progress: [done, total] });
    }
    return id > stopped;
  };
}

/** The buffers of a result that can be moved. A view of the program's own memory is left to be copied. */
function buffers(result) {
  const values = result && typeof result === "object" ? Object.values(result) : [];
  const whole = value => ArrayBuffer.isView(value) && value.byteLength === value.buffer.byteLength;
  return [...new Set(values.filter(whole).map(value => value.buffer))];
}
