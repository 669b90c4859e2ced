#![no_main]

libfuzzer_sys::fuzz_target!(init: fiedler_fuzz::start("samples"), |input: &[u8]| {
    fiedler_fuzz::samples(input);
});
