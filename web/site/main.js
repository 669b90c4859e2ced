// The page: loads the program, follows the link and the form, and shows the state in words.

import { Client, FiedlerError } from "./client.js";
import { Controls } from "./controls.js";
import { Downloads } from "./downloads.js";
import { DEFAULTS, parse, write } from "./link.js";
import { Result } from "./result.js";
import { alert, bar, of, root, say, unable } from "./state.js";
import { compare, showTimes } from "./timing.js";
import * as words from "./words.js";

/** The largest file that is read, in bytes: what is read takes several times its size in memory. */
const MOST_BYTES = 512e6;

/** The samples, as long as the program has not said which ones it has. */
const SAMPLES = Object.keys(words.SAMPLES);

const downloads = new Downloads({ npz: of("npz"), csv: of("csv"), svg: of("svg") });
const result = new Result(downloads, choose);
const controls = new Controls({ ...DEFAULTS }, run, said => alert([said, ""]));
const client = new Client({ loading });

/** What `open` said about the program and the device. */
let info = null;
let opening = false;
/** The job that runs, or the last one that ran: `{key, file, input, options, name, title}`. */
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
  unable(of("compute"), name === "loading" || name === "unsupported", of("status"));
  if (busy) of("stop").disabled = false; // may take the focus of the other button
  unable(of("compare"), busy || !shown || opening, busy ? of("stop") : of("status"));
  unable(of("stop"), !busy, name === "done" ? of("compare") : of("compute"));
  of("result").setAttribute("aria-busy", String(busy));
}

function loading(received, total) {
  if (opening) bar(received, total, words.amount(received, total));
}

/** Opens the program, and with it the device, and then computes what is wanted. */
async function open() {
  const own = ++turn;
  opening = true;
  if (root.dataset.state === "computing") await interrupt();
  alert();
  state("loading");
  say(words.LOADING);
  bar();
  try {
    const opened = await client.open({ backend: "auto", software: of("use-software").checked });
    if (own !== turn) return;
    info = opened;
  } catch (error) {
    if (own !== turn) return;
    opening = false;
    return failed(error, "The program");
  }
  opening = false;
  controls.samples(info.samples);
  controls.device(info.adapter !== null);
  of("version").textContent = `fiedler ${info.version}`;
  of("device").textContent = words.device(info, { webgpu: Boolean(navigator.gpu), secure: isSecureContext });
  of("software").hidden = !(info.unused || info.adapter?.software);
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

/** Computes what is wanted. What is shown or being computed is not begun again, unless `again` and it has ended. */
async function run(again = false) {
  history.replaceState(null, "", write(controls.wanted));
  if (!info || opening) return; // computed once the program is open
  const next = jobOf(controls.wanted, controls.file);
  const busy = root.dataset.state === "computing";
  if (job?.key === next.key && job.file === next.file && (busy ? !comparing : !again)) return;
  const own = ++turn;
  job = next;
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
    if (own === turn) failed(error, next.name);
  }
}

async function compute(next, own) {
  const encoding = await client.encode(next.input, next.options, (done, total) => {
    if (own === turn) bar(total > 1 ? done : 0, total > 1 ? total : 0, words.progress(done, total));
  });
  if (encoding.graphs === 0) throw new FiedlerError("domain", "there is no graph in this file");
  const files = await client.files();
  const graph = Math.min(controls.wanted.graph, encoding.graphs) - 1;
  const about = await client.graph(next.input, graph);
  if (own !== turn) return;
  controls.set({ graph: graph + 1 }); // a link may name one that is not there
  history.replaceState(null, "", write(controls.wanted));
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
  const before = shown;
  if (!before) return;
  const { input, options, title, name } = before.job;
  try {
    const about = await client.graph(input, graph);
    if (shown !== before) return;
    controls.set({ graph: graph + 1 });
    history.replaceState(null, "", write(controls.wanted));
    await result.show(before.encoding, { graph, ...about, title, options });
    if (root.dataset.state !== "computing") say(words.graphOf(graph, before.encoding.graphs));
  } catch (error) {
    if (error.kind !== "cancelled") alert(words.failure(error, name));
  }
}

/** What the buttons of alerts do. */
const actions = {
  open,
  again: () => run(true),
  auto: () => on("auto"),
  cpu: () => on("cpu"),
};

function on(backend) {
  controls.set({ backend });
  run(true);
}

/** Says what failed. What is shown goes, unless it is what was asked for. */
function failed(error, name, again = actions, stopped = words.STOPPED) {
  if (shown?.job !== job) hide();
  if (error.kind === "cancelled") {
    state("stopped");
    return say(stopped);
  }
  if (!error.kind) console.error(error); // a mistake of the page itself
  const [title, text, label, action] = words.failure(error, name);
  state("error");
  say("");
  alert([title, text, label], again[action]);
}

function hide() {
  shown = null;
  for (const id of ["result", "timing"]) of(id).hidden = true;
}

async function interrupt() {
  comparing?.close();
  comparing = null;
  await client.cancel();
}

async function stop() {
  const own = ++turn;
  const said = comparing ? words.stoppedComparison(of("compare").textContent) : words.STOPPED;
  await interrupt();
  if (own === turn) failed(new FiedlerError("cancelled", ""), "", actions, said);
}

async function measure() {
  const own = ++turn;
  const { job: { input, options, name }, encoding } = shown;
  const software = of("use-software").checked;
  const started = one => {
    if (own !== turn) throw new FiedlerError("cancelled", "the comparison was stopped");
    comparing = one;
  };
  const progress = (side, done, total) => {
    if (own === turn) bar(done, total, words.measuring(side, done, total));
  };
  state("computing");
  alert();
  say(info.adapter ? words.COMPARING : words.TIMING);
  bar();
  try {
    const side = { module: client.module, software, input, options };
    const times = await compare(side, info.adapter, started, progress);
    if (own !== turn) return;
    comparing = null;
    of("timing").hidden = false;
    showTimes(of("timing"), times, encoding.graphs, info.adapter?.software);
    state("done");
    say(`${words.MEASURED} ${of("timing").querySelector(".verdict").textContent}`);
    of("timing").scrollIntoView({ block: "nearest" });
  } catch (error) {
    if (own !== turn) return;
    comparing = null;
    failed(error, name, { ...actions, again: measure });
  }
}

function start() {
  root.dataset.started = "";
  of("timing-note").textContent = words.FIRST_CALL;
  const lacking = words.lacking();
  if (lacking) {
    state("unsupported");
    say("");
    return alert(lacking);
  }
  of("stop").addEventListener("click", stop);
  of("compare").addEventListener("click", measure);
  of("use-software").addEventListener("change", open);
  addEventListener("hashchange", () => {
    if (info && !opening) follow();
  });
  controls.set(parse(location.hash, SAMPLES).wanted);
  controls.samples(SAMPLES);
  open();
}

start();
