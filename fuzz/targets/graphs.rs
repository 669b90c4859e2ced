#![no_main]

libfuzzer_sys::fuzz_target!(init: fiedler_fuzz::start("graphs"), |input: &[u8]| {
    fiedler_fuzz::graphs(input);
});
