//! Tests of tuning files: measurements that are written are read back, and an invalid file is ignored with a message.

use fiedler::ErrorKind;
use fiedler::forms::{JacobiForm, KernelForm};
use fiedler::policy::{
    CpuRates, Curve, Curves, DeviceClass, Family, GpuRates, Machine, Point, Rates, Slower, Stored, Tuning, parse,
};
use std::fs;

fn curves() -> Curves {
    let point = |size: f64, full: f64, alone: f64| Point { size, rates: vec![[1.0, alone], [16.0, full]] };
    let curve = Curve { points: vec![point(8.0, 1.25e9, 1e8), point(64.0, 2.5e10, 3e9)], first: 0.125 };
    Curves { other: [1e10, 1e9], own: vec![(Family::Eigh, curve.clone()), (Family::Matmul, curve)] }
}

fn cpu() -> Tuning {
    Tuning::Cpu(CpuRates { threads: 3.0, copy: 2e10, fma: 2e11, fresh: 1e9, curves: curves() })
}

fn gpu() -> Tuning {
    Tuning::Gpu(GpuRates {
        round_trip: 1.25e-4,
        dispatch: 5e-6,
        handover: 2e-5,
        upload: 1.2e10,
        download: 1.1e10,
        copy: 1e12,
        fma: 4e13,
        curves: curves(),
        model: None,
        slower: vec![Slower { form: KernelForm::Eigh(JacobiForm::Lane), sizes: [8.0, 32.0] }],
        matrix_units: Some([256.0, 1e30]),
    })
}

fn machine(threads: usize) -> Machine {
    Machine { name: "A \"GPU\" (TM)".to_owned(), driver: "driver 1.2".to_owned(), threads, version: "9.9".to_owned() }
}

#[test]
fn what_is_written_is_read() {
    let folder = tempfile::tempdir().unwrap();
    for (tuning, machine) in [(cpu(), machine(3)), (gpu(), machine(0))] {
        let path = tuning.save(folder.path(), &machine, "2026-11-22").unwrap();
        assert_eq!(parse(&fs::read_to_string(&path).unwrap()).unwrap(), (machine.clone(), tuning.clone()));
        assert_eq!(Stored::of(folder.path(), &machine), Stored::Found(tuning));
    }
    // There is one file for each of the two tunings, and no other file.
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

/// With another driver or version, the measurements are found, and a message says that they do not apply. On another
/// machine, nothing is found, not even in a copy of the file under the name of that machine.
#[test]
fn measurements_of_another_machine_do_not_apply() {
    let folder = tempfile::tempdir().unwrap();
    let own = machine(0);
    gpu().save(folder.path(), &own, "2026-11-22").unwrap();
    let ignored = |other: &Machine| {
        let Stored::Ignored(why) = Stored::of(folder.path(), other) else { panic!("{other:?}") };
        assert!(why.contains(&other.driver) && why.contains(&own.driver) && why.contains(&other.version), "{why}");
    };
    ignored(&Machine { driver: "driver 1.3".to_owned(), ..own.clone() });
    ignored(&Machine { version: "9.8".to_owned(), ..own.clone() });
    for other in [Machine { name: "B".to_owned(), ..own.clone() }, machine(7)] {
        assert_eq!(Stored::of(folder.path(), &other), Stored::Nothing);
        fs::copy(folder.path().join(own.file_name()), folder.path().join(other.file_name())).unwrap();
        ignored(&other);
    }
}

/// A file that is cut anywhere, or has one damaged value, gives a message. It never gives rates and never causes a
/// panic.
#[test]
fn a_damaged_file_is_ignored() {
    let text = gpu().to_text(&machine(0), "2026-11-22");
    for len in 0..text.trim_end().len() {
        if text.is_char_boundary(len) {
            parse(&text[..len]).expect_err("half a file");
        }
    }
    for (good, bad, word) in [
        ("\"format\": 2", "\"format\": 1", "format"),
        ("0.000125", "1e-300", "round_trip_s"),
        ("\"fixed\": {", "\"mixed\": {", "expected a number from"),
        ("0.000125", "-1.0", "round_trip_s"),
        ("0.000125", "\"fast\"", "round_trip_s"),
        ("\"eigh\":", "\"eig\":", "eig"),
        ("[8.0,[", "[80.0,[", "ascending sizes"),
        ("[16.0,1250000000.0", "[0.5,1250000000.0", "ascending items"),
        ("[16.0,1250000000.0", "[16.0,null", "eigh"),
        ("[[1.0,100000000.0],[16.0,1250000000.0]]", "[]", "items"),
        ("[\"eigh\",\"lane\",8.0,32.0]", "[\"eigh\",\"lane\",8.0]", "slower_forms"),
        ("[256.0,1e+30]", "[256.0]", "matrix_units"),
        ("[\"eigh\",\"lane\",8.0,32.0]", "[7,\"lane\",8.0,32.0]", "slower_forms"),
        ("\"threads\":0", "\"threads\":-1", "machine"),
    ] {
        assert!(text.contains(good), "{good} in {text}");
        let why = parse(&text.replacen(good, bad, 1)).expect_err(bad);
        assert!(why.contains(word), "{bad}: {why}");
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(machine(0).file_name()), &text[..text.len() / 2]).unwrap();
    assert!(matches!(Stored::of(folder.path(), &machine(0)), Stored::Ignored(_)));
}

/// Many concurrent writers leave one complete file, which one of them has written.
#[test]
fn concurrent_writers_leave_one_complete_file() {
    let folder = tempfile::tempdir().unwrap();
    let machine = machine(0);
    std::thread::scope(|scope| {
        for i in 1..=8_u32 {
            let (folder, machine) = (folder.path(), &machine);
            scope.spawn(move || {
                let Tuning::Gpu(rates) = gpu() else { unreachable!() };
                let own = Tuning::Gpu(GpuRates { fma: f64::from(i), ..rates });
                for _ in 0..20 {
                    own.save(folder, machine, "2026-11-22").unwrap();
                    let Stored::Found(Tuning::Gpu(found)) = Stored::of(folder, machine) else {
                        panic!("no whole file")
                    };
                    assert!((1.0..=8.0).contains(&found.fma));
                }
            });
        }
    });
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_folder_that_cannot_be_written_is_an_error_that_names_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let error = cpu().save(&file, &machine(3), "2026-11-22").expect_err("a file is no folder").to_string();
    assert!(error.contains("file"), "{error}");
    assert_eq!(Stored::of(&file, &machine(3)), Stored::Nothing);
}

/// The text for another process has every bit, unlike a tuning file, whose numbers are rounded.
#[test]
fn rates_come_back_with_every_bit() {
    let (Tuning::Cpu(mut cpu), Tuning::Gpu(mut gpu)) = (cpu(), gpu()) else { unreachable!() };
    cpu.curves.other = [1.0 / 3.0, 1e10 * (1.0 + f64::EPSILON)];
    (cpu.fresh, gpu.dispatch, gpu.fma) = (f64::INFINITY, f64::MIN_POSITIVE, f64::MAX);
    gpu.curves.own[0].1.points[0].rates[0] = [std::f64::consts::PI, 5e-324];
    let slower = KernelForm::all().map(|form| Slower { form, sizes: [0.1, 0.7] });
    gpu.slower = slower.collect();
    gpu.curves.own = Family::MEASURED.map(|family| (family, gpu.curves.own[0].1.clone())).into();
    let mut all = vec![Rates { cpu, gpu }];
    for class in [DeviceClass::Absent, DeviceClass::Software, DeviceClass::Integrated, DeviceClass::Discrete] {
        all.push(Rates::of(class, 0x10de, 7));
    }
    for rates in &all {
        let text = rates.to_json();
        let back = Rates::from_json(&text).unwrap();
        // Equality does not tell 0 from -0; the text does.
        assert_eq!((&back, back.to_json()), (rates, text));
    }
    let text = all[0].to_json();
    for (what, text) in [
        ("nothing", String::new()),
        ("cut", text[..text.len() - 1].to_owned()),
        ("more", format!("{text} 1")),
        ("a missing number", text.replace("\"round_trip\":0.000125,", "")),
        ("an unknown name", text.replace("\"round_trip\"", "\"round\"")),
        ("a word", text.replace("0.000125", "\"fast\"")),
        ("null", text.replace("0.000125", "null")),
        ("an unknown form", text.replace("\"Lane\"", "\"Line\"")),
    ] {
        let error = Rates::from_json(&text).expect_err(what);
        assert!(matches!(error.kind(), ErrorKind::Domain { .. }), "{what}: {error}");
        assert!(error.to_string().contains("expected rates as JSON"), "{what}: {error}");
    }
}
