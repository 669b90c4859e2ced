//! Features of samples that consist of layers of numbers ([`io::Layers`](crate::io::Layers)).

pub mod generate;
