// The module without a browser: its CPU side against closed forms. `node web/tests/smoke.mjs [web/dist]`, from node 18.

import assert from "node:assert/strict";
import { copyFile, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const dist = path.resolve(process.argv[2] ?? fileURLToPath(new URL("../dist", import.meta.url)));
const eps = 2 ** -23;

// Node takes a file for a module if its name ends so, or by a package.json, which a browser has no use for.
const folder = await mkdtemp(path.join(tmpdir(), "fiedler-"));
const copy = path.join(folder, "fiedler_web.mjs");
await copyFile(path.join(dist, "pkg/fiedler_web.js"), copy);
const { initSync, open, samples, Graphs } = await import(pathToFileURL(copy));
await copyFile(path.join(dist, "client.js"), path.join(folder, "client.mjs"));
const { Client } = await import(pathToFileURL(path.join(folder, "client.mjs")));
await rm(folder, { recursive: true });
initSync({ module: await readFile(path.join(dist, "pkg/fiedler_web_bg.wasm")) });

const tests = [];
const test = (name, work) => tests.push([name, work]);
const near = (got, want, away, what) =>
  assert.ok(Math.abs(got - want) <= away, `${what}: ${got}, in truth ${want}, allowed ${away}`);
const ascending = list => [...list].sort((a, b) => a - b);

/** Encodes one graph by its edges, and checks its eigenvalues and what is certified. */
async function spectrum(fiedler, nodes, edges, options, truth) {
  const graphs = Graphs.fromEdges(nodes, Uint32Array.from(edges.flat()), undefined, undefined);
  assert.equal(graphs.count, 1);
  assert.equal(graphs.nodes, nodes);
  assert.equal(graphs.edges, edges.length);
  const encoding = await fiedler.encode(graphs, { k: truth.length, ...options });
  assert.deepEqual([...encoding.status], ["Converged"]);
  assert.equal(encoding.choice.side, "cpu");
  // The gates of docs/accuracy.md: 10 n eps, and 2e-6 for iterations on sparse matrices.
  assert.ok(encoding.residual[0] <= Math.max(10 * nodes * eps, 2e-6), `residual ${encoding.residual[0]}`);
  const departure = encoding.orthogonality[0];
  assert.ok(departure <= Math.max(10 * nodes * eps, 1e-5), `departure from orthogonality ${departure}`);
  truth.forEach((want, j) => near(encoding.eigenvalues[j], want, 30 * eps * encoding.norm[0], `eigenvalue ${j}`));
  const groups = new Set(encoding.tieGroup).size;
  encoding.free();
  graphs.free();
  return groups;
}

const ring = n => Array.from({ length: n }, (_, i) => [i, (i + 1) % n]);
const gridEdges = (rows, columns) => {
  const edges = [];
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++) {
      if (j + 1 < columns) edges.push([i * columns + j, i * columns + j + 1]);
      if (i + 1 < rows) edges.push([i * columns + j, (i + 1) * columns + j]);
    }
  }
  return edges;
};
const pathValue = (n, j) => 2 - 2 * Math.cos(Math.PI * j / n);

test("the spectrum of a ring, whose eigenvalues come in pairs", async fiedler => {
  const truth = ascending(ring(12).map((_, j) => 2 - 2 * Math.cos(2 * Math.PI * j / 12)));
  assert.equal(await spectrum(fiedler, 12, ring(12), { laplacian: "combinatorial" }, truth), 7);
  const half = truth.map(value => value / 2); // every degree is 2
  assert.equal(await spectrum(fiedler, 12, ring(12), { laplacian: "symmetric" }, half), 7);
  assert.equal(await spectrum(fiedler, 12, ring(12), { laplacian: "random-walk" }, half), 7);
});

test("the spectrum of a grid, small and dense, large and iterated", async fiedler => {
  for (const [rows, columns] of [[5, 8], [40, 41]]) {
    const all = Array.from({ length: rows * columns }, (_, i) =>
      pathValue(rows, Math.floor(i / columns)) + pathValue(columns, i % columns));
    const edges = gridEdges(rows, columns);
    await spectrum(fiedler, rows * columns, edges, { laplacian: "combinatorial" }, ascending(all).slice(0, 6));
    const largest = ascending(all).slice(-6);
    await spectrum(fiedler, rows * columns, edges, { laplacian: "combinatorial", which: "largest" }, largest);
  }
});

test("the karate club, as a sample and as .npz and .csv", async fiedler => {
  const karate = Graphs.sample("karate");
  assert.deepEqual([karate.count, karate.nodes, karate.edges], [1, 34, 78]);
  const encoding = await fiedler.encode(karate, { k: 3 });
  assert.deepEqual([...encoding.status, ...encoding.components], ["Converged", 1]);
  near(encoding.eigenvalues[0], 0, 1e-6, "the trivial eigenvalue");
  near(encoding.eigenvalues[1], 0.1322722, 1e-5, "the algebraic connectivity"); // NumPy in f64
  // The instructor and the president are in different parts of the club.
  const fiedlerVector = node => encoding.eigenvectors[node * 3 + 1];
  assert.ok(fiedlerVector(0) * fiedlerVector(33) < 0);
  assert.deepEqual([...encoding.npz().slice(0, 2)], [0x50, 0x4b]); // a zip
  assert.equal(new TextDecoder().decode(encoding.csv()).trim().split("\n").length, 35);
});

test("every sample", async fiedler => {
  for (const name of [...samples(), "ties", "grid9"]) {
    const encoding = await fiedler.encode(Graphs.sample(name), {});
    assert.ok([...encoding.status].every(word => word === "Converged"), name);
  }
});

test("eigh, of matrices with known eigenvalues", async fiedler => {
  // The second difference of a path with fixed ends: 2 - 2 cos(pi j / (n + 1)).
  const n = 10;
  const matrix = Float32Array.from({ length: n * n }, (_, i) => {
    const away = Math.abs(Math.floor(i / n) - i % n);
    return away === 0 ? 2 : away === 1 ? -1 : 0;
  });
  const { values, vectors, status, residual, choice } = await fiedler.eigh(matrix, n);
  assert.deepEqual([...status], ["Converged"]);
  assert.equal(choice.side, "cpu");
  assert.ok(residual[0] <= 10 * n * eps);
  values.forEach((value, j) => near(value, 2 - 2 * Math.cos(Math.PI * (j + 1) / (n + 1)), 30 * eps * 4, `value ${j}`));
  const inner = (a, b) => values.reduce((sum, _, i) => sum + vectors[i * n + a] * vectors[i * n + b], 0);
  near(inner(0, 0), 1, 10 * n * eps, "a column's length");
  near(inner(0, 1), 0, 10 * n * eps, "two columns");
});

test("svd, of a diagonal matrix in a rectangle", async fiedler => {
  const { u, s, vt, status } = await fiedler.svd(Float32Array.of(0, 3, 0, 0, -5, 0), 3, 2);
  assert.deepEqual([...status], ["Converged"]);
  near(s[0], 5, 1e-5, "the larger singular value");
  near(s[1], 3, 1e-5, "the smaller one");
  assert.ok(u.length >= 6 && vt.length === 4);
});

test("fft, of a single frequency, and back", async fiedler => {
  const n = 12;
  const wave = Float32Array.from({ length: 2 * n }, (_, i) => {
    const angle = 2 * Math.PI * 3 * Math.floor(i / 2) / n;
    return i % 2 ? Math.sin(angle) : Math.cos(angle);
  });
  const { values } = await fiedler.fft(wave, n);
  values.forEach((value, i) => near(value, i === 6 ? n : 0, 1e-5, `entry ${i}`));
  const back = await fiedler.fft(values, n, { inverse: true });
  back.values.forEach((value, i) => near(value, wave[i], 1e-6, `entry ${i} of the inverse`));
});

test("errors have a kind, and the library's sentence", async fiedler => {
  const wrong = (kind, words) => error =>
    error.name === "FiedlerError" && error.kind === kind && words.test(error.message) && error instanceof Error;
  const bytes = new TextEncoder().encode("0 1\n1 two three four\n");
  assert.throws(() => Graphs.read(bytes, "cut.txt", undefined), wrong("parse", /2/));
  assert.throws(() => Graphs.sample("no-such"), wrong("domain", /no-such/));
  await assert.rejects(open({ backend: "gpu" }), wrong("no-adapter", /./));
  await assert.rejects(fiedler.eigh(new Float32Array(7), 2), wrong("shape", /./));
});

test("unknown options, invalid sizes, and sizes that exceed the memory are refused", async fiedler => {
  const refused = words => error => error.kind === "domain" && words.test(error.message);
  const karate = Graphs.sample("karate");
  await assert.rejects(fiedler.encode(karate, { K: 3 }), refused(/expected k, .*found "K"/));
  await assert.rejects(fiedler.encode(karate, [2]), refused(/expected an object/));
  await assert.rejects(fiedler.eigh(Float32Array.of(1), 1, { inverse: true }), refused(/inverse/));
  await assert.rejects(open({ memoryBudget: NaN }), refused(/memoryBudget/));
  assert.throws(() => Graphs.fromEdges(2, Uint32Array.of(0, 1), undefined, { foo: 1 }), refused(/symmetrize/));
  for (const nodes of [-1, 2.5, NaN, 6e8, 2 ** 32 + 2]) {
    assert.throws(() => Graphs.fromEdges(nodes, Uint32Array.of(0, 1)), refused(/nodes/));
  }
  await assert.rejects(fiedler.eigh(Float32Array.of(2, 1, 1, 2), 2.9), refused(/order: .*found 2\.9/));
  await assert.rejects(fiedler.svd(Float32Array.of(2, 1), 1, Infinity), refused(/columns: .*found Infinity/));
  await assert.rejects(fiedler.fft(Float32Array.of(2, 1), 1.5), refused(/length: .*found 1\.5/));
  for (const graph of [0.5, -1, 1, NaN]) assert.throws(() => karate.nodesOf(graph), refused(/graph: expected/));
  await assert.rejects(fiedler.encode(karate, { k: 2.5 }), refused(/2\.5/));
  const encoding = await fiedler.encode(karate, { k: 3 }); // the module goes on
  assert.equal(encoding.eigenvalues.length, 3);
});

test("the types of the client declare the methods that it has", async () => {
  const types = await readFile(path.join(dist, "client.d.ts"), "utf8");
  const [, declared] = types.match(/^export class Client \{\n(.*?)^\}/ms);
  const names = [...declared.matchAll(/^ {2}(?:get )?(\w+)\(/gm)].map(([, name]) => name);
  assert.deepEqual(names.sort(), Object.getOwnPropertyNames(Client.prototype).sort());
});

const fiedler = await open({ backend: "cpu" });
const { version, adapter, withoutAdapter } = fiedler.info();
assert.match(version, /^\d+\.\d+\.\d+/);
assert.equal(adapter, null);
assert.equal(typeof withoutAdapter, "string");
let failed = 0;
for (const [name, work] of tests) {
  try {
    await work(fiedler);
    console.log(`ok: ${name}`);
  } catch (error) {
    failed++;
    console.log(`FAILED: ${name}\n${error.stack}`);
  }
}
process.exit(failed ? 1 : 0);
