// Numbers as text.

export function count(value) {
  return value.toLocaleString("en-US");
}

export function plural(value, one, many = `${one}s`) {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** A figure with up to `digits` significant digits; very small and very large ones as 1.9e-8. */
export function figure(value, digits = 3) {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "not a number" : "infinite";
  if (value === 0) return "0";
  const size = Math.abs(value);
  const text = size < 1e-3 || size >= 1e6 ? value.toExponential(digits - 1) : value.toPrecision(digits);
  const [mantissa, power] = text.split("e");
  const short = mantissa.includes(".") ? mantissa.replace(/\.?0+$/, "") : mantissa;
  return (power ? `${short}e${Number(power)}` : short).replace("-", "\u2212").replace("e-", "e\u2212");
}

/** A time. Browsers blur their clocks, so less than a tenth of a millisecond is not told apart from 0. */
export function seconds(value, blurred = true) {
  if (blurred && value < 1e-4) return "less than 0.1 ms";
  if (value < 1e-3) return `${figure(value * 1e6)} µs`;
  if (value < 1) return `${figure(value * 1e3)} ms`;
  return `${figure(value)} s`;
}

export function bytes(value) {
  return value < 1e6 ? `${Math.max(1, Math.round(value / 1e3))} KB` : `${(value / 1e6).toFixed(1)} MB`;
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** 1st, 2nd, 3rd, 4th, ... */
export function ordinal(value) {
  const last = value % 100 > 10 && value % 100 < 14 ? 0 : value % 10;
  return `${count(value)}${["th", "st", "nd", "rd"][last] ?? "th"}`;
}

/** A list as prose: a, b and c. */
export function list(items) {
  return items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} and ${items.at(-1)}`;
}

/** A title within a sentence. */
export function within(title) {
  return title.replace(/^A /, "a ");
}
