//! Tests of archives: one data set is found among other files, and several are an error that lists them.

use super::samples::{EDGES, GML, MARKET, NODE_LINK, ZSTD, arrays, deflated, gzip, ogb, stored, tar, tar_member, zip};
use super::{parsed, stream, truth};
use fiedler::ErrorKind;
use fiedler::graph::Conventions;
use fiedler::io::{Format, ReadOptions, TableTargets, read_from};
use std::fs;
use tempfile::TempDir;
use zip::CompressionMethod;

/// Makes an archive of files.
type Pack = fn(&[(&str, Vec<u8>)]) -> Vec<u8>;

fn tudataset() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("TOY/README.txt", b"This is a data set.\n".to_vec()),
        ("TOY/TOY_A.txt", b"1, 2\n2, 1\n5,4\n4, 5\n".to_vec()),
        ("TOY/TOY_graph_indicator.txt", b"1\n1\n2\n3\n3\n".to_vec()),
        ("TOY/TOY_graph_labels.txt", b"1\n-1\n1\n".to_vec()),
    ]
}

#[test]
fn a_data_set_in_an_archive_is_the_one_beside_it() {
    let folder = TempDir::new().unwrap();
    let options = ReadOptions::default().graph_labels();
    let packs: [Pack; 5] = [stored, deflated, tar, |files: &[_]| gzip(&tar(files)), |files: &[_]| gzip(&stored(files))];
    for pack in packs {
        let path = folder.path().join("archive");
        fs::write(&path, pack(&tudataset())).unwrap();
        let set = fiedler::io::read_with(&path, &Conventions::default(), &options).unwrap();
        assert_eq!((set.name.as_str(), set.format), ("TOY", Format::TuDataset));
        assert_eq!(set.graphs.node_offsets(), [0, 2, 3, 5]);
        assert!(matches!(set.labels, TableTargets::Labels(..)), "{:?}", set.labels);
        // The folder within an archive, and the archive of a folder's content.
        for inside in ["toy/", ""] {
            let names: Vec<String> = ogb().iter().map(|(name, _)| format!("{inside}{name}")).collect();
            let mut files: Vec<(&str, Vec<u8>)> =
                names.iter().map(String::as_str).zip(ogb().into_iter().map(|(_, content)| content)).collect();
            files.push(("toy/split/train.csv.gz", gzip(b"0\n")));
            let set = parsed("ogb.zip", &pack(&files));
            assert_eq!((set.format, set.graphs.node_offsets()), (Format::Ogb, &[0, 3, 6][..]), "{inside}");
        }
        for (name, content) in [
            ("g.gml", GML.as_bytes().to_vec()),
            ("folder/g.mtx.gz", gzip(MARKET.as_bytes())),
            ("g.json", NODE_LINK.as_bytes().to_vec()),
            ("g.npz", deflated(&arrays())),
        ] {
            let set = parsed("one.zip", &pack(&[(name, content)]));
            assert_eq!((set.graphs, set.name.as_str(), set.notices.len()), (truth(), "g", 0), "{name}");
        }
    }
}

#[test]
fn side_files_are_passed_over() {
    let text = |text: &str| text.as_bytes().to_vec();
    let side = text("%%MatrixMarket matrix coordinate real general\n5 1 1\n1 1 1\n");
    let market = [
        ("karate/karate_b.mtx", side.clone()),
        ("karate/karate.mtx", text(MARKET)),
        ("karate/karate_Names.txt", text("a\nb\n")),
        ("karate/karate_x.mtx", side),
    ];
    let set = parsed("karate.tar.gz", &gzip(&tar(&market)));
    assert_eq!((set.graphs, set.name.as_str()), (truth(), "karate"));
    assert!(set.notices[0].contains("karate.tar.gz: karate/karate.mtx was read, and 3 other files were not"));
    // Newman's collection has a text that describes the graph; systems add files of their own.
    let newman = [
        ("karate.txt", text("The file karate.gml\n")),
        ("karate.gml", text(GML)),
        ("__MACOSX/._karate.gml", vec![0, 5, 22, 7]),
        (".DS_Store", vec![0; 9]),
        ("readme.html", text("<html>")),
    ];
    let set = parsed("karate.zip", &deflated(&newman));
    assert_eq!((set.graphs, set.notices.len()), (truth(), 1));
}

#[test]
fn several_data_sets_are_listed() {
    let error = |name: &str, content: &[u8]| {
        let error = stream(name, content).map(|set| set.graphs).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Parse { .. }), "{error}");
        error.to_string()
    };
    let text = |text: &str| text.as_bytes().to_vec();
    let two = [("a.gml", text(GML)), ("b/c.json", text(NODE_LINK)), ("d.txt", text(EDGES))];
    let words = "z.zip: expected one data set in the archive, found a.gml, b/c.json";
    assert_eq!(error("z.zip", &stored(&two)), words);
    let lists = [("a.txt", text(EDGES)), ("b.txt", text(EDGES))];
    assert!(error("z.tar", &tar(&lists)).contains("one data set in the archive, found a.txt, b.txt"));
    let mut sets = tudataset();
    sets.push(("TWO_A.txt", text("1, 1\n")));
    sets.push(("TWO_graph_indicator.txt", text("1\n")));
    assert!(error("z.zip", &deflated(&sets)).contains("found TOY/TOY, TWO"));
    let none = [("README.md", text("a b\n")), ("x.pdf", text("%PDF-1.4"))];
    assert!(error("z.zip", &stored(&none)).contains("found an archive of 2 files, none of which is one"));
    assert!(error("z.zip", &stored(&[])).contains("found an archive of 0 files"));
    let nested = [("a.zip", stored(&two)), ("LICENSE", text("x"))];
    assert!(error("z.zip", &stored(&nested)).contains("z.zip/a.zip: expected"), "the error of the only file");
    // The error of a file within an archive has its line.
    assert!(error("z.zip", &stored(&[("a.txt", text("0 1\n1\n"))])).starts_with("z.zip/a.txt:2: expected two ids"));
    let broken = [("DS_A.txt", text("1, 9\n")), ("DS_graph_indicator.txt", text("1\n"))];
    assert!(error("z.tar", &tar(&broken)).starts_with("z.tar/DS_A.txt:1: expected a node number from 1 to 1"));
}

#[test]
fn paths_stay_within_the_archive() {
    let folder = TempDir::new().unwrap();
    let outside = folder.path().join("outside.txt");
    fs::write(&outside, "0 1\n").unwrap();
    let absolute = outside.to_str().unwrap();
    for name in ["../outside.txt", "a/../../outside.txt", absolute, "a\\..\\outside.txt"] {
        for content in [stored(&[(name, b"7 8\n".to_vec())]), tar(&[(name, b"7 8\n".to_vec())])] {
            let error = stream("z.zip", &content).map(|set| set.node_ids).unwrap_err().to_string();
            assert!(error.contains("members whose paths stay within the archive"), "{error}");
        }
    }
    assert_eq!(fs::read(&outside).unwrap(), b"0 1\n");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is unpacked");
    // `./` leads nowhere else, and links are no files.
    let edges = EDGES.as_bytes();
    let links = [tar_member("a", b'2', b""), tar_member("b", b'1', b""), tar(&[("./g.txt", edges.to_vec())])].concat();
    assert_eq!(parsed("z.tar", &links).graphs, truth());
}

#[test]
fn tar_archives_of_several_programs_are_read() {
    let edges = EDGES.as_bytes();
    let long = format!("{}/g.txt", "folder".repeat(30));
    // GNU tar writes a long name before the file, and pax archives have records.
    let gnu = [tar_member("././@LongLink", b'L', format!("{long}\0").as_bytes()), tar(&[("cut", edges.to_vec())])];
    let record = |key: &str, value: &str| {
        let rest = format!(" {key}={value}\n");
        let length = (rest.len()..).find(|&length| length == rest.len() + length.to_string().len()).unwrap();
        format!("{length}{rest}")
    };
    let records = record("mtime", "1.5") + &record("path", &long);
    let pax = [tar_member("pax", b'x', records.as_bytes()), tar(&[("cut", edges.to_vec())])];
    let global = [tar_member("g", b'g', record("comment", "x").as_bytes()), tar(&[("g.txt", edges.to_vec())])];
    for (archive, path) in [(gnu.concat(), &long), (pax.concat(), &long), (global.concat(), &"g.txt".to_owned())] {
        assert_eq!(parsed("z.tar", &archive).graphs, truth());
        let broken = String::from_utf8(archive).unwrap().replace("1 3 1\n", "1 3 x\n");
        let error = stream("z.tar", broken.as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with(&format!("z.tar/{path}:4: expected a weight")), "{error}");
    }
    // Archives may lack the blocks at their end, and the padding of the last file.
    let whole = tar_member("g.txt", b'0', edges);
    for end in [whole.len(), 512 + edges.len()] {
        assert_eq!(parsed("z.tar", &whole[..end]).graphs, truth());
    }
    for end in [513, 511 + edges.len(), 300] {
        let error = stream("z.tar", &whole[..end]).unwrap_err().to_string();
        assert!(error.contains("z.tar: expected a tar archive, and at byte"), "{error}");
    }
    let mut wrong = whole.clone();
    wrong[101] ^= 1;
    let error = stream("z.tar", &wrong).unwrap_err().to_string();
    assert!(error.contains("a header with a right checksum"), "{error}");
}

#[test]
fn an_archive_expands_within_the_limit() {
    let spaces: Vec<u8> = [b"#\n".repeat(1 << 21), b"0 1\n".to_vec()].concat();
    // Deflate itself expands hardly more than 1000 times.
    let archive = deflated(&[("g.txt.gz", gzip(&gzip(&spaces)))]);
    assert!(archive.len() * 1000 < 1 << 20);
    let options = |budget| ReadOptions::default().memory_budget(budget);
    let read = |budget| read_from("z.zip", &archive[..], &Conventions::default(), &options(budget));
    let error = read(1 << 20).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Limit { allowed, .. } if *allowed == 1 << 20), "{error}");
    assert_eq!(read(1 << 24).unwrap().graphs.nodes(), 2);
    // Methods that few programs write are named.
    let other = zip(&[("g.txt", ZSTD.to_vec())], CompressionMethod::Stored);
    let mut other = other;
    let places: Vec<usize> =
        other.windows(4).enumerate().filter(|(_, own)| own.starts_with(b"PK\x01\x02")).map(|(at, _)| at).collect();
    other[places[0] + 10] = 12;
    let error = stream("z.zip", &other).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Parse { .. }), "{error}");
}
