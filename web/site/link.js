// The part of the address after #, such as `#grid30,k=8,rw`: a sample and options, in any order.

export const DEFAULTS = {
  sample: "karate", k: 8, laplacian: "symmetric", which: "smallest", dropTrivial: false,
  symmetrize: "max", backend: "auto", graph: 1,
};

/** The most eigenpairs that the page asks for. */
export const MOST = 1000;

const WORDS = {
  sym: ["laplacian", "symmetric"],
  comb: ["laplacian", "combinatorial"],
  rw: ["laplacian", "random-walk"],
  smallest: ["which", "smallest"],
  largest: ["which", "largest"],
  "drop-trivial": ["dropTrivial", true],
  "no-symmetrization": ["symmetrize", "error"],
  sum: ["symmetrize", "sum"],
  mean: ["symmetrize", "mean"],
  max: ["symmetrize", "max"],
  auto: ["backend", "auto"],
  cpu: ["backend", "cpu"],
  gpu: ["backend", "gpu"],
};

export function isSample(name, samples) {
  const grid = /^grid([1-9]\d{0,2})$/.exec(name);
  return samples.includes(name) || (grid !== null && grid[1] >= 2 && grid[1] <= 300);
}

/** Reads a link. `wrong` lists the parts that say nothing; in their place stand the defaults. */
export function parse(hash, samples) {
  const wanted = { ...DEFAULTS };
  const wrong = [];
  let text = hash.replace(/^#/, "");
  try {
    text = decodeURIComponent(text);
  } catch {
    // A stray % is part of a word that is reported below.
  }
  for (const part of text.split(",").map(part => part.trim()).filter(Boolean)) {
    const number = /^(k|graph)=(\d{1,9})$/.exec(part);
    if (number && number[2] >= 1 && (number[1] !== "k" || number[2] <= MOST)) wanted[number[1]] = Number(number[2]);
    else if (Object.hasOwn(WORDS, part)) wanted[WORDS[part][0]] = WORDS[part][1];
    else if (isSample(part, samples)) wanted.sample = part;
    else wrong.push(part);
  }
  return { wanted, wrong };
}

/** Writes a link. Without a sample (the graph is from a file), it carries the options alone. */
export function write(wanted) {
  const parts = wanted.sample ? [wanted.sample] : [];
  parts.push(`k=${wanted.k}`);
  for (const [word, [name, value]] of Object.entries(WORDS)) {
    if (wanted.sample && name === "symmetrize") continue; // samples are symmetric
    if (wanted[name] === value && DEFAULTS[name] !== value) parts.push(word);
  }
  if (wanted.sample && wanted.graph > 1) parts.push(`graph=${wanted.graph}`);
  return `#${parts.join(",")}`;
}
