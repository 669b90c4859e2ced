// The page's side of the worker. Every call returns a promise; results are plain objects of typed arrays.

/** An error of the library. `kind` says what to do about it, `message` is its sentence. */
export class FiedlerError extends Error {
  constructor(kind, message) {
    super(message);
    this.name = "FiedlerError";
    this.kind = kind;
  }
}

/** How long a worker that was asked to stop may take, in milliseconds. One that computes cannot hear. */
const PATIENCE = 200;

/** Numbers for the files, so that the worker recognizes the graphs that it has read already. */
const seen = new WeakMap();
let numbers = 0;

function numbered(file) {
  if (!seen.has(file)) seen.set(file, ++numbers);
  return seen.get(file);
}

/**
 * Adds the key by which the worker recognizes an input: `{sample}`, `{bytes, name}` or `{nodes, edges, weights}`. Only
 * samples and files are recognized, since arrays may have changed in place: they get a key that no other call has.
 */
function keyed(input) {
  const { sample, bytes, name, symmetrize = "max" } = input ?? {};
  const of = typeof sample === "string" ? ["sample", sample]
    : sample === undefined && bytes instanceof Blob ? ["file", numbered(bytes), name]
    : ["once", ++numbers];
  return { ...input, key: JSON.stringify([...of, symmetrize]) };
}

/** Calls that make the others possible, and that `cancel()` therefore leaves alone. */
const OPENING = new Set(["load", "open"]);

function stopped() {
  return new FiedlerError("cancelled", "the computation was stopped");
}

export class Client {
  #worker = null;
  #calls = new Map();
  #last = 0;
  #module;
  #loading;
  #options = {};
  #broken = false;

  /** `loading(received, total)` reports the download; `module` is the compiled program of another client. */
  constructor({ loading, module } = {}) {
    this.#loading = loading;
    this.#module = module;
  }

  /** The compiled program, once it is loaded. */
  get module() {
    return this.#module;
  }

  /** Loads the program, if that has not happened, and opens it: resolves with `info()`, the samples and more. */
  async open(options = {}) {
    this.#options = options;
    if (this.#broken) this.close(); // what failed to load is loaded again
    if (!this.#worker) this.#start();
    return this.#call("open", () => [options]);
  }

  encode(input, options = {}, progress) {
    return this.#call("encode", () => [keyed(input), options], progress);
  }

  /** The last encoding as files: `{npz, csv}`. It can be asked for once, since the worker then forgets it. */
  files() {
    return this.#call("files", () => []);
  }

  /** The edges of one graph of an input, and the names of its nodes if it has some. */
  graph(input, index) {
    return this.#call("graph", () => [keyed(input), index]);
  }

  /** Encodes once and then up to `warm` times more; resolves with the seconds of each call. */
  measure(input, options = {}, warm = 5, progress) {
    return this.#call("measure", () => [keyed(input), options, warm], progress);
  }

  explain(input, options = {}) {
    return this.#call("explain", () => [keyed(input), options]);
  }

  eigh(matrices, order, options = {}) {
    return this.#call("eigh", () => [matrices, order, options]);
  }

  svd(matrices, rows, columns, options = {}) {
    return this.#call("svd", () => [matrices, rows, columns, options]);
  }

  fft(signals, length, options = {}) {
    return this.#call("fft", () => [signals, length, options]);
  }

  /** Rejects the calls that are running with the kind "cancelled". Resolves when they are rejected. */
  async cancel() {
    const running = [...this.#calls].filter(([, call]) => !OPENING.has(call.name));
    for (const [id, call] of running) {
      call.cancelled = true;
      if (call.sent) continue;
      this.#calls.delete(id);
      call.reject(stopped());
    }
    const sent = running.map(([, call]) => call).filter(call => call.sent);
    if (sent.length === 0) return;
    const worker = this.#worker;
    worker.postMessage({ id: this.#last, call: "cancel", args: [] });
    let timer;
    const patience = new Promise(resolve => { timer = setTimeout(resolve, PATIENCE, "late"); });
    const settled = Promise.all(sent.map(call => call.settled));
    const late = await Promise.race([settled, patience]) === "late";
    clearTimeout(timer);
    if (late && worker === this.#worker) this.#restart(stopped());
  }

  /** Ends the worker. Calls that are running are rejected. */
  close() {
    this.#end(new FiedlerError("cancelled", "the program was closed"));
  }

  /** `args` returns the arguments. Whatever is wrong with them rejects the promise; nothing is thrown here. */
  #call(name, args, progress) {
    if (!this.#worker) this.open(this.#options).catch(() => {}); // the call itself fails with the same error
    const call = { name, progress, sent: false, cancelled: false };
    const result = new Promise((resolve, reject) => Object.assign(call, { resolve, reject }));
    call.settled = result.then(() => {}, () => {});
    const id = ++this.#last;
    const wait = !OPENING.has(name) && this.#waiting();
    this.#calls.set(id, call);
    try {
      if (!this.#worker) throw new FiedlerError("load", "the worker could not be started");
      call.args = args();
      if (wait) call.args = structuredClone(call.args); // what the caller changes later is not a part of the call
      else this.#send(id, call);
    } catch (error) {
      this.#calls.delete(id);
      call.reject(error instanceof FiedlerError ? error : new FiedlerError("domain", error.message));
    }
    return result;
  }

  /**
   * Whether calls have to wait in the page: until the program is open, and until what was cancelled has ended. A call
   * that the worker has not got is neither lost with the worker nor in the way of a cancellation.
   */
  #waiting() {
    return [...this.#calls.values()].some(call => call.cancelled || OPENING.has(call.name));
  }

  #send(id, call) {
    call.sent = true;
    this.#worker.postMessage({ id, call: call.name, args: call.args });
    if (!OPENING.has(call.name)) call.args = null; // a copy of a large file may go
  }

  #sendWaiting() {
    if (this.#waiting()) return;
    for (const [id, call] of this.#calls) {
      if (!call.sent) this.#send(id, call);
    }
  }

  #start() {
    const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
    this.#worker = worker;
    this.#broken = false;
    worker.onmessage = ({ data }) => this.#hear(data);
    worker.onerror = event => {
      event.preventDefault();
      const words = event.message || "the worker could not be started";
      this.#end(new FiedlerError("load", words)); // the next call starts another one
    };
    const load = this.#call("load", () => [this.#module]);
    load.then(module => { this.#module = module; }, () => { this.#broken ||= worker === this.#worker; });
  }

  #hear({ id, result, error, progress, loading }) {
    if (loading) return this.#loading?.(...loading);
    const call = this.#calls.get(id);
    if (!call) return;
    if (progress) {
      if (!call.cancelled) call.progress?.(...progress);
      return;
    }
    this.#calls.delete(id);
    if (call.cancelled) call.reject(stopped());
    else if (error) call.reject(new FiedlerError(error.kind, error.message));
    else call.resolve(result);
    // A trap leaves the program's memory in an unknown state, so it does not compute again.
    if (error?.trap) this.#restart(new FiedlerError(error.kind, error.message));
    else this.#sendWaiting();
  }

  #end(error) {
    this.#worker?.terminate();
    this.#worker = null;
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    for (const call of calls) call.reject(call.cancelled ? stopped() : error);
  }

  /** Starts another worker. It gets what this one has not begun: `open`, and the calls that wait. */
  #restart(error) {
    const left = [...this.#calls].filter(([, call]) => call.name === "open" || !call.sent);
    for (const [id] of left) this.#calls.delete(id);
    this.#end(error);
    this.#start();
    for (const [id, call] of left) {
      this.#calls.set(id, call);
      if (call.name === "open") this.#send(id, call);
    }
    if (!left.some(([, call]) => call.name === "open")) this.open(this.#options).catch(() => {});
  }
}
