//! Writes WGSL line by line, for kernels whose loops are unrolled. The language has no way to unroll a loop.

use std::fmt::Display;

/// WGSL text under construction.
#[derive(Debug, Default)]
pub struct Wgsl {
    text: String,
    depth: usize,
}

impl Wgsl {
    /// Starts a file with a header, which consists of comments: the lines of `about`, and a line that says what wrote
    /// the file.
    pub fn file(about: &str) -> Self {
        let mut out = Self::default();
        out.comment(about);
        out.line("//");
        out.comment("Written by tools/unroll: `cargo run --example unroll` writes it anew.");
        out
    }

    pub fn line(&mut self, line: impl Display) {
        let line = line.to_string();
        if !line.is_empty() {
            self.text.extend(std::iter::repeat_n("    ", self.depth));
        }
        self.text.push_str(&line);
        self.text.push('\n');
    }

    pub fn comment(&mut self, about: &str) {
        about.lines().for_each(|line| self.line(format!("// {line}")));
    }

    /// Writes one line for each item.
    pub fn each<T>(&mut self, items: impl IntoIterator<Item = T>, line: impl Fn(T) -> String) {
        items.into_iter().for_each(|item| self.line(line(item)));
    }

    /// Writes `head { ... }`.
    pub fn block(&mut self, head: impl Display, body: impl FnOnce(&mut Self)) {
        let head = head.to_string();
        self.line(if head.is_empty() { "{".to_owned() } else { format!("{head} {{") });
        self.depth += 1;
        body(self);
        self.depth -= 1;
        self.line("}");
    }

    /// Writes a function of one expression.
    pub fn short(&mut self, head: impl Display, expression: impl Display) {
        self.line(format!("{head} {{ return {expression}; }}"));
    }

    pub fn finish(self) -> String {
        self.text
    }
}

/// Returns `of(0) + of(1) + ...`, where `operator` takes the place of ` + `.
pub fn joined(count: usize, operator: &str, of: impl Fn(usize) -> String) -> String {
    (0..count).map(of).collect::<Vec<_>>().join(operator)
}

/// Returns `max(of(0), max(of(1), ...))`.
pub fn largest(count: usize, of: impl Fn(usize) -> String) -> String {
    (0..count).rev().map(of).reduce(|rest, one| format!("max({one}, {rest})")).unwrap_or_default()
}

/// Returns every pair of `n` players once, in rounds of disjoint pairs (round robin). If `n` is odd, one player rests
/// in each round.
pub fn rounds(n: usize) -> Vec<Vec<(usize, usize)>> {
    let ring = n + n % 2 - 1;
    let pair = |round: usize, k: usize| {
        let (one, two) = if k == 0 { (ring, round) } else { ((round + k) % ring, (round + ring - k) % ring) };
        (one.min(two), one.max(two))
    };
    (0..ring).map(|round| (0..n.div_ceil(2)).map(|k| pair(round, k)).filter(|&(_, two)| two < n).collect()).collect()
}
