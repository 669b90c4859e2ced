#![no_main]

libfuzzer_sys::fuzz_target!(init: fiedler_fuzz::start("models"), |input: &[u8]| {
    fiedler_fuzz::models(input);
});
