//! Stored columns of features: what is found after a data set, a representation or a file has changed, and that the
//! columns have the same bits whether they are found or computed.

use fiedler::cache::Cache;
use fiedler::features::{Extracted, Extractor, Report, Representation};
use fiedler::io::{self, Data, Layers, NamedArray, Rows};
use fiedler::{Cancel, Context, ErrorKind};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

/// The numbers of a sample of `x`, so that a block of 1 MiB has 32 samples.
const WIDE: usize = 8192;
/// The numbers of a sample of `z`, whose blocks have up to 4096 samples.
const NARROW: usize = 50;

/// A folder with data sets and a cache.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes samples of two layers. The numbers of a sample depend on its place alone.
    fn write(&self, file: &str, names: [&str; 2], samples: usize) -> PathBuf {
        let path = self.at(file);
        let (x, z) = (numbers(samples, WIDE), numbers(samples, NARROW));
        let array = |name, width, data| NamedArray { name, rows: Rows::Other, shape: vec![samples, width], data };
        let arrays = [array(names[0], WIDE, Data::F32(&x)), array(names[1], NARROW, Data::F32(&z))];
        io::write(&path, &arrays).unwrap();
        path
    }

    fn cache(&self) -> Arc<Cache> {
        Arc::new(Cache::new().packs(self.at("cache"), 1 << 30))
    }

    /// Extracts with a cache, as a process of its own would.
    fn run(&self, path: &Path, list: &str) -> Extracted {
        let cache = self.cache();
        let found = extractor(list).cache(Arc::clone(&cache)).extract(&Context::cpu(), &open(path)).unwrap();
        assert_eq!((cache.counters().damaged, cache.counters().refused), (0, 0));
        // What was computed is written although the cache is still there.
        let written = self.at("cache").exists();
        assert!(written || found.report().units[1] == 0);
        found
    }

    /// Extracts with a cache, compares with what is computed without one, and returns the report.
    fn report(&self, path: &Path, list: &str) -> Report {
        let found = self.run(path, list);
        same(&found, &plain(path, list));
        found.report()
    }
}

/// What was stored of a file before its damage was found does not hide the damage the next time.
#[test]
fn a_damaged_archive_is_refused_again_and_again() {
    let place = Place::new();
    let path = place.write("a.npz", ["x", "z"], 100);
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 3;
    bytes[middle] ^= 1;
    fs::write(&path, bytes).unwrap();
    for _ in 0..3 {
        let refused = extractor("moments").cache(place.cache()).extract(&Context::cpu(), &open(&path)).unwrap_err();
        assert!(refused.to_string().contains("checksum"), "{refused}");
    }
}

fn numbers(samples: usize, width: usize) -> Vec<f32> {
    let number = |i: usize| (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    (0..samples * width).map(|i| number(i) as f32 / 1e6 - 3.0).collect()
}

fn open(path: &Path) -> Layers {
    Layers::open(&[path.to_owned()]).unwrap()
}

fn extractor(list: &str) -> Extractor {
    Extractor::new(Representation::parse_list(list).unwrap())
}

fn plain(path: &Path, list: &str) -> Extracted {
    extractor(list).extract(&Context::cpu(), &open(path)).unwrap()
}

fn same(a: &Extracted, b: &Extracted) {
    let bits = |one: &Extracted| one.values().iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    assert!(bits(a) == bits(b) && a.status() == b.status() && a.names() == b.names());
}

/// Sets the time of modification to some seconds ago.
fn age(path: &Path, seconds: u64) {
    let file = File::options().append(true).open(path).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).unwrap();
}

/// Changes a byte in place.
fn edit(path: &Path, at: usize) {
    let mut bytes = fs::read(path).unwrap();
    bytes[at] ^= 0x10;
    fs::write(path, bytes).unwrap();
}

const LIST: &str = "simple_stats,quantiles";

#[test]
fn cold_warm_and_partly_warm_runs_have_the_same_bytes() {
    let place = Place::new();
    let path = place.write("set.npz", ["x", "z"], 100);
    age(&path, 60);
    let bytes = 4 * 100 * (WIDE + NARROW) as u64;
    // 4 blocks of x and 1 of z, for 2 representations.
    let cold = place.report(&path, LIST);
    assert_eq!((cold.units, cold.bytes), ([0, 10], bytes));
    let warm = place.report(&path, LIST);
    assert_eq!((warm.units, warm.bytes, warm.status), ([10, 0], 0, cold.status));
    // A new representation computes only itself, and reads the data set. The order and the number of representations
    // do not matter.
    let partly = place.report(&path, "moments,quantiles,simple_stats");
    assert_eq!((partly.units, partly.bytes), ([10, 5], bytes));
    assert_eq!(place.report(&path, "moments").units, [5, 0]);
    let other = place.report(&path, "moments(ddof=1)");
    assert_eq!(other.units, [0, 5], "a parameter is in the key");
    // A layer that is chosen alone is found, since its blocks have the same samples.
    let cache = place.cache();
    let one = extractor(LIST).layers(&["x".to_owned()]).cache(cache).extract(&Context::cpu(), &open(&path)).unwrap();
    assert_eq!((one.report().units, one.report().bytes), ([8, 0], 0));
    same(&one, &extractor(LIST).layers(&["x".to_owned()]).extract(&Context::cpu(), &open(&path)).unwrap());
}

/// While the columns of some samples are passed on, others are read and computed.
#[test]
fn an_extraction_ends_where_its_caller_fails_and_keeps_what_was_computed() {
    let place = Place::new();
    let path = place.write("set.npz", ["x", "z"], 320);
    age(&path, 60);
    let x = || extractor(LIST).layers(&["x".to_owned()]).cache(place.cache());
    let failed = x().stream(&Context::cpu(), &open(&path), |_, _, progress| match progress.samples {
        64 => Err(ErrorKind::Cancelled.into()),
        _ => Ok(()),
    });
    assert!(matches!(failed.unwrap_err().kind(), ErrorKind::Cancelled));
    let mut rows = 0;
    let report = x().stream(&Context::cpu(), &open(&path), |_, status, _| {
        rows += status.len();
        Ok(())
    });
    // Of 10 blocks, at least the first 2 were collected.
    let units = report.unwrap().units;
    assert!(rows == 320 && units[0] >= 4 && units[0] + units[1] == 20, "{units:?}");
    // Nothing is left to compute, and still the work can be cancelled.
    let cancel = Cancel::new();
    let ctx = Context::builder().device(false).cancel(cancel.clone()).build().unwrap();
    let cancelled = x().stream(&ctx, &open(&path), |_, _, _| {
        cancel.cancel();
        Ok(())
    });
    assert!(matches!(cancelled.unwrap_err().kind(), ErrorKind::Cancelled));
}

#[test]
fn a_damaged_pack_is_computed_again() {
    let place = Place::new();
    let path = place.write("set.safetensors", ["x", "z"], 40);
    age(&path, 60);
    let wanted = place.run(&path, LIST);
    let pack = fs::read_dir(place.at("cache")).unwrap().next().unwrap().unwrap().path();
    let whole = fs::read(&pack).unwrap();
    for at in [3, whole.len() / 3, whole.len() - 100, whole.len() - 3] {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        fs::remove_dir_all(place.at("cache")).unwrap();
        fs::create_dir(place.at("cache")).unwrap();
        fs::write(&pack, bytes).unwrap();
        let cache = place.cache();
        let found = extractor(LIST).cache(Arc::clone(&cache)).extract(&Context::cpu(), &open(&path)).unwrap();
        same(&found, &wanted);
        assert!(cache.counters().damaged == 1 && found.report().units[1] > 0, "byte {at}: {:?}", found.report());
        drop(cache);
        let again = place.run(&path, LIST);
        same(&again, &wanted);
        assert_eq!((again.report().units, again.report().bytes), ([6, 0], 0), "byte {at}");
    }
}

#[test]
fn what_did_not_change_is_found() {
    let place = Place::new();
    let list = "simple_stats";
    let path = place.write("set.safetensors", ["x", "z"], 320);
    assert_eq!(place.report(&path, list).units, [0, 11]);
    // 10 % of samples are appended: of 11 blocks of x, 10 are found. The only block of z was not full.
    let longer = place.write("longer.safetensors", ["x", "z"], 352);
    assert_eq!(place.report(&longer, list).units, [10, 2]);
    // Neither the name of the file, nor its format, nor the names of the layers matter. They are read, because no
    // fingerprint is stored for them.
    let renamed = place.write("renamed.npz", ["first", "second"], 320);
    let report = place.report(&renamed, list);
    assert_eq!((report.units, report.bytes), ([11, 0], 4 * 320 * (WIDE + NARROW) as u64));
    // A row that changed costs its block of one layer.
    let end = fs::metadata(&path).unwrap().len() as usize;
    edit(&path, end - 4 * WIDE * 320 / 2);
    assert_eq!(place.report(&path, list).units, [10, 1]);
}

#[test]
fn a_fingerprint_counts_only_while_the_file_is_the_same() {
    let place = Place::new();
    let path = place.write("set.safetensors", ["x", "z"], 40);
    let read = |path: &Path| place.report(path, "simple_stats").bytes;
    let all = 4 * 40 * (WIDE + NARROW) as u64;
    // A file that was changed just now may change again at the same time, as clocks of file systems count. A time in
    // the future says nothing.
    let soon = SystemTime::now() + Duration::from_secs(3600);
    File::options().append(true).open(&path).unwrap().set_modified(soon).unwrap();
    assert_eq!((read(&path), read(&path)), (all, all));
    age(&path, 60);
    assert_eq!((read(&path), read(&path)), (all, 0));
    // Another path to the same file.
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&path, place.at("link.safetensors")).unwrap();
        assert_eq!(read(&place.at("link.safetensors")), 0);
    }
    // A change in place that keeps the length. Even with its time set back, Unix tells it.
    let modified = path.metadata().unwrap().modified().unwrap();
    edit(&path, fs::metadata(&path).unwrap().len() as usize - 3);
    if cfg!(unix) {
        File::options().append(true).open(&path).unwrap().set_modified(modified).unwrap();
    } else {
        age(&path, 30);
    }
    assert_eq!((read(&path), read(&path)), (all, 0));
    // A copy in its place, with another row changed.
    let copy = place.at("copy");
    fs::copy(&path, &copy).unwrap();
    edit(&copy, fs::metadata(&path).unwrap().len() as usize - 5);
    age(&copy, 20);
    fs::rename(&copy, &path).unwrap();
    assert_eq!((read(&path), read(&path)), (all, 0));
    // Without the cache, the same file is read once more.
    fs::remove_dir_all(place.at("cache")).unwrap();
    assert_eq!((read(&path), read(&path)), (all, 0));
}

/// Every sample is a file. All files of a block have one fingerprint.
#[test]
fn fingerprints_of_files_that_are_samples() {
    let place = Place::new();
    let folder = place.at("set");
    fs::create_dir(&folder).unwrap();
    let samples = 150;
    let (x, z) = (numbers(samples, 30), numbers(samples, 20));
    for sample in 0..samples {
        let array = |name, width, data| NamedArray { name, rows: Rows::Other, shape: vec![width], data };
        let (x, z) = (&x[sample * 30..][..30], &z[sample * 20..][..20]);
        let path = folder.join(format!("s{sample}.safetensors"));
        io::write(&path, &[array("x", 30, Data::F32(x)), array("z", 20, Data::F32(z))]).unwrap();
        age(&path, 60);
    }
    // Blocks of 64, 64 and 22 samples, of 2 layers.
    let cold = place.report(&folder, LIST);
    assert_eq!((cold.units, cold.bytes), ([0, 12], 4 * 50 * 150));
    let warm = place.report(&folder, LIST);
    assert_eq!((warm.units, warm.bytes), ([12, 0], 0));
    let one = folder.join("s70.safetensors");
    let end = fs::metadata(&one).unwrap().len() as usize;
    edit(&one, end - 2);
    age(&one, 30);
    // One of the layers of this sample has changed. Both are read.
    let changed = place.report(&folder, LIST);
    assert_eq!((changed.units, changed.bytes), ([10, 2], 4 * 50 * 64));
    assert_eq!(place.report(&folder, LIST).bytes, 0);
}

/// Tables and arrays that are read as a whole when they are opened have no fingerprints, but their columns are found.
#[test]
fn without_fingerprints() {
    let place = Place::new();
    let table = place.at("set.csv");
    let rows: Vec<String> = numbers(200, 5).chunks(5).map(|row| format!("{row:?}")).collect();
    fs::write(&table, rows.join("\n").replace(['[', ']'], "")).unwrap();
    age(&table, 60);
    let data = open(&table);
    assert_eq!(data.origins(&[0], 0..10), [None]);
    assert_eq!(place.report(&table, LIST).units, [0, 2]);
    let warm = place.report(&table, LIST);
    assert_eq!((warm.units, warm.bytes), ([2, 0], 8 * 1000));
    // What an origin depends on.
    let path = place.write("set.npz", ["x", "z"], 40);
    age(&path, 60);
    let data = open(&path);
    let origins = data.origins(&[0, 1, 0], 3..9);
    assert!(origins[0].is_some() && origins[0] == origins[2] && origins[0] != origins[1]);
    assert_ne!(data.origins(&[0], 3..8), origins[..1]);
    assert_eq!(data.origins(&[2], 3..9), [None]);
    assert_eq!(data.origins(&[0], 30..41), [None]);
    assert_eq!(open(&path).origins(&[0], 3..9), origins[..1]);
    age(&path, 0);
    assert_eq!(data.origins(&[0], 3..9), [None]);
}
