//! Reads and writes the measured rates of the CPU or of an adapter as a small text file that people can read.

use super::rates::{CpuRates, Curve, Curves, GpuRates, Point};
use super::workload::Family;
use crate::device::Slower;
use crate::forms::KernelForm;
use serde_json::{Value, json};

/// The version of the file format. A file with another version is rejected.
const FORMAT: u64 = 2;

/// The machine on which the rates of a file were measured. The rates are used only if all fields are equal to those of
/// the current machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// The adapter's name, or `cpu`.
    pub name: String,
    /// The backend and the driver with its version, or the model name of the CPU.
    pub driver: String,
    /// The number of CPU threads, or 0 for an adapter.
    pub threads: usize,
    /// The version of this library.
    pub version: String,
}

impl Machine {
    /// Describes an adapter.
    #[must_use]
    pub fn adapter(name: &str, backend: &str, driver: &str) -> Self {
        let driver = format!("{backend} {driver}");
        Self { name: name.to_owned(), driver, threads: 0, version: env!("CARGO_PKG_VERSION").to_owned() }
    }

    /// Describes the CPU with the given number of threads.
    #[must_use]
    pub fn cpu(threads: usize) -> Self {
        Self { name: "cpu".to_owned(), driver: model(), threads, version: env!("CARGO_PKG_VERSION").to_owned() }
    }

    /// Returns the name of the tuning file for this machine.
    #[must_use]
    pub fn file_name(&self) -> String {
        let plain: String =
            self.name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect();
        let words: Vec<&str> = plain.split('-').filter(|word| !word.is_empty()).take(6).collect();
        // The versions of the driver and of this library are not part of the file name. After an update, the old file
        // is therefore still found, and it can be reported that the file is outdated.
        let all = format!("{}\n{}", self.name, self.threads);
        format!("{}-{}.json", words.join("-"), &blake3::hash(all.as_bytes()).to_hex()[..8])
    }

    fn to_json(&self) -> Value {
        json!({ "name": self.name, "driver": self.driver, "threads": self.threads, "fiedler": self.version })
    }

    fn from_json(value: &Value) -> Option<Self> {
        let text = |key: &str| value[key].as_str().map(str::to_owned);
        let threads = usize::try_from(value["threads"].as_u64()?).ok()?;
        Some(Self { name: text("name")?, driver: text("driver")?, threads, version: text("fiedler")? })
    }
}

/// Returns the model name of the processor if the system reports it, otherwise the name of the architecture.
fn model() -> String {
    let told = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = told.lines().find(|line| line.starts_with("model name")).and_then(|line| line.split_once(':'));
    line.map_or(std::env::consts::ARCH, |(_, name)| name.trim()).to_owned()
}

/// The measured rates of the CPU or of an adapter.
#[derive(Clone, Debug, PartialEq)]
pub enum Tuning {
    /// The CPU's rates.
    Cpu(CpuRates),
    /// An adapter's rates.
    Gpu(GpuRates),
}

impl Tuning {
    /// Returns the text of the tuning file for these rates.
    #[must_use]
    pub fn to_text(&self, machine: &Machine, date: &str) -> String {
        let (copy, fma) = ("copy_bytes_per_s", "fma_flop_per_s");
        let slower: &[Slower] = if let Self::Gpu(r) = self { &r.slower } else { &[] };
        let (fixed, curves) = match self {
            Self::Cpu(r) => (
                json!({ copy: rounded(r.copy), fma: rounded(r.fma), "fresh_bytes_per_s": rounded(r.fresh) }),
                &r.curves,
            ),
            Self::Gpu(r) => (
                json!({
                    "round_trip_s": rounded(r.round_trip), "dispatch_s": rounded(r.dispatch), "handover_s": rounded(r.handover),
                    "upload_bytes_per_s": rounded(r.upload), "download_bytes_per_s": rounded(r.download),
                    copy: rounded(r.copy), fma: rounded(r.fma),
                }),
                &r.curves,
            ),
        };
        // Each size is on a separate line, so that people can read the file.
        let own: Vec<String> = curves
            .own
            .iter()
            .map(|(family, curve)| {
                let rates = |p: &Point| p.rates.iter().map(|r| json!(r.map(rounded))).collect::<Vec<_>>();
                let points = curve.points.iter().map(|p| json!([rounded(p.size), rates(p)]));
                let points: Vec<String> = points.map(|point| format!("      {point}")).collect();
                let first = rounded(curve.first);
                format!(
                    "    \"{family}\": {{ \"first_call_s\": {first}, \"size_items_rates\": [\n{}\n    ] }}",
                    points.join(",\n")
                )
            })
            .collect();
        let form = |s: &Slower| format!("    {}", json!([s.form.family(), s.form.name(), s.sizes[0], s.sizes[1]]));
        let slower: Vec<String> = slower.iter().map(form).collect();
        let matrix_units = if let Self::Gpu(r) = self { r.matrix_units.map(|sizes| sizes.map(rounded)) } else { None };
        format!(
            "{{\n  \"format\": {FORMAT},\n  \"measured\": \"{date}\",\n  \"machine\": {},\n  \"fixed\": {fixed},\n  \
             \"other_full_alone\": {},\n  \"slower_forms\": [\n{}\n  ],\n  \"matrix_units\": {},\n  \
             \"curves\": {{\n{}\n  }}\n}}\n",
            machine.to_json(),
            json!(curves.other.map(rounded)),
            slower.join(",\n"),
            json!(matrix_units),
            own.join(",\n")
        )
    }
}

/// Rounds to four significant digits, because the measurements are not more precise.
fn rounded(x: f64) -> f64 {
    format!("{x:.3e}").parse().unwrap_or(x)
}

/// Parses the machine and the rates from the text of a tuning file.
///
/// # Errors
/// A message that says what is wrong with the text.
pub fn parse(text: &str) -> Result<(Machine, Tuning), String> {
    let all: Value = serde_json::from_str(text).map_err(|error| format!("no JSON: {error}"))?;
    if all["format"].as_u64() != Some(FORMAT) {
        return Err(format!("expected format {FORMAT}, found {}", all["format"]));
    }
    let machine = Machine::from_json(&all["machine"]).ok_or("no machine that it holds for")?;
    let rate = |value: &Value, what: &str| match value.as_f64() {
        Some(x) if (1e-15..=1e30).contains(&x) => Ok(x),
        _ => Err(format!("{what}: expected a number from 1e-15 to 1e30, found {value}")),
    };
    let fixed = |key: &str| rate(&all["fixed"][key], key);
    let pair = |value: &Value, what: &str| Ok::<_, String>([rate(&value[0], what)?, rate(&value[1], what)?]);
    let mut own = Vec::new();
    for (name, curve) in all["curves"].as_object().ok_or("no curves")? {
        let family = Family::named(name).ok_or_else(|| format!("curves: `{name}` is no family"))?;
        let mut points = Vec::new();
        for point in curve["size_items_rates"].as_array().ok_or_else(|| format!("{name}: no points"))? {
            let all = point[1].as_array().ok_or_else(|| format!("{name}: a point without rates"))?;
            let rates = all.iter().map(|one| pair(one, name)).collect::<Result<Vec<_>, _>>()?;
            if rates.is_empty() || !rates.is_sorted_by(|a, b| a[0] < b[0]) {
                return Err(format!("{name}: expected rates of ascending items"));
            }
            points.push(Point { size: rate(&point[0], name)?, rates });
        }
        if points.is_empty() || !points.is_sorted_by(|a, b| a.size < b.size) {
            return Err(format!("{name}: expected points of ascending sizes"));
        }
        let first = curve["first_call_s"].as_f64().filter(|x| x.is_finite() && *x >= 0.0).unwrap_or(0.0);
        own.push((family, Curve { points, first }));
    }
    let mut slower = Vec::new();
    for form in all["slower_forms"].as_array().ok_or("no slower_forms")? {
        let word = |value: &Value| value.as_str().map(str::to_owned).ok_or("slower_forms: expected a name");
        let (family, name) = (word(&form[0])?, word(&form[1])?);
        let sizes = pair(&json!([form[2], form[3]]), "slower_forms")?;
        let form = KernelForm::named(&family, &name);
        slower.push(Slower {
            form: form.ok_or_else(|| format!("slower_forms: `{name}` is no form of `{family}`"))?,
            sizes,
        });
    }
    let matrix_units = match &all["matrix_units"] {
        Value::Null => None,
        sizes => Some(pair(sizes, "matrix_units")?),
    };
    let curves = Curves { other: pair(&all["other_full_alone"], "other_full_alone")?, own };
    #[expect(clippy::cast_precision_loss, reason = "a count of threads")]
    let threads = machine.threads as f64;
    let (copy, fma) = (fixed("copy_bytes_per_s")?, fixed("fma_flop_per_s")?);
    let tuning = if machine.threads > 0 {
        Tuning::Cpu(CpuRates { threads, copy, fma, fresh: fixed("fresh_bytes_per_s")?, curves })
    } else {
        Tuning::Gpu(GpuRates {
            round_trip: fixed("round_trip_s")?,
            dispatch: fixed("dispatch_s")?,
            handover: fixed("handover_s")?,
            upload: fixed("upload_bytes_per_s")?,
            download: fixed("download_bytes_per_s")?,
            copy,
            fma,
            curves,
            model: None,
            slower,
            matrix_units,
        })
    };
    Ok((machine, tuning))
}
