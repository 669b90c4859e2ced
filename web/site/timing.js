// The CPU beside the GPU: first call and warm calls apart, each side in a fresh worker, with the predicted times.

import { Client } from "./client.js";
import { median, seconds } from "./format.js";
import { NO_COMPARISON, verdict } from "./words.js";

const WARM = 5;

/**
 * Measures one side. `started` is given the client, so that the page can stop it; `progress` hears of the calls.
 */
async function side(backend, { module, software, input, options }, started, progress) {
  const client = new Client({ module });
  started(client);
  try {
    const before = performance.now();
    await client.open({ backend, software });
    const open = (performance.now() - before) / 1000;
    const { seconds: taken, choice } = await client.measure(input, { ...options, backend }, WARM, progress);
    return { open, first: taken[0], warm: taken.slice(1), choice };
  } finally {
    client.close();
  }
}

/** Measures the CPU, and the GPU if there is an adapter. Rejects where a side fails or is stopped. */
export async function compare(job, adapter, started, progress) {
  const cpu = await side("cpu", job, started, (...at) => progress("CPU", ...at));
  const gpu = adapter ? await side("gpu", job, started, (...at) => progress("GPU", ...at)) : null;
  return { cpu, gpu };
}

/** Shows what was measured. */
export function showTimes(section, { cpu, gpu }, graphs, software) {
  const predicted = gpu?.choice ?? cpu.choice;
  const warm = Math.min(cpu.warm.length, gpu?.warm.length ?? WARM);
  const calls = warm === 1 ? "One warm call" : `Median of ${warm} warm calls`;
  const rows = [
    ["Start of the program", side => seconds(side.open)],
    ["First call", side => seconds(side.first)],
    [warm > 0 ? calls : "Warm calls", side => (side.warm.length ? seconds(median(side.warm)) : "not measured")],
  ];
  const body = section.querySelector("tbody");
  body.replaceChildren(...rows.map(([name, text]) => line(name, text(cpu), gpu ? text(gpu) : "–")));
  const there = predicted.gpuSeconds === null ? "cannot run there" : seconds(predicted.gpuSeconds, false);
  body.append(line("Predicted, warm", seconds(predicted.cpuSeconds, false), gpu ? there : "–"));
  const side = gpu && software ? "GPU (software)" : "GPU";
  section.querySelector(".gpu").textContent = side;
  const figures = ({ first, warm }) => ({ first, warm: median(warm.length > 0 ? warm : [first]) });
  section.querySelector(".verdict").textContent = gpu
    ? verdict(figures(cpu), figures(gpu), graphs, software)
    : NO_COMPARISON;
}

function line(name, ...texts) {
  const row = document.createElement("tr");
  const head = document.createElement("th");
  head.scope = "row";
  head.textContent = name;
  row.append(head, ...texts.map(text => Object.assign(document.createElement("td"), { textContent: text })));
  return row;
}
