//! Tests of packs, which store many small entries in a file: what was stored comes back, and only that, whatever
//! happens to the files.

use fiedler::cache::{Cache, Key, KeyHasher, Value};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

/// The bytes of a pack in addition to its values: the header and the trailer, and an entry of the index.
const FRAME: u64 = 52;
const ENTRY: u64 = 64;

fn key(number: u64) -> Key {
    KeyHasher::new("tests of packs").number(number).finish()
}

fn value(number: u64, length: usize) -> Value {
    (0..length).map(|i| (number as usize * 31 + i * i) as u8).collect()
}

fn open(folder: &Path) -> Cache {
    Cache::new().packs(folder, u64::MAX)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn packs(folder: &Path) -> Vec<PathBuf> {
    let mut files = files(folder);
    files.retain(|path| path.extension().is_some_and(|ending| ending == "pack"));
    files
}

fn bytes(folder: &Path) -> u64 {
    packs(folder).iter().map(|path| path.metadata().unwrap().len()).sum()
}

fn age(path: &Path, minutes: u64) {
    let file = File::options().append(true).open(path).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(60 * minutes)).unwrap();
}

#[test]
fn entries_come_back() {
    let folder = TempDir::new().unwrap();
    let inner = folder.path().join("made/when/needed");
    let length = |i: u64| (i * i * 7 % 5000) as usize;
    let cache = open(&inner);
    assert!(cache.get(&key(0)).is_none() && !inner.exists());
    (0..200).for_each(|i| cache.put(key(i), &value(i, length(i))));
    // Before they are written, after that, and in another process.
    assert!((0..200).all(|i| cache.get(&key(i)) == Some(value(i, length(i)))) && !inner.exists());
    cache.flush();
    assert!((0..200).all(|i| cache.get(&key(i)) == Some(value(i, length(i)))));
    assert_eq!((cache.counters().disk_hits, cache.counters().misses), (400, 1));
    let all: usize = (0..200).map(length).sum();
    assert_eq!((packs(&inner).len(), bytes(&inner)), (1, FRAME + 200 * ENTRY + all as u64));
    cache.flush();
    assert_eq!(files(&inner).len(), 1, "nothing was to be written");
    // The last value of a key counts, also if it is still collected. What is collected is written when the cache is
    // dropped.
    cache.put(key(300), &value(1, 10));
    cache.put(key(300), &value(2, 20));
    assert_eq!(cache.get(&key(300)), Some(value(2, 20)));
    drop(cache);
    let again = open(&inner);
    assert!((0..200).rev().all(|i| again.get(&key(i)) == Some(value(i, length(i)))));
    assert_eq!(again.get(&key(300)), Some(value(2, 20)));
    assert_eq!((again.counters().disk_hits, again.counters().misses), (201, 0));
    assert_eq!(again.folder(), Some(inner.clone()));
    // Memory and packs together.
    let both = Cache::new().memory(2, 1 << 20).packs(&inner, u64::MAX);
    assert!((0..2).all(|_| both.get(&key(7)) == Some(value(7, length(7)))));
    assert_eq!((both.counters().disk_hits, both.counters().memory_hits), (1, 1));
    // Removing everything also forgets what is collected.
    again.put(key(301), &value(1, 1));
    again.clear_disk().unwrap();
    assert!(!inner.exists() && again.get(&key(5)).is_none() && again.get(&key(301)).is_none());
    drop(again);
    assert!(!inner.exists() && packs(Path::new(".")).is_empty());
}

/// Damages every byte of a pack, cuts it to every length, and tries files that are no packs.
#[test]
fn a_damaged_pack_gives_no_wrong_value() {
    let folder = TempDir::new().unwrap();
    let own: Vec<(Key, Value)> = (0..3).map(|i| (key(i), value(i, 40 + i as usize))).collect();
    let fill = |cache: &Cache| own.iter().for_each(|(key, value)| cache.put(*key, value));
    fill(&open(folder.path()));
    let path = packs(folder.path()).remove(0);
    let whole = fs::read(&path).unwrap();
    assert_eq!(whole.len() as u64, FRAME + 3 * ENTRY + 123);
    let mut broken: Vec<(String, Vec<u8>, usize)> = Vec::new();
    for place in 0..whole.len() {
        // Only a value that is damaged is lost, but without the rest of the file all of them are.
        let lost = if (12..12 + 123).contains(&place) { 1 } else { 3 };
        for flip in [1, 0x80] {
            let mut bytes = whole.clone();
            bytes[place] ^= flip;
            broken.push((format!("byte {place} ^ {flip:#x}"), bytes, lost));
        }
        broken.push((format!("cut to {place} bytes"), whole[..place].to_vec(), 3));
    }
    broken.push(("a byte more".into(), [&whole[..], b"x"].concat(), 3));
    broken.push(("twice".into(), [&whole[..], &whole].concat(), 3));
    broken.push(("text".into(), b"not a pack\n".repeat(40), 3));
    let mut longer = whole.clone();
    let end = longer.len();
    longer[end - 8..].copy_from_slice(&(u64::MAX - 63).to_le_bytes());
    broken.push(("an index of nearly 2^64 bytes".into(), longer, 3));
    for (what, content, lost) in broken {
        fs::write(&path, content).unwrap();
        let cache = open(folder.path());
        let found: Vec<Option<Value>> = own.iter().map(|(key, _)| cache.get(key)).collect();
        assert!(found.iter().zip(&own).all(|(found, (_, own))| found.as_ref().is_none_or(|found| found == own)));
        assert_eq!(found.iter().filter(|found| found.is_none()).count(), lost, "{what}");
        let counters = cache.counters();
        assert_eq!((counters.damaged, counters.misses, counters.refused), (1, lost as u64, 0), "{what}");
        for ((key, value), _) in own.iter().zip(&found).filter(|(_, found)| found.is_none()) {
            cache.put(*key, value);
        }
        drop(cache);
        // What was not damaged is kept, and the damage is gone.
        let cache = open(folder.path());
        assert!(own.iter().all(|(key, value)| cache.get(key).as_ref() == Some(value)), "{what}");
        assert_eq!(cache.counters().damaged, 0, "{what}");
        cache.clear_disk().unwrap();
        fs::create_dir_all(folder.path()).unwrap();
    }
    // A folder in the place of a pack is reported and counted, and has no other effect.
    fs::create_dir(&path).unwrap();
    let cache = open(folder.path());
    assert_eq!(cache.get(&key(1)), None);
    fill(&cache);
    assert_eq!(cache.get(&key(1)).as_ref(), Some(&own[1].1));
    assert_eq!((cache.counters().damaged, cache.counters().refused, cache.counters().misses), (0, 1, 1));
}

/// A value that is damaged on the disk but right when it is read again, as after a fault of the memory.
#[test]
fn damage_that_passes_loses_nothing() {
    let folder = TempDir::new().unwrap();
    let cache = open(folder.path());
    (0..3).for_each(|i| cache.put(key(i), &value(i, 100)));
    cache.flush();
    let path = packs(folder.path()).remove(0);
    let whole = fs::read(&path).unwrap();
    let mut broken = whole.clone();
    broken[50] ^= 1;
    fs::write(&path, broken).unwrap();
    assert!(cache.get(&key(0)).is_none());
    fs::write(&path, &whole).unwrap();
    cache.flush();
    assert_eq!(packs(folder.path()), [path]);
    assert!((0..3).all(|i| cache.get(&key(i)) == Some(value(i, 100))));
    assert_eq!(cache.counters().damaged, 1);
}

#[test]
fn the_folder_is_bounded_and_the_least_recently_used_go_first() {
    let folder = TempDir::new().unwrap();
    let size = FRAME + ENTRY + 1000;
    let open = || Cache::new().packs(folder.path(), 10 * size);
    let stranger = folder.path().join("notes.txt");
    fs::write(&stranger, vec![0; 50_000]).unwrap();
    let (fresh, old) = (folder.path().join(".fiedler-a.tmp"), folder.path().join(".fiedler-b.tmp"));
    for (path, minutes) in [(&fresh, 1), (&old, 120)] {
        File::create(path).unwrap();
        age(path, minutes);
    }
    // The ages are a minute apart, so that the resolution of clocks does not matter.
    for i in 0..10 {
        let before = packs(folder.path());
        let cache = open();
        cache.put(key(i), &value(i, 1000));
        drop(cache);
        let new = packs(folder.path()).into_iter().find(|path| !before.contains(path)).unwrap();
        age(&new, 100 - i);
    }
    assert_eq!(packs(folder.path()).len(), 10);
    assert!(fresh.exists() && !old.exists() && stranger.exists());
    let other = open();
    assert!(other.get(&key(9)).is_some());
    // Entry 0 is used again, so entry 1 is the oldest.
    let cache = open();
    assert!(cache.get(&key(0)).is_some());
    cache.put(key(10), &value(10, 1000));
    cache.flush();
    assert_eq!(cache.counters().evictions, 1);
    let there: Vec<bool> = (0..11).map(|i| cache.get(&key(i)).is_some()).collect();
    assert_eq!(there, [true, false, true, true, true, true, true, true, true, true, true]);
    // To a cache that has listed the folder before, what was evicted is absent, and nothing is wrong with it. It sees
    // what others have written as soon as it notices a change or writes.
    assert!(other.get(&key(10)).is_none() && other.get(&key(1)).is_none());
    assert_eq!(other.get(&key(10)), Some(value(10, 1000)));
    cache.put(key(11), &value(11, 1000));
    cache.flush();
    assert!(other.get(&key(11)).is_none());
    other.put(key(12), &value(12, 1000));
    other.flush();
    assert_eq!(other.get(&key(11)), Some(value(11, 1000)));
    assert_eq!((other.counters().damaged, other.counters().refused), (0, 0));
    // However many entries are written, the folder stays within the limit. An entry beyond it is not written.
    for i in 0..100 {
        cache.put(key(100 + i), &value(i, 1000));
        assert!(bytes(folder.path()) <= 10 * size);
        assert_eq!(cache.get(&key(100 + i)), Some(value(i, 1000)));
    }
    cache.put(key(5000), &value(1, 10 * size as usize));
    assert!(cache.get(&key(5000)).is_none());
    cache.clear_disk().unwrap();
    assert_eq!(files(folder.path()), [stranger]);
}

/// A process that is killed has not written what it has collected, and may leave a part of a pack under a temporary
/// name.
#[test]
fn a_killed_process_loses_what_was_not_written() {
    let folder = TempDir::new().unwrap();
    let cache = open(folder.path());
    (0..5).for_each(|i| cache.put(key(i), &value(i, 300)));
    cache.flush();
    (5..9).for_each(|i| cache.put(key(i), &value(i, 300)));
    std::mem::forget(cache);
    let whole = fs::read(&packs(folder.path())[0]).unwrap();
    let left = folder.path().join(".fiedler-killed.tmp");
    fs::write(&left, &whole[..whole.len() / 2]).unwrap();
    let cache = open(folder.path());
    assert!((0..5).all(|i| cache.get(&key(i)) == Some(value(i, 300))));
    assert!((5..9).all(|i| cache.get(&key(i)).is_none()));
    assert_eq!((cache.counters().damaged, cache.counters().refused), (0, 0));
    // It may belong to a process that is writing, until it is an hour old.
    assert!(left.exists());
    age(&left, 61);
    (5..9).for_each(|i| cache.put(key(i), &value(i, 300)));
    drop(cache);
    assert!(!left.exists());
    let cache = open(folder.path());
    assert!((0..9).all(|i| cache.get(&key(i)) == Some(value(i, 300))));
}

#[test]
fn many_small_packs_are_merged() {
    let folder = TempDir::new().unwrap();
    for i in 0..70 {
        let cache = open(folder.path());
        cache.put(key(2 * i), &value(2 * i, 100));
        cache.put(key(2 * i + 1), &value(2 * i + 1, 100));
        drop(cache);
        // The 65th pack is merged with the others.
        let wanted = if i < 64 { i + 1 } else { i - 63 };
        assert_eq!(packs(folder.path()).len() as u64, wanted, "after {i}");
    }
    let cache = open(folder.path());
    assert!((0..140).all(|i| cache.get(&key(i)) == Some(value(i, 100))));
    // What another process has merged is found in the new pack.
    let stale = open(folder.path());
    assert!(stale.get(&key(139)).is_some());
    (200..260).for_each(|i| {
        cache.put(key(i), &value(i, 100));
        cache.flush();
    });
    assert!(packs(folder.path()).len() < 10);
    assert!((0..140).chain(200..260).all(|i| stale.get(&key(i)) == Some(value(i, 100))));
    assert_eq!((stale.counters().damaged, stale.counters().refused, stale.counters().misses), (0, 0, 0));
}

/// Several threads and caches use one folder that is too small for all entries. A value is correct or absent.
#[test]
fn many_writers_and_readers_of_one_folder() {
    let folder = TempDir::new().unwrap();
    let caches: Vec<Cache> = (0..3).map(|_| Cache::new().packs(folder.path(), 40_000)).collect();
    std::thread::scope(|scope| {
        for thread in 0..6_u64 {
            let cache = &caches[thread as usize % 3];
            scope.spawn(move || {
                for step in 0..400 {
                    let number = (step * 7 + thread * 13) % 23;
                    match cache.get(&key(number)) {
                        Some(found) => assert_eq!(found, value(number, 3000)),
                        None => cache.put(key(number), &value(number, 3000)),
                    }
                }
            });
        }
    });
    for counters in caches.iter().map(Cache::counters) {
        assert!(counters.hits() > 0 && counters.evictions > 0, "{counters:?}");
        assert_eq!((counters.damaged, counters.refused), (0, 0), "{counters:?}");
    }
    caches[0].put(key(50), &value(50, 3000));
    caches[0].flush();
    assert!(bytes(folder.path()) <= 40_000);
}

#[test]
fn a_folder_that_cannot_be_written_disables_only_the_storing() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, b"").unwrap();
    let cache = Cache::new().packs(file.join("below"), u64::MAX);
    assert!(cache.get(&key(1)).is_none());
    (0..3).for_each(|i| {
        cache.put(key(i), &value(i, 10));
        cache.flush();
    });
    // After the first failure, writing is not tried again.
    assert!((0..3).all(|i| cache.get(&key(i)).is_none()));
    assert_eq!(cache.counters().refused, 1);
}

/// As the test of files with one entry: writing fails in the middle of a file.
#[cfg(unix)]
#[test]
fn a_full_disk_leaves_no_part_of_a_pack() {
    let folder = TempDir::new().unwrap();
    if let Some(folder) = std::env::var_os("FIEDLER_TEST_FULL_DISK") {
        let cache = Cache::new().packs(folder, u64::MAX);
        cache.put(key(1), &value(1, 1_000_000));
        cache.flush();
        assert!(cache.get(&key(1)).is_none());
        assert_eq!((cache.counters().refused, cache.counters().damaged), (1, 0));
        return;
    }
    let script = r#"trap '' XFSZ; ulimit -f 8; exec "$0" --exact packs::a_full_disk_leaves_no_part_of_a_pack"#;
    let mut child = std::process::Command::new("sh");
    child.args(["-c", script]).arg(std::env::current_exe().unwrap()).env("FIEDLER_TEST_FULL_DISK", folder.path());
    let output = child.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
    assert!(files(folder.path()).is_empty(), "{:?}", files(folder.path()));
}
