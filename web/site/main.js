// The page: loads the program, follows the link and the form, and shows the state in words.

import { Client, FiedlerError } from "./client.js";
import { Controls } from "./controls.js";
import { Downloads } from "./downloads.js";
import { DEFAULTS, parse, write } from "./link.js";
import { Result } from "./result.js";
import { compare, showTimes } from "./timing.js";
import * as words from "./words.js";

const of = id => document.getElementById(id);
const root = document.documentElement;

/** The largest file that is read, in bytes: what is read takes several times its size in memory. */
const MOST_BYTES = 512e6;

const downloads = new Downloads({ npz: of("npz"), csv: of("csv"), svg: of("svg") });
const result = new Result(downloads, choose);
const controls = new Controls({ ...DEFAULTS }, run, said => alert([said, ""]));
const client = new Client({ loading });

/** What `open` said about the program and the device. */
let info = null;
/** The job that runs, or the last one that ran: `{key, input, options, title, name}`. */
let job = null;
/** What is shown: the job that it belongs to, and its result. */
let shown = null;
/** The client that computes while the sides are compared. */
let comparing = null;
/** Counts what is begun, so that what was overtaken says nothing. */
let turn = 0;

function state(name) {
  root.dataset.state = name;
  const busy = name === "computing";
  of("stop").disabled = !busy;
  of("compute").disabled = name === "loading" || name === "unsupported";
  of("compare").disabled = busy || !shown || !info;
}

function say(text) {
  if (of("status").textContent !== text) of("status").textContent = text;
}

function bar(done, total) {
  const progress = of("progress");
  if (total > 0) Object.assign(progress, { max: total, value: done });
  else progress.removeAttribute("value");
}

/** Shows an alert, with a button if `action` is given; without words, removes it. */
function alert([title, text, label] = [], action) {
  const box = of("alert");
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

function loading(received, total) {
  if (root.dataset.state !== "loading") return;
  bar(received, total ?? 0);
  of("progress").title = words.loading(received, total);
}

/** Opens the program, and with it the device, and then computes what is wanted. */
async function open() {
  const own = ++turn;
  state("loading");
  alert();
  say(words.loading());
  bar();
  const software = of("use-software").checked;
  try {
    info = await client.open({ backend: "auto", software });
  } catch (error) {
    if (own === turn) failed(error, "The program", open);
    return;
  }
  if (own !== turn) return;
  controls.samples(info.samples);
  controls.device(info.adapter !== null);
  of("version").textContent = `fiedler ${info.version}`;
  of("device").textContent = words.device(info, { webgpu: Boolean(navigator.gpu), secure: isSecureContext });
  of("device").title = info.withoutAdapter ?? "";
  of("software").hidden = !(info.unused || info.adapter?.software);
  if (!info.adapter && controls.wanted.backend === "gpu" && controls.file) controls.set({ backend: "auto" });
  state("ready");
  if (controls.file) run(true);
  else follow();
}

/** Does what the link says. */
function follow() {
  const { wanted, wrong } = parse(location.hash, info.samples);
  controls.set(wanted);
  controls.samples(info.samples);
  run(true);
  if (wrong.length > 0) alert(["The link is not understood", words.badLink(wrong)]);
}

function jobOf({ graph, ...wanted }, file) {
  const { sample, symmetrize, k, laplacian, which, dropTrivial, backend } = wanted;
  const input = sample ? { sample } : { bytes: file, name: file.name, symmetrize };
  const name = sample ?? file.name;
  const options = { k, laplacian, which, dropTrivial, backend };
  return { key: JSON.stringify(wanted), file, input, options, name, title: words.titleOf(wanted, name) };
}

/** Computes what is wanted. What is being computed is not begun again, unless `again`. */
async function run(again = false) {
  if (!info) return;
  const next = jobOf(controls.wanted, controls.file);
  const same = job && job.key === next.key && job.file === next.file;
  if (same && (root.dataset.state === "computing" || !again)) return;
  const own = ++turn;
  const busy = root.dataset.state === "computing";
  job = next;
  history.replaceState(null, "", write(controls.wanted));
  alert();
  state("computing");
  say(words.computing(job.title));
  bar();
  if (busy) await interrupt();
  if (own !== turn) return;
  try {
    if (job.file?.size > MOST_BYTES) throw new FiedlerError("limit", words.tooLargeFile(job.file.size, MOST_BYTES));
    await compute(next, own);
  } catch (error) {
    if (own === turn) failed(error, next.name, error.kind?.startsWith("device") ? open : () => run(true));
  }
}

async function compute(next, own) {
  const encoding = await client.encode(next.input, next.options, (done, total) => {
    if (own !== turn) return;
    bar(total > 1 ? done : 0, total > 1 ? total : 0);
    of("progress").title = words.computing(next.title, done, total);
  });
  if (encoding.graphs === 0) throw new FiedlerError("domain", "there is no graph in this file");
  const files = await client.files();
  const graph = Math.min(controls.wanted.graph, encoding.graphs) - 1;
  const about = await client.graph(next.input, graph);
  if (own !== turn) return;
  shown = { job: next, encoding };
  root.dataset.side = encoding.choice.side;
  downloads.files(files, next.name);
  of("timing").hidden = true;
  await result.show(encoding, { graph, ...about, title: next.title, options: next.options });
  if (own !== turn) return;
  state("done");
  say(words.done(encoding, next.title));
}

/** Shows another graph of the set. */
async function choose(graph) {
  if (!shown) return;
  const { job: of, encoding } = shown;
  try {
    const about = await client.graph(of.input, graph);
    if (shown.encoding !== encoding) return;
    await result.show(encoding, { graph, ...about, title: of.title, options: of.options });
    controls.set({ graph: graph + 1 });
    history.replaceState(null, "", write(controls.wanted));
  } catch (error) {
    if (error.kind !== "cancelled") alert(words.failure(error, of.name));
  }
}

function failed(error, name, again) {
  if (error.kind === "cancelled") {
    state("stopped");
    return say(words.STOPPED);
  }
  if (!error.kind) console.error(error); // a mistake of the page itself
  const [title, text, label] = words.failure(error, name);
  state("error");
  say("");
  alert([title, text, label], again);
}

async function interrupt() {
  if (comparing) comparing.close();
  await client.cancel();
}

async function stop() {
  const own = ++turn;
  await interrupt();
  if (own !== turn) return;
  comparing = null;
  state("stopped");
  say(words.STOPPED);
}

async function measure() {
  const own = ++turn;
  const { job: of_, encoding } = shown;
  state("computing");
  alert();
  bar();
  const side = { module: client.module, software: of("use-software").checked, input: of_.input, options: of_.options };
  try {
    const times = await compare(side, info.adapter, started => { comparing = started; }, (name, done, total) => {
      if (own !== turn) return;
      say(`Measuring the ${name}.`);
      bar(done, total);
    });
    if (own !== turn) return;
    of("timing").hidden = false;
    showTimes(of("timing"), times, encoding.graphs, info.adapter?.software, of("device").textContent);
    state("done");
    say(`Measured. ${of("timing").querySelector(".verdict").textContent}`);
  } catch (error) {
    if (own === turn) failed(error, of_.name, measure);
  } finally {
    if (own === turn) comparing = null;
  }
}

function start() {
  root.dataset.started = "";
  of("timing-note").textContent = words.FIRST_CALL;
  if (typeof WebAssembly !== "object" || typeof Worker !== "function") {
    state("unsupported");
    say("");
    return alert(words.NO_WEBASSEMBLY);
  }
  of("stop").addEventListener("click", stop);
  of("compare").addEventListener("click", measure);
  of("use-software").addEventListener("change", open);
  addEventListener("hashchange", () => {
    if (info) follow();
  });
  open();
}

start();
