//! `fiedler completions` and `fiedler man`: what a package installs beside the command, from the definitions that
//! `--help` shows.

use super::outputs::{Told, check_around};
use super::{Failure, Outcome, Words, many, print, words};
use clap::Args;
use clap_complete::Shell;
use fiedler::io;
use std::path::PathBuf;

/// Print what makes a shell complete the arguments of `fiedler`.
#[derive(Debug, Args)]
pub(super) struct Completions {
    /// The shell.
    shell: Shell,
}

/// Write the man pages: one for `fiedler`, and one for each subcommand.
#[derive(Debug, Args)]
pub(super) struct Man {
    /// The folder to write to.
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    #[command(flatten)]
    told: Told,
}

impl Completions {
    pub(super) fn run(self) -> Result<Outcome, Failure> {
        // In memory first, because `generate` panics where standard output is closed.
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut words(), "fiedler", &mut script);
        print(String::from_utf8_lossy(&script).trim_end());
        Ok(Outcome::Done)
    }
}

impl Man {
    pub(super) fn run(self) -> Result<Outcome, Failure> {
        self.told.overwriting.check_folder(&self.output, "")?;
        check_around(&self.output)?;
        let mut words = words().disable_help_subcommand(true);
        words.build();
        let mut written = Vec::new();
        pages(words, &mut written);
        let files: Vec<(&str, &str)> = written.iter().map(|(name, text)| (&**name, &**text)).collect();
        io::fill_folder(&self.output, |folder| io::write_texts(folder, &files))?;
        self.told.say(&self.output, many(files.len(), "man page", "man pages"));
        Ok(Outcome::Done)
    }
}

/// Appends the pages of a command and of its subcommands, with their names.
fn pages(words: Words, written: &mut Vec<(String, String)>) {
    for words in words.get_subcommands().filter(|words| !words.is_hide_set()) {
        pages(words.clone(), written);
    }
    let page = clap_mangen::Man::new(words).source(concat!("fiedler ", env!("CARGO_PKG_VERSION")));
    let mut text = Vec::new();
    // Writing to memory does not fail.
    let _ = page.render(&mut text);
    written.push((page.get_filename(), String::from_utf8_lossy(&text).into_owned()));
}
