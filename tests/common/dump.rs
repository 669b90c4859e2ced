//! Stores the case that made a check fail, so that it can be studied where the adapter is no longer at hand.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, process};

/// The environment variable that names the folder of the files. Without it, nothing is stored.
const DUMP: &str = "FIEDLER_TRIAL_DUMP";
/// The most numbers of a case, about 1 MB of text, and the most files of a process.
const LARGEST: usize = 1 << 16;
const MOST: usize = 4;

/// Writes a file of text with `why` in its first line, and then every array: a line with its name and its length, and a
/// line for each number. Column-major arrays stay as they are.
pub fn dump(why: &str, arrays: &[(&str, &[f64])]) {
    static WRITTEN: AtomicUsize = AtomicUsize::new(0);
    let Some(folder) = env::var_os(DUMP) else { return };
    if arrays.iter().map(|(_, x)| x.len()).sum::<usize>() > LARGEST || WRITTEN.load(Ordering::Relaxed) >= MOST {
        return;
    }
    let mut text = format!("{}\n", why.replace('\n', " "));
    for (name, numbers) in arrays {
        text += &format!("{name} {}\n", numbers.len());
        numbers.iter().for_each(|x| text += &format!("{x:e}\n"));
    }
    let name = format!("{}-{}.txt", process::id(), WRITTEN.fetch_add(1, Ordering::Relaxed));
    // The check fails anyway, and its message says why.
    let _ = fs::write(std::path::Path::new(&folder).join(name), text);
}
