//! Tests of compressed files: several parts, damage, and expansion beyond the limit.

use super::samples::{EDGES, GML, MARKET, ZSTD, all, arrays, gzip, stored, zstd};
use super::{parsed, stream, truth};
use fiedler::ErrorKind;
use fiedler::graph::Conventions;
use fiedler::io::{ReadOptions, read, read_from, read_matrix};
use tempfile::TempDir;

#[test]
fn files_of_several_parts_are_one_text() {
    let lines: Vec<&str> = EDGES.split_inclusive('\n').collect();
    for pack in [gzip, zstd] {
        let parts: Vec<u8> = lines.iter().flat_map(|line| pack(line.as_bytes())).collect();
        assert_eq!(parsed("g.txt", &parts).graphs, truth());
    }
    // A frame without content, of 3 bytes, between two frames.
    let skipped = [&ZSTD[..], b"\x50\x2a\x4d\x18\x03\0\0\0abc", &zstd(b"3 4 0\n")].concat();
    assert_eq!(super::edges(&parsed("g.txt", &skipped).graphs, 0)[5], (3, 1, 1.0));
    assert_eq!(parsed("g.txt", &skipped).graphs.nodes(), 5);
    let first = [&b"\x5f\x2a\x4d\x18\0\0\0\0"[..], &ZSTD].concat();
    assert_eq!(parsed("g.txt", &first).graphs.nodes(), 4);
}

#[test]
fn matrices_may_be_compressed() {
    let folder = TempDir::new().unwrap();
    let (plain, packed) = (folder.path().join("a.mtx"), folder.path().join("a.mtx.gz"));
    std::fs::write(&plain, MARKET).unwrap();
    std::fs::write(&packed, gzip(MARKET.as_bytes())).unwrap();
    assert_eq!(read_matrix(&packed).unwrap(), read_matrix(&plain).unwrap());
}

/// Every byte of a compressed file matters: whatever is cut off or changed, the file is refused or, where a byte says
/// nothing of the content, the graph is the same.
#[test]
fn damage_is_never_another_graph() {
    let edges: Vec<u8> = (0..300_u32).flat_map(|i| format!("{} {}\n", i, (i * 7 + 1) % 300).into_bytes()).collect();
    let want = parsed("g.txt", &edges).graphs;
    let (golden, small) = (ZSTD.to_vec(), parsed("g.txt", &ZSTD).graphs);
    for (name, content, want) in [
        ("a gzip file", gzip(&edges), &want),
        ("a Zstandard file", golden, &small),
        ("a zip archive", stored(&[("g.txt", edges.clone())]), &want),
    ] {
        for end in 0..content.len() {
            // Without any byte, and without the magic bytes, it is another format.
            if let Ok(set) = stream("g.txt", &content[..end]) {
                assert!(end < 8, "{name} of {} bytes cut to {end}", content.len());
                assert_ne!(&set.graphs, want);
            }
        }
        let mut survived = 0;
        for place in 4..content.len() {
            let mut damaged = content.clone();
            damaged[place] ^= 1 << (place % 8);
            match stream("g.txt", &damaged) {
                Ok(set) => {
                    assert_eq!(&set.graphs, want, "{name}, byte {place}");
                    survived += 1;
                }
                Err(error) => assert!(!error.to_string().contains("panicked"), "{error}"),
            }
        }
        // The time, the system, names and the like.
        assert!(survived < 60, "{name}: {survived} of {}", content.len());
    }
    let error = stream("g.txt.gz", &gzip(&edges)[..200]).unwrap_err();
    let words = "g.txt.gz: expected a gzip file that is whole and not damaged, found its end too early";
    assert_eq!(error.to_string(), words);
    let mut sum = gzip(&edges);
    let end = sum.len() - 8;
    sum[end] ^= 1;
    let error = stream("g.txt.gz", &sum).unwrap_err().to_string();
    assert!(error.contains("whole and not damaged, found") && error.contains("checksum"), "{error}");
    let mut sum = ZSTD;
    sum[30] ^= 1;
    let error = stream("g.txt.zst", &sum).unwrap_err().to_string();
    assert!(error.contains("Zstandard file that is whole and not damaged, found another checksum"), "{error}");
    let error = stream("g.txt", &[gzip(b"0 1\n"), b"garbage".to_vec()].concat()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Parse { .. }), "{error}");
    let error = stream("g.npz", &{
        let mut archive = stored(&arrays());
        let place = archive.windows(4).position(|bytes| bytes == b"\0\0\x20\x40").unwrap();
        archive[place + 3] ^= 1;
        archive
    });
    assert!(error.unwrap_err().to_string().contains("the length and the checksum that the archive states"));
}

/// The limit is the larger of 1000 times the compressed size and the budget.
#[test]
fn expansion_has_a_limit() {
    let bomb: Vec<u8> = [b"# ".to_vec(), vec![b' '; 1 << 22], b"\n0 1\n".to_vec()].concat();
    let lines: Vec<u8> = b"#\n".repeat(1 << 21);
    let lines = [lines, b"0 1\n".to_vec()].concat();
    let options = |budget| ReadOptions::default().memory_budget(budget);
    for pack in [gzip, zstd] {
        let packed = pack(&lines);
        let budget = 1 << 20;
        let found = read_from("g.txt", &packed[..], &Conventions::default(), &options(budget));
        if packed.len() * 1000 >= lines.len() {
            assert_eq!(found.unwrap().graphs.nodes(), 2);
        } else {
            let error = found.unwrap_err();
            let ErrorKind::Limit { allowed, .. } = error.kind() else { panic!("{error}") };
            assert_eq!(*allowed, budget.max(1000 * packed.len() as u64));
            assert!(error.to_string().contains("expanded bytes of g.txt, the larger of 1000 times"), "{error}");
        }
        // With a larger budget, it is read.
        let set = read_from("g.txt", &packed[..], &Conventions::default(), &options(1 << 23));
        assert_eq!(set.unwrap().graphs.nodes(), 2);
    }
    // Twice compressed, a small file expands to much more than 1000 times its size.
    let twice = gzip(&gzip(&lines));
    assert!(twice.len() * 1000 < lines.len());
    let error = read_from("g.txt", &twice[..], &Conventions::default(), &options(1 << 20)).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Limit { .. }), "{error}");
    // The limit of a line holds for what is expanded.
    assert!(stream("g.txt", &gzip(&bomb)).unwrap_err().to_string().contains("lines of at most 1048576 bytes"));
    let four = gzip(&gzip(&gzip(&gzip(GML.as_bytes()))));
    assert!(stream("g.gml", &four).unwrap_err().to_string().contains("at most 3 compressions"));
}

/// The line of an error is a line of the text, and its file is the compressed one.
#[test]
fn errors_within_compressed_files_have_a_location() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("g.txt.gz");
    std::fs::write(&path, gzip(b"0 1\n1 2\n2\n")).unwrap();
    let error = read(&path, &Conventions::default()).unwrap_err();
    let ErrorKind::Parse { path: named, line, .. } = error.kind() else { panic!("{error}") };
    assert_eq!((named, *line), (&path, Some(3)));
    for (name, content) in all() {
        // Without its last half, no format is complete.
        let half = gzip(&content[..content.len() / 2]);
        let error = stream(name, &half);
        // Neither an edge list nor a Pajek network says how many edges follow.
        assert!(error.is_err() || ["g.txt", "g.net"].contains(&name), "{name}");
    }
}
