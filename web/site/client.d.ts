import type {
  Choice, Eigh, EncodeOptions, Encoding, Fft, FftOptions, Info, LinearOptions, OpenOptions, ReadOptions, Svd,
} from "./pkg/fiedler_web.js";

export type { Choice, Eigh, EncodeOptions, Fft, FftOptions, Info, LinearOptions, OpenOptions, ReadOptions, Svd };

/** What an error is about. */
export type ErrorKind =
  | "cancelled" | "device" | "device-lost" | "domain" | "internal" | "io" | "limit" | "load" | "no-adapter"
  | "out-of-memory" | "parse" | "shape" | "uncertified";

/** An error of the library. `kind` says what to do about it, `message` is its sentence. */
export class FiedlerError extends Error {
  constructor(kind: ErrorKind, message: string);
  readonly name: "FiedlerError";
  readonly kind: ErrorKind;
}

/** A sample of the page, by its name in `Opened.samples`. */
export interface SampleInput extends ReadOptions {
  sample: string;
}

/** The content of a file, whose format its content and its name tell. */
export interface FileInput extends ReadOptions {
  bytes: Uint8Array | ArrayBuffer | Blob;
  name?: string;
}

/** One graph: a pair of node numbers for each edge, and perhaps a weight. */
export interface EdgesInput extends ReadOptions {
  nodes: number;
  edges: Uint32Array | readonly number[];
  weights?: Float64Array | Float32Array | readonly number[] | null;
}

export type Input = SampleInput | FileInput | EdgesInput;

/** What `Client.open` resolves with. */
export interface Opened extends Info {
  /** The names of the samples. */
  samples: string[];
  /** Whether the browser has WebGPU. */
  webgpu: boolean;
  /** The name of the browser's adapter if it was not opened. */
  unused: string | null;
}

/** The encodings of the graphs of an input. */
export interface Encoded extends Pick<
  Encoding,
  | "choice" | "components" | "eigenvalues" | "eigenvectors" | "graphs" | "k" | "mask" | "nodeOffsets" | "nodes"
  | "norm" | "onCpu" | "onGpu" | "orthogonality" | "randomWalk" | "residual" | "solvedAgain" | "status" | "tieCut"
  | "tieGroup"
> {
  /** The name of the sample or of the data set. */
  name: string;
  /** The format of the file, such as `an edge list`. */
  format: string | undefined;
  /** The number of graphs. */
  count: number;
  /** The number of edges of all graphs, each counted once. */
  edges: number;
  /** What another program might read differently in the file. */
  notices: string[];
  /** The time that it took. */
  seconds: number;
}

/** One graph of an input. */
export interface GraphEdges {
  nodes: number;
  /** Pairs of node numbers, the smaller one first. */
  edges: Uint32Array;
  /** The names of the nodes, if the file names them. */
  ids: string[] | undefined;
}

export type Progress = (done: number, total: number) => void;

export interface ClientOptions {
  /** Reports the download in bytes; `total` is null while it is unknown. */
  loading?: (received: number, total: number | null) => void;
  /** The compiled program of another client. */
  module?: WebAssembly.Module;
}

/**
 * The page's side of a worker that computes. Calls reject with a `FiedlerError`. A call opens the program if that has
 * not happened.
 */
export class Client {
  constructor(options?: ClientOptions);

  /** The compiled program, once it is loaded. */
  get module(): WebAssembly.Module | undefined;

  /** Loads the program, if that has not happened, and opens it. */
  open(options?: OpenOptions): Promise<Opened>;

  /** Encodes every graph of an input. */
  encode(input: Input, options?: EncodeOptions, progress?: Progress): Promise<Encoded>;

  /** The last encoding as files. It can be asked for once, since the worker then forgets it. */
  files(): Promise<{ npz: Uint8Array; csv: Uint8Array }>;

  /** The edges of one graph of an input, and the names of its nodes if it has some. */
  graph(input: Input, index: number): Promise<GraphEdges>;

  /** Encodes once and then up to `warm` times more (5 by default); resolves with the seconds of each call. */
  measure(
    input: Input, options?: EncodeOptions, warm?: number, progress?: Progress,
  ): Promise<{ seconds: number[]; choice: Choice }>;

  /** Where `encode` would run, and why. */
  explain(input: Input, options?: EncodeOptions): Promise<Choice>;

  /** Computes the eigenvalues and eigenvectors of symmetric matrices of this order. */
  eigh(matrices: Float32Array | readonly number[], order: number, options?: LinearOptions): Promise<Eigh>;

  /** Computes the thin singular value decompositions of matrices of this shape. */
  svd(
    matrices: Float32Array | readonly number[], rows: number, columns: number, options?: LinearOptions,
  ): Promise<Svd>;

  /** Transforms complex signals of this length, whose real and imaginary parts alternate. */
  fft(signals: Float32Array | readonly number[], length: number, options?: FftOptions): Promise<Fft>;

  /** Rejects the calls that are running with the kind `cancelled`. Resolves when they are rejected. */
  cancel(): Promise<void>;

  /** Ends the worker. Calls that are running are rejected. */
  close(): void;
}
