//! A few eigenpairs of large sparse symmetric matrices.

mod space;
