#![no_main]

libfuzzer_sys::fuzz_target!(init: fiedler_fuzz::start("arguments"), |input: &[u8]| {
    fiedler_fuzz::arguments(input);
});
