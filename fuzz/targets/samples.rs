#![no_main]

libfuzzer_sys::fuzz_target!(init: fiedler_fuzz::seeds::start("samples"), |input: &[u8]| {
    fiedler_fuzz::samples(input);
});
