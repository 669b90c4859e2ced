#![no_main]

libfuzzer_sys::fuzz_target!(init: fiedler_fuzz::start("tables"), |input: &[u8]| {
    fiedler_fuzz::tables(input);
});
