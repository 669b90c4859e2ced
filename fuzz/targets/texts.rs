#![no_main]

libfuzzer_sys::fuzz_target!(init: fiedler_fuzz::start("texts"), |input: &[u8]| {
    fiedler_fuzz::texts(input);
});
