//! The files of a tournament.

use super::{Kind, PairRow, Tournament};
use crate::error::Result;
use crate::io;
use std::fmt::Write as _;
use std::path::Path;

/// The name of the file with a row for each pair.
pub const PAIRS: &str = "pairs.csv";
/// The name of the result in JSON.
pub const REPORT: &str = "report.json";
/// The name of the result in Markdown.
pub const MARKDOWN: &str = "report.md";

/// The most pairs, and the most groups, that Markdown lists.
const LISTED: usize = 60;
/// The pairs at either end that Markdown lists if there are more.
const ENDS: usize = 20;

impl Tournament {
    /// Writes `pairs.csv`, `report.json` and `report.md` into a new folder, which appears as a whole or not at all.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Io`] if the folder exists, or the operating system reports an error.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let json = serde_json::to_string_pretty(self).unwrap_or_default();
        let (csv, markdown) = (self.to_csv(), self.to_markdown());
        io::write_texts(folder, &[(PAIRS, &csv), (REPORT, &format!("{json}\n")), (MARKDOWN, &markdown)])
    }

    /// Returns a table in CSV with a row for each pair: the names and the classes of the groups, the difference of the
    /// shares of ones, and the columns. What a pair does not have is empty.
    #[must_use]
    pub fn to_csv(&self) -> String {
        let mut table = csv::Writer::from_writer(Vec::new());
        let fixed = ["first", "second", "first_class", "second_class", "difference_of_shares"];
        // Writing to memory does not fail.
        let _ = table.write_record(fixed.into_iter().chain(self.columns.iter().map(|column| column.name)));
        for pair in &self.pairs {
            let classes = pair.groups.map(|group| self.groups[group].class.clone().unwrap_or_default());
            let head = pair.names.iter().chain(&classes).cloned().chain([pair.difference.to_string()]);
            let cells = pair.values.iter().map(|value| value.map_or_else(String::new, written));
            let _ = table.write_record(head.chain(cells));
        }
        String::from_utf8(table.into_inner().unwrap_or_default()).unwrap_or_default()
    }

    /// Returns the result as Markdown. If there are more than 60 pairs, it lists the 20 with the largest and the 20
    /// with the smallest scores.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        let title = match self.kind {
            Kind::Kl => "Divergences of pairs (KL)",
            Kind::Qgan => "Adversarial imitation of pairs (qGAN)",
            Kind::C2st => "Classifier two-sample tests of pairs (C2ST)",
        };
        let settings: Vec<String> = self.settings.iter().map(|(name, value)| format!("{name} {value}")).collect();
        let strings: usize = self.groups.iter().map(|group| group.strings).sum();
        let pairs = if self.pairs.len() == 1 { "pair" } else { "pairs" };
        let mut text = format!(
            "# {title}\n\n{} groups, {} {pairs}; {strings} strings of {} bits; {}.\n",
            self.groups.len(),
            self.pairs.len(),
            self.bits,
            settings.join(", ")
        );
        text.push_str("\n## What the scores tell\n\n");
        self.notes.iter().for_each(|note| text.push_str(&format!("- {note}\n")));
        self.add_relations(&mut text);
        self.add_groups(&mut text);
        self.add_pairs(&mut text);
        text.push_str("\n## Columns\n\n");
        for column in &self.columns {
            let _ = writeln!(text, "- `{}`: {}", column.name, column.meaning);
        }
        text
    }

    fn add_relations(&self, text: &mut String) {
        text.push_str("\n## Relations\n\nThe correlations are those with the difference of the shares of ones.\n\n");
        text.push_str("| score | mean | sd of pairs | Pearson | p | Spearman | p | within classes | between | p |\n");
        text.push_str("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n");
        for own in &self.relations {
            let (pearson, spearman) = (own.pearson, own.spearman);
            let classes = own.classes;
            let cells = [
                Some(own.mean),
                own.deviation,
                pearson.map(|found| found.r),
                pearson.map(|found| found.p),
                spearman.map(|found| found.r),
                spearman.map(|found| found.p),
                classes.map(|found| found.within),
                classes.map(|found| found.between),
                classes.map(|found| found.p),
            ];
            let _ = writeln!(text, "| `{}` | {} |", own.score, cells.map(shown).join(" | "));
        }
        if let Some(own) = self.relations.first() {
            let all = match own.exact {
                true => format!("all {} arrangements", own.arrangements),
                false => format!("{} random arrangements", own.arrangements),
            };
            let _ = writeln!(text, "\nPairs share groups, so p values are those of {all} of the groups.");
        }
    }

    fn add_groups(&self, text: &mut String) {
        if self.groups.len() > LISTED {
            return;
        }
        text.push_str("\n## Groups\n\n| group | class | strings | share of ones |\n|---|---|---:|---:|\n");
        for group in &self.groups {
            let class = group.class.as_deref().unwrap_or("-");
            let (name, class) = (escaped(&group.name), escaped(class));
            let _ = writeln!(text, "| {name} | {class} | {} | {:.4} |", group.strings, group.share_of_ones);
        }
    }

    fn add_pairs(&self, text: &mut String) {
        text.push_str("\n## Pairs\n\n");
        let mut order: Vec<usize> = (0..self.pairs.len()).collect();
        if order.len() > LISTED {
            let score = |&place: &usize| self.value(self.score, place).unwrap_or(f64::NEG_INFINITY);
            order.sort_by(|a, b| score(b).total_cmp(&score(a)));
            order.drain(ENDS..self.pairs.len() - ENDS);
            let _ = writeln!(
                text,
                "The {ENDS} pairs with the largest `{}`, and the {ENDS} with the smallest; {PAIRS} has all.\n",
                self.score
            );
        }
        let names: Vec<&str> = self.columns.iter().map(|column| column.name).collect();
        let _ = writeln!(text, "| pair | difference of shares | {} |", names.join(" | "));
        let _ = writeln!(text, "|---|---:|{}", "---:|".repeat(names.len()));
        for place in order {
            let PairRow { names: [first, second], difference, values, .. } = &self.pairs[place];
            let cells: Vec<String> = values.iter().map(|&value| shown(value)).collect();
            let name = escaped(&format!("{first} - {second}"));
            let _ = writeln!(text, "| {name} | {} | {} |", shown(Some(*difference)), cells.join(" | "));
        }
    }
}

/// Returns a number with all its digits, and with an exponent if it is small.
fn written(value: f64) -> String {
    if value != 0.0 && value.abs() < 1e-4 { format!("{value:e}") } else { value.to_string() }
}

/// Returns a number with four decimals, or, if it is small, four digits.
fn shown(value: Option<f64>) -> String {
    match value {
        None => "-".to_owned(),
        Some(value) if value.fract() == 0.0 => format!("{value:.0}"),
        Some(value) if value.abs() < 1e-3 => format!("{value:.2e}"),
        Some(value) => format!("{value:.4}"),
    }
}

/// Escapes what would end a cell of a table.
fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
