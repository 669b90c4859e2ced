//! Recognizes unsupported formats by their first bytes, so that an error names the format and does not quote binary
//! data.

use super::lines::natural;

/// The number of bytes that are examined at the start of a file. A tar archive has its signature at byte 257.
pub(super) const LOOKED_AT: usize = 4096;

const UNPACK: &str = "decompress it first";
const UNPACK_ARCHIVE: &str = "unpack it first";
const SAVE_AS_UTF_8: &str = "save it as UTF-8";
const ARRAY: &str = "`fiedler run` takes arrays in .npy files";
const ARROW: &str = "the command and `fiedler::arrow` read its graphs, but not from a stream or an archive";
const TABLE: &str = "write an edge list of it, as CSV: two ids a line, and perhaps a weight";
const LIST: &str = "write an edge list of it: two ids a line, and perhaps a weight";
const NETWORKX: &str = "networkx reads it, and its write_edgelist(graph, path, data=False) writes an edge list";

/// The first bytes of binary formats, each with the name of the format and a remedy if one is known.
const BINARIES: &[(&[u8], &str, &str)] = &[
    (b"\x93NUMPY", "a NumPy array (.npy)", ARRAY),
    (b"\x1f\x8b", "a gzip file", UNPACK),
    (b"BZh", "a bzip2 file", UNPACK),
    (b"\xfd7zXZ\0", "an xz file", UNPACK),
    (b"\x28\xb5\x2f\xfd", "a Zstandard file", UNPACK),
    (b"\x04\x22\x4d\x18", "an LZ4 file", UNPACK),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", UNPACK_ARCHIVE),
    (b"Rar!\x1a\x07", "a RAR archive", UNPACK_ARCHIVE),
    (b"PAR1", "a Parquet file", ARROW),
    (b"ARROW1", "an Arrow file", ARROW),
    (b"FEA1", "a Feather file", TABLE),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file", TABLE),
    (b"SQLite format 3\0", "an SQLite database", TABLE),
    (b"MATLAB 5.0 MAT-file", "a MATLAB file", "scipy.io.mmwrite writes its matrix as MatrixMarket"),
    (b"\x89PNG\r\n\x1a\n", "a PNG image", ""),
    (b"\xff\xd8\xff", "a JPEG image", ""),
    (b"GIF89a", "a GIF image", ""),
    (b"\xff\xfe", "UTF-16 text", SAVE_AS_UTF_8),
    (b"\xfe\xff", "UTF-16 text", SAVE_AS_UTF_8),
];

/// The beginnings of text formats that do not consist of lines of ids, each with the name of the format and a remedy.
/// The beginnings are in lower case with one space between words.
const TEXTS: &[(&str, &str, &str)] = &[
    ("%pdf-", "a PDF document", ""),
    (GML[0], "GML", ""),
    (GML[1], "GML", ""),
    (">>graph6<<", "graph6", ""),
    (">>sparse6<<", "sparse6", ""),
    (">>digraph6<<", "digraph6", ""),
];

/// How GML begins.
const GML: [&str; 2] = ["graph [", "creator \""];

const PAJEK: &str = "a Pajek network";
const DIMACS: &str = "a DIMACS graph";

const BINARY: Named = ("a binary file", "");

/// Returns the name of the unsupported format that begins with these bytes, followed by a semicolon and the remedy.
/// Returns `None` if the bytes may be lines of ids.
pub(super) fn name(head: &[u8]) -> Option<String> {
    named(head).map(with_way_out)
}

/// Returns the name and a remedy for a file that has to be a table in text.
pub(super) fn of_no_table(head: &[u8]) -> Option<String> {
    let (name, way_out) = binary(head, head.iter().any(|&byte| is_control(byte)))?;
    let general = [UNPACK, UNPACK_ARCHIVE, SAVE_AS_UTF_8, ""].contains(&way_out);
    Some(with_way_out((name, if general { way_out } else { "write its numbers as CSV or .npz" })))
}

/// Returns the same as [`name`] for a file that is read line by line. Below the first line, a byte that cannot occur in
/// text is not considered here, because it causes an error at its own line.
pub(super) fn name_of_lines(head: &[u8]) -> Option<String> {
    let first = head.iter().take_while(|&&byte| byte != b'\n');
    known(head).or_else(|| first.copied().any(is_control).then_some(BINARY)).map(with_way_out)
}

fn with_way_out((name, way_out): Named) -> String {
    if way_out.is_empty() { name.to_owned() } else { format!("{name}; {way_out}") }
}

/// Returns the name of the format without a remedy, for callers that do not expect a graph.
pub(super) fn kind(head: &[u8]) -> Option<&'static str> {
    named(head).map(|(name, _)| name)
}

/// The formats of graphs that their first bytes show.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    Zip,
    Tar,
    Npy,
    Safetensors,
    Json,
    GraphMl,
    Gexf,
    Gml,
    Graph6,
    Pajek,
    Dimacs,
}

/// Returns the format of a graph, or of an archive that may have one, which begins with these bytes.
pub(super) fn graph(head: &[u8]) -> Option<Kind> {
    if is_zip(head) {
        return (!matches!(archive(head).0, OFFICE | TORCH)).then_some(Kind::Zip);
    }
    if is_tar(head) {
        return Some(Kind::Tar);
    }
    if head.starts_with(b"\x93NUMPY") {
        return Some(Kind::Npy);
    }
    if is_safetensors(head) {
        return Some(Kind::Safetensors);
    }
    match known(head).map(|(name, _)| name) {
        Some("GraphML") => return Some(Kind::GraphMl),
        Some("GEXF") => return Some(Kind::Gexf),
        Some("GML") => return Some(Kind::Gml),
        Some("graph6" | "sparse6" | "digraph6") => return Some(Kind::Graph6),
        Some(PAJEK) => return Some(Kind::Pajek),
        Some(DIMACS) => return Some(Kind::Dimacs),
        None | Some("JSON") => {}
        Some(_) => return None,
    }
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    if text.starts_with(b"{") {
        return Some(Kind::Json);
    }
    // GML has comments as edge lists do, and its words may come in another order.
    let text = String::from_utf8_lossy(text).to_ascii_lowercase();
    let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
    let words: Vec<&str> = lines.flat_map(str::split_ascii_whitespace).take(64).collect();
    let keyed = ["comment", "version", "graph", "creator", "directed"].iter().any(|key| words.first() == Some(key));
    let opened = words.windows(2).any(|pair| pair == ["graph", "["]) || words.contains(&"graph[");
    (keyed && opened).then_some(Kind::Gml)
}

fn named(head: &[u8]) -> Option<Named> {
    known(head).or_else(|| head.iter().any(|&byte| is_control(byte)).then_some(BINARY))
}

fn known(head: &[u8]) -> Option<Named> {
    binary(head, head.iter().any(|&byte| is_control(byte))).or_else(|| markup(head))
}

/// Returns whether the byte is a control character that does not occur in text.
pub(super) fn is_control(byte: u8) -> bool {
    byte < b' ' && !byte.is_ascii_whitespace()
}

type Named = (&'static str, &'static str);

/// Recognizes binary formats. `odd` says whether the bytes include control characters. If they do not, a signature that
/// consists of ASCII characters is ignored, because it may be an ordinary word; for example, `PAR1` is also the name of
/// a gene.
fn binary(head: &[u8], odd: bool) -> Option<Named> {
    if is_zip(head) {
        return Some(archive(head));
    }
    // A pickle of protocol 2 or later begins with the byte 0x80 and the protocol number.
    if let [0x80, 2..=5, ..] = head {
        return Some(("a Python pickle", "networkx.write_edgelist(graph, path, data=False) writes an edge list"));
    }
    if is_safetensors(head) {
        return Some(("a safetensors file", ARRAY));
    }
    if is_tar(head) {
        return Some(("a tar archive", UNPACK_ARCHIVE));
    }
    let is = |start: &[u8]| head.starts_with(start) && (odd || !start.iter().all(u8::is_ascii));
    BINARIES.iter().find(|(start, ..)| is(start)).map(|&(_, name, way_out)| (name, way_out))
}

fn is_zip(head: &[u8]) -> bool {
    head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06")
}

fn is_tar(head: &[u8]) -> bool {
    head.get(257..262) == Some(b"ustar")
}

/// A safetensors file begins with the length of its header, followed by the header, which is JSON.
fn is_safetensors(head: &[u8]) -> bool {
    matches!(head.split_first_chunk::<8>(), Some((length, [b'{', ..])) if u64::from_le_bytes(*length) < 1 << 32)
}

const OFFICE: &str = "an office document, such as an Excel workbook";
const TORCH: &str = "a PyTorch file";

/// Identifies the kind of a zip archive from the name of its first member.
fn archive(head: &[u8]) -> Named {
    let length = head.get(26..28).map_or(0, |bytes| usize::from(bytes[0]) | usize::from(bytes[1]) << 8);
    let member = head.get(30..30 + length).unwrap_or_default();
    if member.ends_with(b".npy") {
        ("a NumPy archive (.npz)", "")
    } else if member == b"[Content_Types].xml" {
        (OFFICE, TABLE)
    } else if member.ends_with(b"/data.pkl") {
        (TORCH, LIST)
    } else {
        ("a zip archive", UNPACK_ARCHIVE)
    }
}

fn markup(head: &[u8]) -> Option<Named> {
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let text = String::from_utf8_lossy(text).to_ascii_lowercase();
    let text = text.trim_ascii_start();
    if text.starts_with("<http") {
        return Some(("RDF (N-Triples)", "write an edge list of it: two ids a line"));
    }
    if text.starts_with('<') {
        return Some(if has_element(text, "graphml") {
            ("GraphML", "")
        } else if has_element(text, "gexf") {
            ("GEXF", "")
        } else if text.contains("<html") || text.starts_with("<!doctype html") {
            ("an HTML page", "perhaps what a server sent in place of the file")
        } else {
            ("XML", "")
        });
    }
    if text.starts_with(['{', '[']) {
        return Some(("JSON", LIST));
    }
    let words: String = text.split_ascii_whitespace().take(4).flat_map(|word| [word, " "]).collect();
    let dot = ["graph ", "digraph ", "strict graph ", "strict digraph "];
    if dot.iter().any(|start| words.starts_with(start)) && words.contains("{ ") {
        return Some(("a Graphviz graph (DOT)", NETWORKX));
    }
    if is_dimacs(text) {
        return Some((DIMACS, ""));
    }
    if is_pajek(text) {
        return Some((PAJEK, ""));
    }
    TEXTS.iter().find(|(start, ..)| words.starts_with(start)).map(|&(_, name, way_out)| (name, way_out))
}

/// Returns whether an element of this name begins in the text, perhaps with the prefix of a namespace.
fn has_element(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let before = &text[..at];
        let prefix = before.rfind('<').map(|open| &before[open + 1..]);
        let prefixed = |prefix: &str| prefix.bytes().all(|byte| byte.is_ascii_alphanumeric());
        prefix.is_some_and(|own| own.is_empty() || own.strip_suffix(':').is_some_and(prefixed))
    })
}

/// Returns whether the text is a Pajek network. Its first line that is neither empty nor a comment (`%`) begins a
/// section, of vertices or with the name of the network.
fn is_pajek(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim_start).filter(|line| !line.is_empty() && !line.starts_with('%'));
    let begins = |line: &str, word: &str| line.split_ascii_whitespace().next() == Some(word);
    lines.next().is_some_and(|line| begins(line, "*network") || begins(line, "*vertices") && line.contains([' ', '\t']))
}

/// Returns whether the text is a DIMACS graph. The first line of such a graph that is not a comment (`c`) states a
/// problem, such as `p edge 5 4`. Such a line cannot be an edge, because no edge has four fields.
fn is_dimacs(text: &str) -> bool {
    let mut lines = text.lines().map(|line| line.split_ascii_whitespace().collect::<Vec<_>>());
    let problem = lines.find(|words| words.first().is_some_and(|&word| word != "c"));
    problem.is_some_and(|words| match words[..] {
        ["p", kind, nodes, edges] => {
            kind.parse::<f64>().is_err() && [nodes, edges].iter().all(|count| natural(count.as_bytes()).is_some())
        }
        _ => false,
    })
}
