// What the types of the client and of the module have to accept and to refuse: `web/check` runs the compiler alone.

import { Client, FiedlerError, type Encoded, type Input } from "../dist/client.js";
import init, { Graphs, open } from "../dist/pkg/fiedler_web.js";

const client = new Client({ loading: (received, total) => console.log(received, total ?? "unknown") });
const { adapter, samples, webgpu } = await client.open({ backend: "cpu" });
const graph = { nodes: 4, edges: new Uint32Array([0, 1, 1, 2, 2, 3, 3, 0]) };
const told = (done: number, total: number) => console.log(done / total);
const encoding: Encoded = await client.encode(graph, { k: 3, laplacian: "combinatorial" }, told);
const eigenvalues: Float32Array = encoding.eigenvalues;
const { vectors } = await client.eigh(new Float32Array([2, 1, 1, 2]), 2);
const { u, s, vt } = await client.svd([1, 2, 3, 4], 2, 2, { backend: "gpu" });
const { values } = await client.fft(new Float32Array(8), 4, { inverse: true });
const { npz } = await client.files();
const { seconds } = await client.measure({ sample: "karate" }, {}, 3);
const inputs: Input[] = [{ bytes: new Uint8Array(3), name: "a.txt", symmetrize: "max" }, { ...graph, weights: null }];
try {
  for (const input of inputs) await client.explain(input);
} catch (error) {
  if (!(error instanceof FiedlerError) || error.kind !== "parse") throw error;
}
await client.cancel();
client.close();

// @ts-expect-error: no such option
client.encode(graph, { K: 3 });
// @ts-expect-error: no edges
client.encode({ nodes: 4 });
// @ts-expect-error: a result of the worker is a plain object
encoding.free();

await init({ module_or_path: new URL("../dist/pkg/fiedler_web_bg.wasm", import.meta.url) });
const session = await open({ backend: "cpu" });
(await session.encode(Graphs.sample("karate"), { k: 4 })).free();
console.log(adapter, samples, webgpu, eigenvalues, vectors, u, s, vt, values, npz, seconds);
