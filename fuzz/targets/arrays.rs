#![no_main]

libfuzzer_sys::fuzz_target!(init: fiedler_fuzz::seeds::start("arrays"), |input: &[u8]| {
    fiedler_fuzz::arrays(input);
});
