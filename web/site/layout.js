// The places of the nodes in the spectral drawing: which component, which two eigenvectors, which signs.

/** Entries below this share of the largest one are drawn as 0: f32 vectors carry about seven digits. */
const ZERO = 1e-5;

/** A vector belongs to a component if its part there has at least this share of its norm. */
const PRESENT = 0.02;

/** One graph of an encoding, cut out of its arrays. */
export function slice(encoding, graph) {
  const { k, nodeOffsets: at } = encoding;
  const row = array => array.subarray(graph * k, (graph + 1) * k);
  return {
    k,
    nodes: at[graph + 1] - at[graph],
    values: row(encoding.eigenvalues),
    vectors: encoding.eigenvectors.subarray(at[graph] * k, at[graph + 1] * k),
    mask: row(encoding.mask),
    tieGroup: row(encoding.tieGroup),
    tieCut: encoding.tieCut[graph] === 1,
    components: encoding.components[graph],
    residual: encoding.residual[graph],
    orthogonality: encoding.orthogonality[graph],
    norm: encoding.norm[graph],
    status: encoding.status[graph],
  };
}

/** The component of each node, numbered by first appearance, and the sizes of the components. */
export function componentsOf(nodes, edges) {
  const parent = Uint32Array.from({ length: nodes }, (_, node) => node);
  const root = node => {
    while (parent[node] !== node) node = parent[node] = parent[parent[node]];
    return node;
  };
  for (let i = 0; i < edges.length; i += 2) parent[root(edges[i])] = root(edges[i + 1]);
  const number = new Int32Array(nodes).fill(-1);
  const of = new Uint32Array(nodes);
  const sizes = [];
  for (let node = 0; node < nodes; node++) {
    const top = root(node);
    if (number[top] < 0) number[top] = sizes.push(0) - 1;
    of[node] = number[top];
    sizes[of[node]]++;
  }
  return { of, sizes };
}

/** The columns outside the null space, those nearest the wanted end of the spectrum first. */
export function nontrivial(part, which) {
  const columns = [...part.values.keys()].filter(column => part.mask[column]
    && Number.isFinite(part.values[column]) && part.values[column] !== 0); // known null vectors have exactly 0
  return which === "largest" ? columns.reverse() : columns;
}

/**
 * Lays out a graph. `picture.reason` says why there is nothing to draw; otherwise `columns` has the eigenvectors of
 * the two axes (the second is null where one axis has to do), and `x`, `y`, `sign` belong to the nodes in `members`.
 */
export function layout(part, edges, which) {
  const { of, sizes } = componentsOf(part.nodes, edges);
  const order = [...sizes.keys()].sort((a, b) => sizes[b] - sizes[a]);
  const facts = { nodes: part.nodes, components: sizes.length, size: part.nodes, biggest: sizes[order[0]] };
  if (part.nodes === 0) return { ...facts, reason: "empty" };
  const columns = nontrivial(part, which);
  if (facts.biggest === 1) return part.nodes === 1 ? point(facts) : { ...facts, reason: "edgeless" };
  let second;
  for (const component of order) {
    if (sizes[component] < Math.min(3, facts.biggest)) break;
    const members = indices(of, component, sizes[component]);
    const found = axes(part, columns, members);
    if (found.length > 1 || (found.length === 1 && members.length === 2)) {
      return drawn(facts, members, found, edges, of, component);
    }
    if (found.length === 1 && !second) second = [facts, members, found, edges, of, component];
    if (columns.length === 0 || component === order[200]) break; // thousands of small components: enough is tried
  }
  if (second) return drawn(...second);
  return { ...facts, reason: columns.length > 0 ? "elsewhere" : "trivial" };
}

function indices(of, component, size) {
  const members = new Uint32Array(size);
  for (let node = 0, next = 0; next < size; node++) if (of[node] === component) members[next++] = node;
  return members;
}

/**
 * Up to two eigenvectors of a component. The part of an eigenvector within a component is an eigenvector of it, or 0.
 * Parts of tied vectors may be parallel, so the second is made orthogonal to the first.
 */
function axes(part, columns, members) {
  const found = [];
  for (const column of columns) {
    const vector = Float64Array.from(members, node => part.vectors[node * part.k + column]);
    const whole = Math.sqrt(dot(vector, vector));
    if (whole < PRESENT) continue;
    if (found.length === 1 && members.length < part.nodes) {
      const first = found[0].vector;
      const share = dot(first, vector) / dot(first, first);
      for (let i = 0; i < vector.length; i++) vector[i] -= share * first[i];
      if (Math.sqrt(dot(vector, vector)) < PRESENT * whole) continue;
    }
    found.push({ column, vector });
    if (found.length === 2) break;
  }
  return found;
}

function dot(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}

function point(facts) {
  const one = new Float64Array(1);
  return {
    ...facts, columns: [null, null], members: new Uint32Array(1), x: one, y: one,
    sign: new Int8Array(1), edges: new Uint32Array(0), counts: { positive: 0, negative: 0, zero: 1 },
  };
}

function drawn(facts, members, found, edges, of, component) {
  const [first, other] = found;
  const x = first.vector;
  const y = other ? other.vector : new Float64Array(members.length);
  const least = ZERO * x.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const sign = Int8Array.from(x, value => (Math.abs(value) <= least ? 0 : Math.sign(value)));
  const counts = { positive: 0, negative: 0, zero: 0 };
  for (const value of sign) counts[value > 0 ? "positive" : value < 0 ? "negative" : "zero"]++;
  const place = new Uint32Array(of.length);
  members.forEach((node, i) => { place[node] = i; });
  const kept = [];
  for (let i = 0; i < edges.length; i += 2) {
    const [u, v] = [edges[i], edges[i + 1]];
    if (u !== v && of[u] === component) kept.push(place[u], place[v]);
  }
  const columns = [first.column, other ? other.column : null];
  return { ...facts, size: members.length, columns, members, x, y, sign, counts, edges: Uint32Array.from(kept) };
}

/** The most that one axis is stretched beyond the other. */
const STRETCH = 2.5;

/** Returns the coordinates in a frame of this size, y upward, and the x coordinate of 0 (null if out of sight). */
export function fit(picture, width, height, margin) {
  const range = values => values.reduce(([lo, hi], v) => [Math.min(lo, v), Math.max(hi, v)], [Infinity, -Infinity]);
  const [left, right] = range(picture.x);
  const [low, high] = range(picture.y);
  const room = [width - 2 * margin, height - 2 * margin];
  let across = right > left ? room[0] / (right - left) : Infinity;
  let up = high > low ? room[1] / (high - low) : Infinity;
  [across, up] = [Math.min(across, STRETCH * up), Math.min(up, STRETCH * across)];
  if (!Number.isFinite(across)) across = 0;
  if (!Number.isFinite(up)) up = 0;
  const [middle, center] = [(left + right) / 2, (low + high) / 2];
  const px = Float32Array.from(picture.x, value => width / 2 + (value - middle) * across);
  const py = Float32Array.from(picture.y, value => height / 2 - (value - center) * up);
  const zero = across > 0 && left < 0 && right > 0 ? width / 2 - middle * across : null;
  return { px, py, zero };
}

/** How many nodes are where another one is, as twins are: nodes with the same neighbors. */
export function coinciding({ x, y }) {
  if (x.length > 20_000) return 0; // too dense to tell single nodes apart
  const [across, up] = [ranks(x), ranks(y)];
  const places = new Set(across.map((rank, i) => rank * x.length + up[i]));
  return x.length - places.size;
}

/** Numbers values in ascending order; values that differ by no more than rounding have the same number. */
function ranks(values) {
  const order = [...values.keys()].sort((a, b) => values[a] - values[b]);
  const least = 3e-6 * (values[order.at(-1)] - values[order[0]]);
  const found = new Float64Array(values.length);
  for (let i = 1; i < order.length; i++) {
    found[order[i]] = found[order[i - 1]] + Number(values[order[i]] - values[order[i - 1]] > least);
  }
  return found;
}
