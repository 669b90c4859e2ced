// The sentences about the drawing and the spectrum.

import { MOST_EDGES } from "./drawing.js";
import { count, figure, list, ordinal, plural, within } from "./format.js";

const LAPLACIANS = {
  symmetric: "symmetric normalized Laplacian",
  combinatorial: "combinatorial Laplacian",
  "random-walk": "random-walk Laplacian",
};

function vectorName(part, column, which, components) {
  const place = which === "largest" ? part.values.filter(Number.isFinite).length - column : column + 1;
  if (which === "largest") return `the eigenvector of the ${place === 1 ? "" : `${ordinal(place)} `}largest eigenvalue`;
  const nulls = part.values.filter(value => value === 0).length;
  if (components === 1 && column === nulls) return "the Fiedler vector";
  return nulls > 0 ? `the ${ordinal(place)} eigenvector` : `the ${ordinal(place)} nontrivial eigenvector`;
}

export function axes(part, picture, which) {
  return picture.columns.map(column => {
    if (column === null) return null;
    const name = vectorName(part, column, which, picture.components);
    return { name, value: figure(part.values[column]) };
  });
}

export function caption(part, picture, options) {
  const [x, y] = axes(part, picture, options.which);
  if (!x) return "The only node.";
  const up = y ? ` Up: ${y.name} (eigenvalue ${y.value}).` : "";
  return `Across: ${x.name} (eigenvalue ${x.value}).${up} Of the ${LAPLACIANS[options.laplacian]}.`;
}

/** Why there is nothing to draw. */
export function undrawn(picture, k) {
  switch (picture.reason) {
    case "empty":
      return "The graph has no nodes.";
    case "edgeless":
      return `The graph has ${count(picture.nodes)} nodes and no edges between them, so there is nothing to draw.`;
    case "trivial":
      return `${k === 1 ? "The one eigenvector that was computed belongs" : "All computed eigenvectors belong"} to the `
        + "null space, which says nothing about the nodes within a component. Increase k, or leave out the null space.";
    default:
      return "None of the pairs that were computed belongs to a component with three or more nodes. Increase k.";
  }
}

/** What is to be known about a drawing, besides the axes. */
export function notes(part, picture, twins) {
  const said = [];
  if (picture.components > 1) {
    const [all, size] = [count(picture.components), plural(picture.size, "node")];
    const which = picture.size === picture.biggest ? "its largest component is drawn" : "one component is drawn";
    said.push(`The graph is disconnected: it has ${all} components, and ${which}, with ${size}.`);
  }
  const [x, y] = picture.columns;
  if (x !== null && y === null && picture.size > 2) {
    said.push("Only one of the pairs that were computed belongs to this component. Increase k for a second axis.");
  }
  said.push(...tieNotes(part, x, y));
  if (twins > 0) {
    said.push(`${plural(twins, "node")} cannot be seen: ${twins === 1 ? "it has" : "they have"} the place of another.`);
  }
  const edges = picture.edges.length / 2;
  if (edges > MOST_EDGES) said.push(`Of ${count(edges)} edges, an even sample of ${count(MOST_EDGES)} is drawn.`);
  return said;
}

function tieNotes(part, x, y) {
  const size = column => part.tieGroup.filter((group, i) => part.mask[i] && group === part.tieGroup[column]).length;
  if (x === null) return [];
  if (y !== null && part.tieGroup[x] === part.tieGroup[y]) {
    return [size(x) === 2
      ? "The two eigenvalues are tied: any rotation of this drawing is just as good."
      : `Both axes belong to a group of ${size(x)} tied eigenvalues: any two orthogonal vectors from their eigenspace `
        + "are just as good."];
  }
  return [x, y].flatMap((column, axis) => (column === null || size(column) === 1 ? [] : [
    `The ${axis === 0 ? "horizontal" : "vertical"} axis is one vector of a group of ${size(column)} tied eigenvalues: `
    + "any other from their eigenspace is just as good."]));
}

export function pictureText(title, part, picture, options) {
  const edges = picture.edges.length / 2;
  const what = `Spectral drawing of ${within(title)}: ${plural(picture.size, "node")} and ${plural(edges, "edge")}.`;
  return `${what} ${caption(part, picture, options)} ${signs(part, picture, options)}`;
}

/** What the colors say. */
export function signs(part, picture, options) {
  const [x] = axes(part, picture, options.which);
  if (!x) return "";
  const { positive, negative, zero } = picture.counts;
  const none = zero > 0 ? `, and 0 at ${count(zero)}` : "";
  const name = x.name.charAt(0).toUpperCase() + x.name.slice(1);
  return `${name} is positive at ${plural(positive, "node")}, negative at ${count(negative)}${none}.`;
}

// The spectrum.

export function spectrumText(part, groups) {
  const values = part.values.filter((_, i) => part.mask[i]);
  if (values.length === 0) return "No eigenvalues.";
  const range = values.length === 1 ? figure(values[0]) : `from ${figure(values[0])} to ${figure(values.at(-1))}`;
  const ties = groups.map(({ from, to }) => `${from + 1} to ${to + 1}`);
  const tied = ties.length === 0 ? "No eigenvalues are tied." : `Tied eigenvalues: ${list(ties)}.`;
  return `${plural(values.length, "eigenvalue")}, ${range}. ${tied}`;
}

export function whiskerText(part, reach, seen, laplacian) {
  if (!Number.isFinite(reach)) return "There is no certificate for these eigenvalues.";
  const size = `±${figure(reach)}, the residual times the norm of the Laplacian`;
  const look = seen ? "The whiskers are" : "The whiskers, too short to be seen, are";
  const inside = laplacian === "random-walk" ? "" : " Within each lies an exact eigenvalue.";
  return `${look} ${size}.${inside}`;
}

export const BRACKETS = "A bracket joins tied eigenvalues. If it is open at one end, the group goes on beyond the k "
  + "pairs.";
