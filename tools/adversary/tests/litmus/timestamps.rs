//! Query sets of timestamps.

use super::host::{Opened, each_pace, open_as};
use wgpu::BufferUsages;
use wgpu_adversary::{Adversary, Fault, Faults, Pace, Profile};

fn query_set(opened: &Opened, count: u32) -> wgpu::QuerySet {
    let descriptor = wgpu::QuerySetDescriptor { label: None, ty: wgpu::QueryType::Timestamp, count };
    opened.device.create_query_set(&descriptor)
}

/// Returns the times at which three passes began and ended.
fn times(opened: &Opened) -> Vec<u64> {
    let set = &query_set(opened, 8);
    let resolved = opened.buffer(64, BufferUsages::QUERY_RESOLVE | BufferUsages::COPY_SRC);
    let mut encoder = opened.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    for pass in 0..3 {
        drop(encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: None,
            timestamp_writes: Some(wgpu::ComputePassTimestampWrites {
                query_set: set,
                beginning_of_pass_write_index: Some(2 * pass),
                end_of_pass_write_index: Some(2 * pass + 1),
            }),
        }));
    }
    encoder.write_timestamp(set, 6);
    encoder.resolve_query_set(set, 0..8, &resolved, 0);
    opened.queue.submit([encoder.finish()]);
    let words = opened.read(&resolved);
    words.chunks(2).map(|pair| u64::from(pair[0]) | u64::from(pair[1]) << 32).collect()
}

#[test]
fn passes_are_timed() {
    each_pace(|opened| {
        let times = times(&opened);
        assert!(times[..7].is_sorted() && times[0] > 0, "{times:?}");
        assert_eq!(times[7], 0, "the last query was written");
        assert!(opened.queue.get_timestamp_period() > 0.0);
    });
}

#[test]
fn times_go_backwards_on_request() {
    let profile = Profile::with_subgroups(8);
    let sorted = (0..20).filter(|&seed| {
        let faults = Faults::seeded_of(&[Fault::Timestamp], seed, 0.5);
        let opened = open_as(Adversary::new(profile.clone(), seed).faults(faults).pace(Pace::Late));
        times(&opened)[..7].is_sorted()
    });
    assert!(sorted.count() < 5);
}

#[test]
fn query_sets_are_validated() {
    let profile = Profile::with_subgroups(8);
    let plain = open_as(Adversary::new(profile.clone(), 0).timestamps(false));
    plain.assert_invalid("TIMESTAMP_QUERY", || query_set(&plain, 2));
    let opened = open_as(Adversary::new(profile, 0));
    opened.assert_invalid("not between 1 and", || query_set(&opened, 0));
    opened.assert_invalid("not between 1 and", || query_set(&opened, 4097));
    let set = query_set(&opened, 4);
    let buffer = opened.buffer(512, BufferUsages::QUERY_RESOLVE);
    let resolve = |range, buffer: &wgpu::Buffer, offset| {
        let mut encoder = opened.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        encoder.resolve_query_set(&set, range, buffer, offset);
        encoder.finish()
    };
    opened.assert_invalid("not all in a set", || resolve(0..5, &buffer, 0));
    opened.assert_invalid("no multiple of 256", || resolve(0..4, &buffer, 64));
    opened.assert_invalid("QUERY_RESOLVE", || resolve(0..4, &opened.storage(&[0; 64]), 0));
    opened.valid(|| opened.queue.submit([resolve(0..4, &buffer, 256)]));
    set.destroy();
    opened.assert_invalid("destroyed", || opened.queue.submit([resolve(0..4, &buffer, 256)]));
}
