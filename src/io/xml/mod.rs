//! The graphs of XML formats: GraphML and GEXF. A document type is refused, so no entity can expand.

mod gexf;
mod graphml;

pub(super) use {gexf::read as read_gexf, graphml::read as read_graphml};

use super::lines::quoted;
use super::nodes::Wrong;
use super::source::{Source, refused};
use crate::error::{Error, Result};
use quick_xml::events::attributes::Attribute;
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};
use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Read};
use std::path::PathBuf;
use std::rc::Rc;

/// The maximum depth of elements. A graph within a node of a graph has 5 more.
const DEEPEST: usize = 256;

/// A start tag.
struct Tag {
    /// The name without the prefix of a namespace.
    name: String,
    attributes: Vec<(String, String)>,
}

impl Tag {
    fn get(&self, key: &str) -> Option<&str> {
        self.attributes.iter().find(|(own, _)| own == key).map(|(_, value)| value.as_str())
    }
}

enum Item {
    Start(Tag),
    /// The end of the element of this name.
    End(String),
}

/// The elements of an XML document.
struct Elements {
    reader: Reader<Counted<BufReader<Box<dyn Read + Send>>>>,
    name: PathBuf,
    lines: Rc<Cell<u64>>,
    /// The line on which the last item begins.
    line: u64,
    depth: usize,
    /// The text after the last start tag.
    text: String,
    buffer: Vec<u8>,
    /// Whether weights may be negative.
    signed: bool,
}

impl Elements {
    fn open(source: &Source) -> Result<Self> {
        let lines = Rc::new(Cell::new(1));
        let counted = Counted { reader: BufReader::with_capacity(1 << 16, source.open()?), lines: Rc::clone(&lines) };
        let mut reader = Reader::from_reader(counted);
        reader.config_mut().expand_empty_elements = true;
        let (text, buffer) = (String::new(), Vec::new());
        let (name, signed) = (source.name().into(), source.signed());
        Ok(Self { reader, name, lines, line: 1, depth: 0, text, buffer, signed })
    }

    /// Returns the next start or end of an element, or `None` at the end of the document.
    fn next(&mut self) -> Result<Option<Item>> {
        loop {
            self.buffer.clear();
            let line = self.lines.get();
            let mut buffer = std::mem::take(&mut self.buffer);
            let found = match self.reader.read_event_into(&mut buffer) {
                Ok(event) => self.take(&event, line),
                Err(error) => Err(self.refuse(error)),
            };
            self.buffer = buffer;
            match found? {
                Step::Item(item) => return Ok(Some(item)),
                Step::Nothing => {}
                Step::Ended => return Ok(None),
            }
        }
    }

    fn take(&mut self, event: &Event<'_>, line: u64) -> Result<Step> {
        self.line = line;
        match event {
            Event::Start(start) | Event::Empty(start) => {
                self.depth += 1;
                if self.depth > DEEPEST {
                    return Err(self.error(format!("at most {DEEPEST} elements, one within another"), "more"));
                }
                self.text.clear();
                self.tag(start).map(|tag| Step::Item(Item::Start(tag)))
            }
            Event::End(end) => {
                self.depth = self.depth.saturating_sub(1);
                Ok(Step::Item(Item::End(end.local_name().as_ref().to_owned())))
            }
            Event::Text(text) => {
                self.text.push_str(&text.xml10_content());
                Ok(Step::Nothing)
            }
            Event::CData(text) => {
                self.text.push_str(&text.xml10_content());
                Ok(Step::Nothing)
            }
            Event::GeneralRef(reference) => {
                let known = match reference.resolve_char_ref() {
                    Ok(found) => found.or_else(|| predefined(reference)),
                    Err(_) => None,
                };
                let Some(character) = known else {
                    let found = format!("the entity {}", quoted(reference.as_bytes()));
                    return Err(self.error("characters and the entities that XML itself has", found));
                };
                self.text.push(character);
                Ok(Step::Nothing)
            }
            Event::DocType(_) => {
                Err(self.error("XML without a document type, which could define entities", "<!DOCTYPE"))
            }
            Event::Decl(declaration) => match declaration.encoding() {
                Some(Ok(name)) if !["utf-8", "us-ascii", "ascii"].iter().any(|own| name.eq_ignore_ascii_case(own)) => {
                    Err(self.error("text in UTF-8", format!("the encoding {}", quoted(name.as_bytes()))))
                }
                _ => Ok(Step::Nothing),
            },
            Event::Comment(_) | Event::PI(_) => Ok(Step::Nothing),
            Event::Eof if self.depth > 0 => Err(self.error("the end of each element", "the end of the file before it")),
            Event::Eof => Ok(Step::Ended),
        }
    }

    fn tag(&self, start: &BytesStart<'_>) -> Result<Tag> {
        let wrong = |found: String| self.error("attributes as XML has them", found);
        let one = |attribute: Attribute<'_>| {
            let value =
                attribute.normalized_value(XmlVersion::Implicit1_0).map_err(|error| wrong(error.to_string()))?;
            Ok((attribute.key.local_name().as_ref().to_owned(), value.into_owned()))
        };
        let attributes = start.attributes().map(|found| one(found.map_err(|error| wrong(error.to_string()))?));
        let attributes = attributes.collect::<Result<_>>()?;
        Ok(Tag { name: start.local_name().as_ref().to_owned(), attributes })
    }

    /// Returns a parse error for the line on which the last item begins.
    fn error(&self, expected: impl Into<String>, found: impl Into<String>) -> Error {
        Error::parse(&self.name, Some(self.line), expected, found)
    }

    fn wrong(&self, (expected, found): Wrong) -> Error {
        self.error(expected, found)
    }

    /// Returns an attribute that every such element has.
    fn required<'a>(&self, tag: &'a Tag, key: &str) -> Result<&'a str> {
        tag.get(key).ok_or_else(|| self.error(format!("<{}> with the attribute {key}", tag.name), "none"))
    }

    fn refuse(&self, error: quick_xml::Error) -> Error {
        match error {
            quick_xml::Error::Io(error) => match std::sync::Arc::try_unwrap(error) {
                Ok(error) => refused(&self.name, error),
                Err(shared) => refused(&self.name, io::Error::other(shared.to_string())),
            },
            other => Error::parse(&self.name, Some(self.lines.get()), "well-formed XML", other.to_string()),
        }
    }
}

enum Step {
    Item(Item),
    Nothing,
    Ended,
}

fn predefined(name: &str) -> Option<char> {
    Some(match name {
        "lt" => '<',
        "gt" => '>',
        "amp" => '&',
        "apos" => '\'',
        "quot" => '"',
        _ => return None,
    })
}

/// A reader that counts the line ends that were consumed.
struct Counted<R> {
    reader: R,
    lines: Rc<Cell<u64>>,
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let count = available.len().min(out.len());
        out[..count].copy_from_slice(&available[..count]);
        self.consume(count);
        Ok(count)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.reader.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        // The buffer is not empty if any of it is consumed, so this reads nothing.
        if let Ok(available) = self.reader.fill_buf() {
            let ends = memchr::memchr_iter(b'\n', &available[..count.min(available.len())]).count();
            self.lines.set(self.lines.get() + ends as u64);
        }
        self.reader.consume(count);
    }
}
