//! A verification: an experiment whose file has claims.

use super::super::interrupt::Saved;
use super::super::outputs::Overwriting;
use super::super::{Failure, Outcome, many, print};
use super::{Call, begins, clear, of_file, within};
use fiedler::Context;
use fiedler::experiment::statistics::{Interval, Status};
use fiedler::experiment::{Claim, Verification, Verified};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Instant;

/// The page of a verification.
const PAGE: &str = "verification.md";

impl Call {
    fn verification(&self) -> Result<(Verification, PathBuf), Failure> {
        self.printing.begin();
        let verification = Verification::read(&self.file, self.quick).map_err(of_file)?;
        let name = &verification.name;
        let own = || PathBuf::from(if self.quick { format!("{name}-quick") } else { name.clone() });
        Ok((verification.clone(), self.output.clone().unwrap_or_else(own)))
    }

    /// Says which claims would be checked.
    pub(super) fn plan_claims(&self) -> Result<Outcome, Failure> {
        let (verification, folder) = self.verification()?;
        if self.printing.json {
            print(serde_json::to_string(&verification.kinds).unwrap_or_default());
        } else if !self.printing.quiet {
            let kinds = verification.kinds.iter().map(|kind| serde_json::to_string(kind).unwrap_or_default());
            print(format_args!("{}: {}", folder.display(), kinds.collect::<Vec<_>>().join("\n  ")));
        }
        Ok(Outcome::Done)
    }

    /// Checks all claims. A claim that fails is a failure of the call.
    /// If `new` is `None`, those that were not checked.
    pub(super) fn verify(&self, new: Option<Overwriting>) -> Result<Outcome, Failure> {
        let (verification, folder) = self.verification()?;
        begins(&folder, new, Verification::is_begun(&folder), "a verification")?;
        // A device is compared with the CPU only if one was asked for, or is there anyway.
        let ctx = if self.place.is_said() { self.place.context()? } else { self.place.with(Context::builder())? };
        clear(&folder, new)?;
        let bar = self.printing.bar(verification.kinds.len(), "{bar:20} {msg}");
        let began = Instant::now();
        let saved = Saved::begin("`fiedler experiment resume`");
        let found = verification.run(&ctx, &folder, |kind| {
            bar.set_message(format!("claims of the kind {}", kind.name()));
            bar.inc(1);
        });
        drop(saved);
        bar.finish_and_clear();
        let found = found?;
        if self.printing.json {
            print(serde_json::to_string(&found).unwrap_or_default());
        } else if !self.printing.quiet {
            print(words(&found, began.elapsed().as_secs_f64(), &within(&folder, PAGE)));
        }
        outcome(&found)
    }

    /// Says what was found in the folder of a verification, and checks nothing.
    pub(super) fn report_claims(&self) -> Result<Outcome, Failure> {
        self.printing.begin();
        let folder = if self.file.is_dir() { self.file.clone() } else { self.verification()?.1 };
        if !Verification::is_begun(&folder) {
            let shown = folder.display();
            return Err(Failure::Call(format!("{shown}: expected the folder of a verification, found none")));
        }
        let found = Verified::read(&folder)?;
        if self.printing.json {
            print(serde_json::to_string(&found).unwrap_or_default());
        } else if !self.printing.quiet {
            print(found.to_markdown().trim_end());
        }
        outcome(&found)
    }
}

fn outcome(found: &Verified) -> Result<Outcome, Failure> {
    match (found.count(Status::Fail), found.count(Status::Undecided) + found.missing.len()) {
        (0, 0) => Ok(Outcome::Done),
        (0, _) => Ok(Outcome::Uncertified),
        (failed, _) => Err(Failure::Said(format!("{} failed", many(failed, "claim", "claims")))),
    }
}

fn words(found: &Verified, seconds: f64, page: &str) -> String {
    let mut text = String::new();
    for Claim { status, statement, note, estimate, interval, rule, .. } in &found.claims {
        let estimate = estimate.map_or_else(|| "no estimate".to_owned(), |x| format!("{x:.4e}"));
        let interval = interval.map_or_else(String::new, |Interval { low, high, level }| {
            format!(", {} % interval {low:.4} to {high:.4}", (1e4 * level).round() / 100.0)
        });
        let note = if note.is_empty() { String::new() } else { format!(" ({note})") };
        let _ = writeln!(text, "{:9} {statement}{note}", status.name());
        let _ = writeln!(text, "{:9} {estimate}{interval}; rule: {rule}", "");
    }
    let count = |status| found.count(status);
    let _ = write!(
        text,
        "{}: {} pass, {} fail, {} undecided; {seconds:.1} s; {page}",
        many(found.claims.len(), "claim", "claims"),
        count(Status::Pass),
        count(Status::Fail),
        count(Status::Undecided)
    );
    text
}
