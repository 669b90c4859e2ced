//! Random programs without races, which have to compute the same however many invocations step together. A single one
//! never waits for others, so it is the judge of masks and of registers that are used again.

use super::common::{Litmus, garbage};
use wgpu_adversary::Profile;

/// Writes a random program.
struct Writer {
    state: u64,
    text: String,
    loops: u32,
    counters: u32,
}

impl Writer {
    fn below(&mut self, bound: u64) -> u64 {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) % bound
    }

    fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len() as u64) as usize]
    }

    fn expression(&mut self, depth: u32) -> String {
        if depth == 0 || self.below(4) == 0 {
            return match self.below(7) {
                0 => format!("{}u", self.below(9)),
                1 => "lane".into(),
                2 => format!("list[{} % 4u]", self.pick(&["a", "b", "c", "lane"])),
                _ => self.pick(&["a", "b", "c"]).into(),
            };
        }
        let (x, y) = (self.expression(depth - 1), self.expression(depth - 1));
        match self.below(8) {
            0 => format!("select({x}, {y}, {})", self.condition(depth - 1)),
            1 => format!("min({x}, {y})"),
            2 if self.loops == 0 && depth > 1 => format!("helper({x} % 16u, {y})"),
            op => format!("({x} {} {y})", ["+", "-", "*", "^", "&", "|"][op as usize % 6]),
        }
    }

    fn condition(&mut self, depth: u32) -> String {
        let (x, y) = (self.expression(depth), self.expression(depth));
        let bound = self.below(5);
        match self.below(4) {
            0 => format!("({x} < {y})"),
            1 => format!("({x} % 3u == {y} % 3u)"),
            2 => format!("(({x} & 1u) == 0u || {y} > {bound}u)"),
            _ => format!("(lane % {}u > ({x} & 3u) && {y} != 3u)", bound + 2),
        }
    }

    fn block(&mut self, depth: u32, result: &str) {
        for _ in 0..self.below(3) + 1 {
            self.statement(depth, result);
        }
    }

    fn statement(&mut self, depth: u32, result: &str) {
        let kind = if depth == 0 { self.below(3) } else { self.below(9) };
        match kind {
            0..2 => {
                let (name, value) = (self.pick(&["a", "b", "c"]), self.expression(3));
                self.text += &format!("{name} = {value};\n");
            }
            2 => {
                let (index, value) = (self.expression(1), self.expression(2));
                self.text += &format!("list[{index} % 4u] = {value};\n");
            }
            3..5 => {
                let condition = self.condition(1);
                self.text += &format!("if {condition} {{\n");
                self.block(depth - 1, result);
                self.text += "} else {\n";
                self.block(depth - 1, result);
                self.text += "}\n";
            }
            5..7 => {
                let (counter, rounds) = (self.counters, self.below(3) + 2);
                self.counters += 1;
                let kept = self.expression(2);
                self.text += &format!("for (var n{counter} = 0u; n{counter} < {rounds}u; n{counter}++) {{\n");
                self.text += &format!("let kept{counter} = {kept} + n{counter};\n");
                self.loops += 1;
                self.block(depth - 1, result);
                let (condition, leave) = (self.condition(1), self.pick(&["break", "continue"]));
                self.text += &format!("if {condition} {{ {leave}; }}\n");
                self.block(depth - 1, result);
                self.loops -= 1;
                self.text += &format!("a += kept{counter};\n}}\n");
            }
            7 => {
                let selector = self.expression(2);
                self.text += &format!("switch {selector} % 4u {{\ncase 0u, 2u: {{\n");
                self.block(depth - 1, result);
                self.text += "}\ncase 1u: {\n";
                self.block(depth - 1, result);
                self.text += "}\ndefault: {\n";
                self.block(depth - 1, result);
                self.text += "}\n}\n";
            }
            _ => {
                let (condition, value) = (self.condition(1), self.expression(2));
                self.text += &format!("if {condition} {{ {} }}\n", result.replace("VALUE", &value));
            }
        }
    }

    /// Returns a program whose function is called twice.
    fn program(seed: u64) -> String {
        let mut writer = Self { state: seed, text: String::new(), loops: 1, counters: 0 };
        let variables = "var a = x; var b = y; var c = lane; var list = array<u32, 4>(x, y, 3u, lane);\n";
        writer.text += "@group(0) @binding(0) var<storage, read_write> out: array<u32>;\n";
        writer.text += "fn helper(x: u32, y: u32) -> u32 {\nlet lane = x;\n";
        writer.text += variables;
        writer.block(3, "return VALUE;");
        writer.text += "return a ^ b ^ c ^ list[1];\n}\n";
        writer.loops = 0;
        writer.text += "@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) lane: u32) {\n";
        writer.text += "let x = lane * 7u; let y = lane ^ 21u;\n";
        writer.text += variables;
        writer.block(4, "out[lane] = VALUE; return;");
        writer.text += "out[lane] = helper(a % 16u, b) + a + b * 3u + c * 5u + list[2];\n}\n";
        writer.text
    }
}

#[test]
fn any_number_of_invocations_computes_the_same() {
    let mut different = 0;
    for program in 0..300 {
        let source = Writer::program(program);
        let mut litmus = Litmus::new(&source, Profile::with_subgroups(8).exact(), vec![garbage(64)]);
        let results: Vec<Vec<u32>> = (0..12)
            .map(|seed| {
                let findings = litmus.run(seed);
                assert!(findings.is_empty(), "{source}\n{findings:#?}");
                litmus.words(0)
            })
            .collect();
        assert!(results.iter().all(|result| *result == results[0]), "program {program}:\n{source}\n{results:?}");
        different += usize::from(results[0].iter().any(|&word| word != results[0][0]));
    }
    // The programs are of use only if invocations differ.
    assert!(different > 200, "{different}");
}
