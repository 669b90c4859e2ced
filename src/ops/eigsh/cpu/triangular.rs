//! Solves systems with a supernodal Cholesky factor L for a few right-hand sides together, as fast as L can be read
//! from memory.
//!
//! A subtree of the elimination tree shares only the rows below its root with the rest of the matrix. So subtrees
//! are processed in parallel, each in a copy of its own rows and of the shared rows. The other nodes are processed
//! sequentially, after the subtrees in the forward solve and before them in the backward solve. The division into
//! subtrees depends only on L, so a solution has the same bits for any number of threads.

use crate::array::Real;
use crate::lanes::{SimdScalar, Task, Vector};
use crate::parallel;
use crate::shape::to_u32;
use faer::sparse::linalg::cholesky::supernodal::SymbolicSupernodalCholesky;
use std::ops::Range;

/// A subtree becomes a part, which one thread processes, only if it has at most 1 / `PARTS` of the values of L.
const PARTS: usize = 32;
/// A subtree becomes a part only if it has more than 1 / `CRUMBS` of the values of L. For smaller subtrees, copying
/// the rows is not worthwhile.
const CRUMBS: usize = 4096;
/// The number of columns of L that are processed together, so that the rows of the solution below them are read and
/// written once for all of these columns.
const TOGETHER: usize = 4;

/// A supernode: adjacent columns of L that have the same rows below the diagonal block.
#[derive(Debug)]
struct Node {
    /// The first row of the node. If the node is in a part, this is relative to the first row of that part.
    first: usize,
    columns: usize,
    /// The rows below the diagonal block, as a range of `Triangular::rows`.
    rows: Range<usize>,
    /// The range of the node's values in L. They are column-major, with the diagonal block on top.
    values: Range<usize>,
}

/// A subtree of the elimination tree. In the forward solve, its supernodes depend on no supernodes outside of it.
#[derive(Debug)]
struct Part {
    nodes: Range<usize>,
    own: Range<usize>,
    /// The rows of the rest of the matrix, ascending, that the forward solve of this part changes and its backward
    /// solve reads.
    outer: Vec<u32>,
}

/// The structure of L, divided into parts and the nodes above them.
#[derive(Debug)]
pub(super) struct Triangular {
    nodes: Vec<Node>,
    /// The rows below the diagonal blocks of all nodes. For a node outside of all parts, they are rows of L. For a
    /// node in a part, they are indices into the part's copy, which has the part's own rows followed by its outer
    /// rows.
    rows: Vec<u32>,
    parts: Vec<Part>,
    /// The nodes outside of all parts, ascending.
    top: Vec<usize>,
    /// The largest number of rows below the diagonal block of a node.
    tallest: usize,
}

impl Triangular {
    pub(super) fn new(symbolic: &SymbolicSupernodalCholesky<u32>) -> Self {
        let count = symbolic.n_supernodes();
        let (begin, end) = (symbolic.supernode_begin(), symbolic.supernode_end());
        let offsets = symbolic.col_ptr_for_val();
        let (mut nodes, mut rows) = (Vec::with_capacity(count), Vec::new());
        let mut owner = vec![0_u32; symbolic.nrows()];
        for s in 0..count {
            let below = rows.len();
            rows.extend_from_slice(symbolic.supernode(s).pattern());
            let (first, last) = (begin[s] as usize, end[s] as usize);
            owner[first..last].fill(to_u32(s));
            let values = offsets[s] as usize..offsets[s + 1] as usize;
            nodes.push(Node { first, columns: last - first, rows: below..rows.len(), values });
        }
        let parent =
            |node: &Node| rows.get(node.rows.clone()).and_then(<[u32]>::first).map(|&row| owner[row as usize] as usize);
        let parents: Vec<Option<usize>> = nodes.iter().map(parent).collect();
        // For each node: the work, the number of nodes and the first node of the subtree that has this node as its
        // root.
        let mut work: Vec<usize> = nodes.iter().map(|node| node.values.len()).collect();
        let mut sizes = vec![1; count];
        let mut firsts: Vec<usize> = (0..count).collect();
        for s in 0..count {
            if let Some(parent) = parents[s] {
                work[parent] += work[s];
                sizes[parent] += sizes[s];
                firsts[parent] = firsts[parent].min(firsts[s]);
            }
        }
        let total: usize = nodes.iter().map(|node| node.values.len()).sum();
        let fits = |s: usize| work[s] <= total / PARTS && work[s] > total / CRUMBS && firsts[s] + sizes[s] == s + 1;
        let tallest = nodes.iter().map(|node| node.rows.len()).max().unwrap_or(0);
        let mut cut = Self { nodes, rows, parts: Vec::new(), top: Vec::new(), tallest };
        let mut s = count;
        while s > 0 {
            s -= 1;
            if fits(s) {
                cut.take(firsts[s]..s + 1);
                s = firsts[s];
            } else {
                cut.top.push(s);
            }
        }
        cut.top.reverse();
        cut.parts.reverse();
        cut
    }

    /// Makes a part from a subtree.
    fn take(&mut self, nodes: Range<usize>) {
        let root = &self.nodes[nodes.end - 1];
        let own = self.nodes[nodes.start].first..root.first + root.columns;
        let outer = self.rows[root.rows.clone()].to_vec();
        let local = |row: u32| {
            let row = row as usize;
            let place = if row < own.end {
                row - own.start
            } else {
                own.len() + outer.partition_point(|&other| (other as usize) < row)
            };
            to_u32(place)
        };
        for node in &mut self.nodes[nodes.clone()] {
            node.first -= own.start;
            self.rows[node.rows.clone()].iter_mut().for_each(|row| *row = local(*row));
        }
        self.parts.push(Part { nodes, own, outer });
    }

    /// Computes `x <- (L L')^-1 x`. Each row of x has `W` values, one for each right-hand side.
    pub(super) fn solve<const W: usize>(&self, values: &[f64], x: &mut [[f64; W]]) {
        f64::in_lanes(Solve { cut: self, values, x });
    }
}

struct Solve<'a, const W: usize> {
    cut: &'a Triangular,
    values: &'a [f64],
    x: &'a mut [[f64; W]],
}

impl<const W: usize> Task<f64> for Solve<'_, W> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<Scalar = f64>>(self, token: V::Token) {
        let Self { cut, values, x } = self;
        let Triangular { nodes, rows, parts, top, tallest } = cut;
        let of = |s: usize| {
            let node = &nodes[s];
            (node, &values[node.values.clone()], &rows[node.rows.clone()])
        };
        let copied = |part: &Part, x: &[[f64; W]]| {
            let mut local = Vec::with_capacity(part.own.len() + part.outer.len());
            local.extend_from_slice(&x[part.own.clone()]);
            local
        };
        let down = |part: &Part, x: &[[f64; W]]| {
            let mut local = copied(part, x);
            local.resize(part.own.len() + part.outer.len(), [0.0; W]);
            let mut scratch = vec![[0.0; W]; *tallest];
            for s in part.nodes.clone() {
                let (node, l, rows) = of(s);
                V::with_instructions(
                    token,
                    #[inline(always)]
                    || forward(node, l, rows, &mut local, &mut scratch),
                );
            }
            local
        };
        let shared: &[[f64; W]] = x;
        let done = parallel::map(parts, |_, part| down(part, shared));
        for (part, local) in parts.iter().zip(done) {
            let (own, outer) = local.split_at(part.own.len());
            x[part.own.clone()].copy_from_slice(own);
            for (&row, change) in part.outer.iter().zip(outer) {
                x[row as usize].iter_mut().zip(change).for_each(|(x, change)| *x += change);
            }
        }
        let mut scratch = vec![[0.0; W]; *tallest];
        for &s in top {
            let (node, l, rows) = of(s);
            V::with_instructions(
                token,
                #[inline(always)]
                || forward(node, l, rows, x, &mut scratch),
            );
        }
        for &s in top.iter().rev() {
            let (node, l, rows) = of(s);
            V::with_instructions(
                token,
                #[inline(always)]
                || backward(node, l, rows, x, &mut scratch),
            );
        }
        let up = |part: &Part, x: &[[f64; W]]| {
            let mut local = copied(part, x);
            local.extend(part.outer.iter().map(|&row| x[row as usize]));
            let mut scratch = vec![[0.0; W]; *tallest];
            for s in part.nodes.clone().rev() {
                let (node, l, rows) = of(s);
                V::with_instructions(
                    token,
                    #[inline(always)]
                    || backward(node, l, rows, &mut local, &mut scratch),
                );
            }
            local
        };
        let shared: &[[f64; W]] = x;
        let done = parallel::map(parts, |_, part| up(part, shared));
        for (part, local) in parts.iter().zip(done) {
            x[part.own.clone()].copy_from_slice(&local[..part.own.len()]);
        }
    }
}

/// Solves `L x = b` for the columns of one supernode, and updates the rows below the diagonal block.
#[inline(always)]
fn forward<const W: usize>(node: &Node, l: &[f64], rows: &[u32], x: &mut [[f64; W]], scratch: &mut [[f64; W]]) {
    let (columns, height) = (node.columns, node.columns + rows.len());
    let own = &mut x[node.first..node.first + columns];
    let scratch = &mut scratch[..rows.len()];
    scratch.fill([0.0; W]);
    let mut j = 0;
    while j < columns {
        let next = if j + TOGETHER <= columns { j + TOGETHER } else { j + 1 };
        for i in j..next {
            let column = &l[i * height..][..next];
            let pivot = 1.0 / column[i];
            let mut now = own[i];
            now.iter_mut().for_each(|x| *x *= pivot);
            own[i] = now;
            for k in i + 1..next {
                for w in 0..W {
                    own[k][w] = (-column[k]).fused(now[w], own[k][w]);
                }
            }
        }
        let (known, others) = own.split_at_mut(next);
        let factors = &l[j * height..];
        if next - j == TOGETHER {
            let mut by = [known[j], known[j + 1], known[j + 2], known[j + 3]];
            by.as_flattened_mut().iter_mut().for_each(|x| *x = -*x);
            add_columns(others, factors, height, next, by);
            add_columns(scratch, factors, height, columns, by);
        } else {
            let mut p = known[j];
            p.iter_mut().for_each(|x| *x = -*x);
            let below = others.iter_mut().chain(&mut *scratch);
            for (t, a) in below.zip(&factors[next..height]) {
                for w in 0..W {
                    t[w] = a.fused(p[w], t[w]);
                }
            }
        }
        j = next;
    }
    for (t, &row) in scratch.iter().zip(rows) {
        let x = &mut x[row as usize];
        (0..W).for_each(|w| x[w] += t[w]);
    }
}

/// Solves `L' x = b` for the columns of one supernode, given the solution in the rows below the diagonal block.
#[inline(always)]
fn backward<const W: usize>(node: &Node, l: &[f64], rows: &[u32], x: &mut [[f64; W]], scratch: &mut [[f64; W]]) {
    let (columns, height) = (node.columns, node.columns + rows.len());
    let scratch = &mut scratch[..rows.len()];
    for (t, &row) in scratch.iter_mut().zip(rows) {
        *t = x[row as usize];
    }
    let own = &mut x[node.first..node.first + columns];
    let mut next = columns;
    while next > 0 {
        let j = if next % TOGETHER == 0 { next - TOGETHER } else { next - 1 };
        let (unknown, others) = own.split_at_mut(next);
        let factors = &l[j * height..];
        let mut sums = [[0.0; W]; TOGETHER];
        if next - j == TOGETHER {
            add_products(&mut sums, others, factors, height, next);
            add_products(&mut sums, scratch, factors, height, columns);
        } else {
            for (t, a) in others.iter().chain(&*scratch).zip(&factors[next..height]) {
                for w in 0..W {
                    sums[0][w] = a.fused(t[w], sums[0][w]);
                }
            }
        }
        for i in (j..next).rev() {
            let column = &l[i * height..][..next];
            let mut rest = unknown[i];
            (0..W).for_each(|w| rest[w] -= sums[i - j][w]);
            for k in i + 1..next {
                for w in 0..W {
                    rest[w] = (-column[k]).fused(unknown[k][w], rest[w]);
                }
            }
            let pivot = 1.0 / column[i];
            rest.iter_mut().for_each(|x| *x *= pivot);
            unknown[i] = rest;
        }
        next = j;
    }
}

/// Adds four columns of L to `to`, multiplied by the four factors in `by`. The columns are taken from row `row` on,
/// and are `height` elements apart. This is not a closure, because a closure would not be inlined and would lose
/// the SIMD instructions.
#[inline(always)]
fn add_columns<const W: usize>(to: &mut [[f64; W]], l: &[f64], height: usize, row: usize, by: [[f64; W]; TOGETHER]) {
    let [a, b, c, d] = [0, 1, 2, 3].map(|i| &l[i * height + row..][..to.len()]);
    let [p, q, r, s] = by;
    for ((((t, a), b), c), d) in to.iter_mut().zip(a).zip(b).zip(c).zip(d) {
        for w in 0..W {
            t[w] = d.fused(s[w], c.fused(r[w], b.fused(q[w], a.fused(p[w], t[w]))));
        }
    }
}

/// Adds the dot products of `from` with four columns of L to `sums`. The columns are taken from row `row` on, and
/// are `height` elements apart.
#[inline(always)]
fn add_products<const W: usize>(
    sums: &mut [[f64; W]; TOGETHER],
    from: &[[f64; W]],
    l: &[f64],
    height: usize,
    row: usize,
) {
    let [a, b, c, d] = [0, 1, 2, 3].map(|i| &l[i * height + row..][..from.len()]);
    for ((((t, a), b), c), d) in from.iter().zip(a).zip(b).zip(c).zip(d) {
        for w in 0..W {
            sums[0][w] = a.fused(t[w], sums[0][w]);
            sums[1][w] = b.fused(t[w], sums[1][w]);
            sums[2][w] = c.fused(t[w], sums[2][w]);
            sums[3][w] = d.fused(t[w], sums[3][w]);
        }
    }
}
