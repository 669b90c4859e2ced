//! Splits Rust sources into tokens and finds the paths in them. It covers the part of the grammar that
//! `tests/host/layers.rs` needs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Returns the identifiers, `::`, and single punctuation characters, each with its line. Comments, strings and
/// lifetimes are left out.
pub fn tokens(text: &str) -> Vec<(usize, String)> {
    let chars: Vec<char> = text.chars().collect();
    let at = |i: usize| chars.get(i).copied().unwrap_or('\0');
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let mut out = Vec::new();
    let (mut i, mut line) = (0, 1);
    while i < chars.len() {
        let start = i;
        match chars[i] {
            '/' if at(i + 1) == '/' => {
                while i < chars.len() && chars[i] != '\n' {
                    i += 1;
                }
            }
            '/' if at(i + 1) == '*' => {
                let mut depth = 0;
                loop {
                    match (at(i), at(i + 1)) {
                        ('/', '*') => depth += 1,
                        ('*', '/') => depth -= 1,
                        _ => {
                            i += 1;
                            if i >= chars.len() {
                                break;
                            }
                            continue;
                        }
                    }
                    i += 2;
                    if depth == 0 {
                        break;
                    }
                }
            }
            '"' => {
                i += 1;
                while i < chars.len() && chars[i] != '"' {
                    i += if chars[i] == '\\' { 2 } else { 1 };
                }
                i += 1;
            }
            // A character, or a lifetime, which has no closing quote.
            '\'' if at(i + 1) == '\\' => {
                i += 3;
                while i < chars.len() && chars[i] != '\'' {
                    i += 1;
                }
                i += 1;
            }
            '\'' if at(i + 2) == '\'' => i += 3,
            '\'' => {
                i += 1;
                while word(at(i)) {
                    i += 1;
                }
            }
            c if word(c) => {
                while word(at(i)) {
                    i += 1;
                }
                let name: String = chars[start..i].iter().collect();
                let hashes = (i..).take_while(|&j| at(j) == '#').count();
                if matches!(name.as_str(), "r" | "br" | "cr") && at(i + hashes) == '"' {
                    let close: String = std::iter::once('"').chain((0..hashes).map(|_| '#')).collect();
                    let rest: String = chars[i + hashes + 1..].iter().collect();
                    let length = rest.find(&close).map_or(rest.chars().count(), |b| rest[..b].chars().count());
                    i += hashes + 1 + length + close.len();
                } else if name == "r" && hashes == 1 {
                    i += 1; // a raw identifier: its name is the next token
                } else {
                    out.push((line, name));
                }
            }
            ':' if at(i + 1) == ':' => {
                out.push((line, "::".into()));
                i += 2;
            }
            c => {
                if !c.is_whitespace() {
                    out.push((line, c.into()));
                }
                i += 1;
            }
        }
        line += chars[start..i.min(chars.len())].iter().filter(|&&c| c == '\n').count();
    }
    out
}

/// Collects all paths of the tree at `tokens[*i]`, such as `a::{b, c::d as e, self}`, and moves `*i` past the tree.
fn tree(tokens: &[(usize, String)], i: &mut usize, prefix: &[String], out: &mut Vec<Vec<String>>) {
    let text = |i: usize| tokens.get(i).map_or("", |t| t.1.as_str());
    let mut path = prefix.to_vec();
    loop {
        match text(*i) {
            "{" => {
                *i += 1;
                while !matches!(text(*i), "}" | "") {
                    tree(tokens, i, &path, out);
                    while !matches!(text(*i), "," | "}" | "") {
                        *i += 1; // `as name`
                    }
                    if text(*i) == "," {
                        *i += 1;
                    }
                }
                *i += 1;
                return;
            }
            name if name == "*" || name.starts_with(|c: char| c.is_alphabetic() || c == '_') => {
                path.push(name.into());
                *i += 1;
            }
            _ => break,
        }
        if text(*i) != "::" {
            break;
        }
        *i += 1;
    }
    out.push(path);
}

/// A source file: the path of its module from the crate's root, and its tokens.
pub struct Source {
    pub file: PathBuf,
    pub module: Vec<String>,
    pub tokens: Vec<(usize, String)>,
}

impl Source {
    /// `file` is relative to `src`.
    pub fn new(file: &Path, text: &str) -> Self {
        let mut module: Vec<String> = file.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        let stem = file.file_stem().expect("a file has a name").to_string_lossy().into_owned();
        module.pop();
        if stem != "mod" {
            module.push(stem);
        }
        Self { file: file.into(), module, tokens: tokens(text) }
    }

    pub fn room(&self) -> &str {
        &self.module[0]
    }

    /// Returns every path in this file that leads into the crate, written from the crate's root, with its line.
    pub fn paths(&self) -> Vec<(usize, Vec<String>)> {
        let text = |i: usize| self.tokens.get(i).map_or("", |t| t.1.as_str());
        let mut out = Vec::new();
        let mut module = self.module.clone();
        let mut inline = Vec::new(); // the depths at which inline modules opened
        let (mut depth, mut i) = (0, 0);
        while i < self.tokens.len() {
            match text(i) {
                "{" => depth += 1,
                "}" => {
                    depth -= 1;
                    if inline.last() == Some(&depth) {
                        inline.pop();
                        module.pop();
                    }
                }
                "mod" if text(i + 2) == "{" => {
                    inline.push(depth);
                    module.push(text(i + 1).into());
                }
                "crate" | "super" if text(i + 1) == "::" => {
                    let line = self.tokens[i].0;
                    let mut found = Vec::new();
                    tree(&self.tokens, &mut i, &[], &mut found);
                    out.extend(found.into_iter().map(|path| (line, from_root(&module, &path))));
                    continue;
                }
                _ => {}
            }
            i += 1;
        }
        out
    }

    /// Returns what this file re-exports from modules inside it: each name with the path of its module from here.
    pub fn reexports(&self) -> BTreeMap<String, Vec<String>> {
        let mut out = BTreeMap::new();
        for i in 0..self.tokens.len() {
            let visible = i > 0 && matches!(self.tokens[i - 1].1.as_str(), "pub" | ")");
            if self.tokens[i].1 != "use" || !visible {
                continue;
            }
            let mut found = Vec::new();
            tree(&self.tokens, &mut (i + 1), &[], &mut found);
            for mut path in found {
                path.retain(|part| part != "self" && part != "crate");
                if let Some(name) = path.last().cloned() {
                    out.insert(name, path);
                }
            }
        }
        out
    }
}

/// Converts `path`, which starts with `crate` or `super` and is written in `module`, to a path from the crate's root.
fn from_root(module: &[String], path: &[String]) -> Vec<String> {
    let ups = path.iter().take_while(|part| *part == "super").count();
    if ups == 0 {
        return path[1..].to_vec();
    }
    let base = &module[..module.len().saturating_sub(ups)];
    base.iter().chain(&path[ups..]).cloned().collect()
}
