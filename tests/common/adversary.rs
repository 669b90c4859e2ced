//! Hostile adapters (`wgpu-adversary`) among those that the trials run on: `FIEDLER_ADVERSARIES=NVIDIA:7,RDNA:1:exact`
//! adds one for each profile, by the end of its name, with its seed. With `exact`, it rounds correctly, and only its
//! order of execution is hostile. A trial on such an adapter fails if a kernel did what WGSL does not define.

use fiedler::forms::KernelForm;
use fiedler::ops::variants::KernelVariant;
use fiedler::{Backend, Context, WgpuDevice};
use std::collections::BTreeSet;
use std::env;
use std::sync::OnceLock;
use wgpu_adversary::{Adversary, Profile};

const ADVERSARIES: &str = "FIEDLER_ADVERSARIES";

/// The word with which a poisoned pool fills its buffers. What they contain counts as not written.
const POISON: f32 = 1e30;

static REGISTERED: OnceLock<Vec<Adversary>> = OnceLock::new();

/// Adds the adversaries that the environment names to the adapters of this process.
///
/// # Panics
/// If the environment names no profile, or no seed.
pub fn register() {
    let said = env::var(ADVERSARIES).unwrap_or_default();
    let made = said.split(',').filter(|text| !text.is_empty()).map(adversary).collect::<Vec<_>>();
    for adversary in REGISTERED.get_or_init(|| made) {
        fiedler::Adapter::register(adversary.adapter());
    }
}

fn adversary(text: &str) -> Adversary {
    let (text, exact) = text.strip_suffix(":exact").map_or((text, false), |text| (text, true));
    let (name, seed) = text.split_once(':').unwrap_or((text, "0"));
    let seed = seed.parse().unwrap_or_else(|_| panic!("{ADVERSARIES}: expected a seed, found `{seed}`"));
    let profile = Profile::all().into_iter().find(|profile| profile.name.ends_with(name));
    let profile = profile.unwrap_or_else(|| panic!("{ADVERSARIES}: there is no profile `{name}`"));
    let profile = if exact { profile.exact() } else { profile };
    // Tests do less work on an adapter that is software.
    let adversary = Adversary::new(profile, seed).undefined_word(POISON.to_bits()).device_type(wgpu::DeviceType::Cpu);
    with_sources(adversary)
}

/// Tells the adversary the WGSL of every kernel, so that findings have lines.
pub fn with_sources(adversary: Adversary) -> Adversary {
    let sources: BTreeSet<_> = KernelVariant::all().iter().map(KernelVariant::source).collect();
    sources.into_iter().fold(adversary, |adversary, (label, wgsl)| adversary.source(label, wgsl))
}

/// Opens a context on an adversary, whose kernels have these forms.
///
/// # Panics
/// If there is none.
pub fn open(adversary: &Adversary, forms: &[KernelForm]) -> Context {
    let (adapter, device, queue) = adversary.open();
    let builder = Context::builder().backend(Backend::Gpu).tuned(false).kernels(forms);
    builder.build_on(WgpuDevice { adapter, device, queue }).expect("a context")
}

/// Returns the adversary that is the adapter with this name, if there is one, as wgpu itself has it.
pub fn adapter(name: &str) -> Option<wgpu::Adapter> {
    let mut adapters = REGISTERED.get().into_iter().flatten().map(Adversary::adapter);
    adapters.find(|adapter| adapter.get_info().name == name)
}

/// Fails if an adversary has found anything since the last call.
pub fn verdict() -> Result<(), String> {
    let findings: Vec<_> =
        REGISTERED.get().into_iter().flatten().flat_map(|adversary| adversary.report().take()).collect();
    if findings.is_empty() {
        return Ok(());
    }
    let lines: Vec<_> = findings.iter().map(ToString::to_string).collect();
    Err(format!("{} findings:\n{}", lines.len(), lines.join("\n")))
}
