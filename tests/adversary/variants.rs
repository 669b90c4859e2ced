//! Every variant that an adapter may be given is one that the adapter can compile.

use common::adversary;
use fiedler::ErrorKind;
use fiedler::ops::variants::KernelVariant;
use wgpu_adversary::{Adversary, Profile};

#[test]
fn every_variant_compiles() {
    let mut refused = Vec::new();
    for profile in [Profile::minimum(), Profile::nvidia(), Profile::rdna()] {
        let began = std::time::Instant::now();
        let ctx = adversary::open(&Adversary::new(profile.clone(), 0), &[]);
        let facts = ctx.adapter().expect("an adapter").clone();
        for variant in KernelVariant::all().into_iter().filter(|variant| variant.is_for(&facts)) {
            match variant.compile(&ctx) {
                Err(error) if !matches!(error.kind(), ErrorKind::Limit { .. }) => {
                    refused.push(format!("{}: {variant}: {error}", profile.name));
                }
                _ => {}
            }
        }
        println!("{}: {:?}", profile.name, began.elapsed());
    }
    assert!(refused.is_empty(), "{} variants are refused:\n{}", refused.len(), refused.join("\n"));
}
