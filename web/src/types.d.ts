/** The options of `open`. */
export interface OpenOptions {
  /** `auto` (the default) opens the browser's GPU if it has one, `cpu` opens none, `gpu` requires one. */
  backend?: "auto" | "cpu" | "gpu";
  /** Whether a software adapter may be opened; false by default. It is used only where a call asks for the GPU. */
  software?: boolean;
  /** The bytes of working memory, for the GPU and for the CPU each; 512 MiB by default. */
  memoryBudget?: number;
}

/** What `Fiedler.info` returns. */
export interface Info {
  version: string;
  adapter: null | { name: string; backend: string; driver: string; class: string; software: boolean };
  /** Why there is no adapter. */
  withoutAdapter: null | string;
}

/** The options of `Graphs.read` and `Graphs.fromEdges`. */
export interface ReadOptions {
  /** How a directed edge becomes an undirected one; `max` by default. `error` refuses directed graphs. */
  symmetrize?: "max" | "sum" | "mean" | "error";
}

/** The options of `encode`. */
export interface EncodeOptions {
  /** The number of eigenpairs of each graph; 8 by default. */
  k?: number;
  /** The Laplacian; `symmetric` by default. */
  laplacian?: "symmetric" | "combinatorial" | "random-walk";
  /** The end of the spectrum; `smallest` by default. */
  which?: "smallest" | "largest";
  /** Whether to leave out the zero modes; false by default. */
  dropTrivial?: boolean;
  /** The steps of the random walk whose return probabilities are computed too; 0 by default. */
  walkSteps?: number;
  /** Where the call runs; `auto` by default. */
  backend?: "auto" | "cpu" | "gpu";
}

/** Where a call runs, and why. */
export interface Choice {
  side: "cpu" | "gpu";
  /** Such as `on the CPU (there is no GPU)`. */
  sentence: string;
  /** The predicted time in seconds. */
  cpuSeconds: number;
  /** The predicted time in seconds; null where the call cannot run on the GPU. */
  gpuSeconds: number | null;
}

/** The options of `eigh` and `svd`. */
export interface LinearOptions {
  backend?: "auto" | "cpu" | "gpu";
}

/** The options of `fft`. */
export interface FftOptions extends LinearOptions {
  /** Whether to compute the inverse transform; false by default. */
  inverse?: boolean;
}

/** The certificates of a batch. */
export interface Certified {
  /** `Converged`, `NotConverged`, `NonFinite` or `Unresolved`. */
  status: string[];
  residual: Float32Array;
  orthogonality: Float32Array;
  choice: Choice;
}

/** Matrices are in row-major order, one after the other. Eigenvalues ascend; eigenvectors are columns. */
export interface Eigh extends Certified {
  values: Float32Array;
  vectors: Float32Array;
}

/** Matrices are in row-major order, one after the other. Singular values descend. */
export interface Svd extends Certified {
  u: Float32Array;
  s: Float32Array;
  vt: Float32Array;
}

/** Real and imaginary parts alternate. */
export interface Fft {
  values: Float32Array;
  choice: Choice;
}
