#![no_main]

libfuzzer_sys::fuzz_target!(init: fiedler_fuzz::start("arrays"), |input: &[u8]| {
    fiedler_fuzz::arrays(input);
});
