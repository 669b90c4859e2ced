//! Writes the shaders in `shaders/generated`: run `cargo run --example unroll` in the project's folder.

mod files;

use std::path::Path;

fn main() -> std::io::Result<()> {
    let shaders = Path::new(env!("CARGO_MANIFEST_DIR")).join("shaders");
    for (name, text) in files::all() {
        std::fs::write(shaders.join(name), text)?;
    }
    Ok(())
}
