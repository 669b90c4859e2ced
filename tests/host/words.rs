//! The language of the sources and the documentation: phrases that must not come back, and the width of comments.

use std::fs;
use std::path::PathBuf;

/// Phrases of a private English, British spellings, and names of algorithms that are not used. Each is searched as whole words,
/// in lower case.
const BANNED: [&str; 27] = [
    "so many",
    "insisted upon",
    "nobody",
    "somebody",
    "upon",
    "altogether",
    "comes along",
    "came along",
    "goes by the",
    "the caller's affair",
    "as it lies",
    "where it lies",
    "where they lie",
    "lies on the device",
    "lies on the host",
    "stockham",
    "orthogonalise",
    "diagonalise",
    "tridiagonalise",
    "normalise",
    "normalised",
    "symmetrise",
    "factorise",
    "randomise",
    "colour",
    "neighbour",
    "behaviour",
];

/// Columns that a comment may have: rustfmt's `max_width`, which rustfmt itself applies to code alone.
const WIDTH: usize = 120;

/// Every file of these folders with one of these endings, and the pages of the root, without generated shaders, lists of
/// measurements and this file.
fn files() -> Vec<PathBuf> {
    let root = common::root();
    let all = |names: &str| names.split(' ').map(|name| root.join(name)).collect::<Vec<PathBuf>>();
    let mut folders = all("src cli/src cli/tests shaders tests tools benches examples docs fuzz site web");
    let mut files = all("README.md ARCHITECTURE.md CHANGELOG.md CONTRIBUTING.md SECURITY.md CODE_OF_CONDUCT.md");
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
            if path.is_dir() {
                if !["generated", "results", "golden", "target", "data", "dist"].contains(&name) {
                    folders.push(path);
                }
            } else if [".rs", ".wgsl", ".md", ".py", ".sh", ".html", ".js", ".mjs"]
                .iter()
                .any(|ending| name.ends_with(ending))
                && name != "words.rs"
            {
                files.push(path);
            }
        }
    }
    assert!(files.len() > 400, "only {} files were found", files.len());
    files
}

/// The banned phrases of a text, each with its line. A phrase may run over the end of a line of a comment.
fn banned(text: &str) -> Vec<(usize, &'static str)> {
    let mut words: Vec<(usize, String)> = Vec::new();
    for (line, text) in text.lines().enumerate() {
        let apart = |c: char| !c.is_alphanumeric() && c != '\'' && c != '_';
        words.extend(text.split(apart).filter(|word| !word.is_empty()).map(|word| (line + 1, word.to_lowercase())));
    }
    let mut found = Vec::new();
    for phrase in BANNED {
        let wanted: Vec<&str> = phrase.split(' ').collect();
        let here = words.windows(wanted.len()).filter(|own| own.iter().map(|(_, word)| word).eq(wanted.iter()));
        found.extend(here.map(|own| (own[0].0, phrase)));
    }
    found
}

/// The lines whose comment ends beyond [`WIDTH`]. A table's row or an address cannot be broken.
fn too_wide(text: &str) -> Vec<usize> {
    let comment = |line: &str| {
        let start = line.trim_start();
        start.starts_with("//") && !start.trim_start_matches(['/', '!', ' ']).starts_with('|') && !line.contains("://")
    };
    let wide = |line: &str| line.chars().count() > WIDTH && comment(line);
    text.lines().enumerate().filter(|(_, line)| wide(line)).map(|(i, _)| i + 1).collect()
}

#[test]
fn banned_phrases_do_not_come_back() {
    let mut found = Vec::new();
    for file in files() {
        let text = fs::read_to_string(&file).expect("text");
        found.extend(banned(&text).into_iter().map(|(line, phrase)| format!("{}:{line}: {phrase}", file.display())));
    }
    assert!(found.is_empty(), "say it in plain words:\n{}", found.join("\n"));
}

#[test]
fn comments_keep_to_the_width_of_the_code() {
    let mut found = Vec::new();
    for file in files().into_iter().filter(|file| {
        file.extension().is_some_and(|own| ["rs", "wgsl", "js", "mjs"].iter().any(|ending| own == *ending))
    }) {
        let text = fs::read_to_string(&file).expect("text");
        found.extend(too_wide(&text).into_iter().map(|line| format!("{}:{line}", file.display())));
    }
    assert!(found.is_empty(), "more than {WIDTH} columns:\n{}", found.join("\n"));
}

#[test]
fn the_search_finds_what_it_has_to() {
    let text = "//! Numbers, so\n//! many of them.\nfn there_upon() {} // once upon a time";
    assert_eq!(banned(text), [(1, "so many"), (3, "upon")]);
    let wide = format!("{}// {}\n/// | {} |", " ".repeat(8), "x".repeat(110), "x".repeat(120));
    assert_eq!(too_wide(&wide), [1]);
}
