//! What packages install beside the command: completions of shells, and man pages.

use crate::call::{Files, run};
use std::path::Path;
use std::process::Command;

fn said(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns the subcommands that the help of `call` lists.
fn subcommands(call: &[&str]) -> Vec<String> {
    let help = said(&run(&[call, &["--help"]].concat()).stdout);
    let listed = help.split_once("\nCommands:\n").map_or("", |(_, after)| after);
    let names = listed.lines().take_while(|line| line.starts_with("  ")).filter(|line| !line.starts_with("   "));
    names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").map(str::to_owned).collect()
}

#[test]
fn completions_are_scripts_of_each_shell() {
    let files = Files::new();
    let names = subcommands(&[]);
    assert!(names.len() > 10, "{names:?}");
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let output = run(&["completions", shell]);
        assert_eq!(output.status.code(), Some(0), "{shell}: {}", said(&output.stderr));
        let script = said(&output.stdout);
        for name in &names {
            assert!(script.contains(name.as_str()), "{shell}: no {name}");
        }
        let path = files.text(shell, &script);
        // Shells that are not installed check nothing.
        if let ("bash" | "fish" | "zsh", Ok(checked)) = (shell, Command::new(shell).args(["-n", &path]).output()) {
            assert!(checked.status.success(), "{shell}: {}", said(&checked.stderr));
        }
    }
    let output = run(&["completions", "tcsh"]);
    let error = said(&output.stderr);
    assert!(output.status.code() == Some(2) && error.contains("bash, elvish, fish, powershell, zsh"), "{error}");
}

#[test]
fn every_subcommand_has_a_man_page_and_is_in_the_guide() {
    let files = Files::new();
    let folder = files.at("man1");
    let output = run(&["man", "-o", &folder]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output.stderr));
    let page = |name: &str| {
        let page = Path::new(&folder).join(format!("{name}.1"));
        std::fs::read_to_string(&page).unwrap_or_else(|error| panic!("{}: {error}", page.display()))
    };
    assert!(page("fiedler").contains("FIEDLER_MEMORY_BUDGET"));
    assert!(page("fiedler-encode").contains("walk"));
    let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/command.md");
    let guide = std::fs::read_to_string(guide).expect("the guide");
    let mut expected = 1;
    for name in subcommands(&[]) {
        assert!(guide.contains(&format!("fiedler {name} ")), "docs/command.md has no `fiedler {name}`");
        let own = subcommands(&[&name]);
        expected += 1 + own.len();
        for page_of in own.iter().map(|own| format!("fiedler-{name}-{own}")).chain([format!("fiedler-{name}")]) {
            let text = page(&page_of);
            let head = format!(".TH {page_of} 1  \"fiedler {}\"", env!("CARGO_PKG_VERSION"));
            assert!(text.contains(&head) && text.contains(".SH SYNOPSIS"), "{page_of}: {text}");
        }
    }
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), expected);
}
