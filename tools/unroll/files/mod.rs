//! Generators of kernels whose data stays in registers. WGSL has no way to unroll a loop, and an array indexed by a
//! variable is not kept in registers. So the functions here write the text of these kernels, and the text is checked
//! in.

mod fourier;
mod ring;
mod tiny;
pub mod wgsl;

/// Returns every file: its path below `shaders`, and its text.
pub fn all() -> Vec<(String, String)> {
    let tiny = tiny::ORDERS.map(|n| (format!("generated/eigen/tiny_{n}.wgsl"), tiny::file(n)));
    let lane = ring::LANES.map(|n| (format!("generated/eigen/lane_{n}.wgsl"), ring::lane(n)));
    let register = ring::REGISTERS.map(|n| (format!("generated/jacobi/register_{n}.wgsl"), ring::register(n)));
    let fourier = [("generated/fft/butterflies.wgsl".to_owned(), fourier::butterflies())];
    tiny.into_iter().chain(lane).chain(register).chain(fourier).collect()
}
