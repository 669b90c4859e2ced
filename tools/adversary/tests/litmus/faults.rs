//! The faults of the host side.

use super::host::{Opened, begin_map, open, open_as};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use wgpu::{BufferUsages, DeviceLostReason, MapMode, PollType};
use wgpu_adversary::{Adversary, Fault, Faults, Pace, Profile};

fn with(faults: Faults) -> Opened {
    open_as(Adversary::new(Profile::with_subgroups(8), 5).faults(faults))
}

type Losses = Arc<Mutex<Vec<(DeviceLostReason, String)>>>;

/// Collects the calls of the callback for the loss of the device.
fn losses(opened: &Opened) -> Losses {
    let losses = Losses::default();
    let told = Arc::clone(&losses);
    opened.device.set_device_lost_callback(move |reason, message| {
        told.lock().expect("no panic").push((reason, message));
    });
    losses
}

/// Uploads, copies and reads back.
fn work(opened: &Opened) -> Option<Vec<u8>> {
    let buffer = opened.storage(&[3; 4]);
    let staging = opened.buffer(16, BufferUsages::MAP_READ | BufferUsages::COPY_DST);
    let mut encoder = opened.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    encoder.copy_buffer_to_buffer(&buffer, 0, &staging, 0, 16);
    opened.queue.submit([encoder.finish()]);
    let result = begin_map(&staging, MapMode::Read);
    opened.device.poll(PollType::wait_indefinitely()).expect("no timeout was set");
    let result = result.lock().expect("no panic").take();
    result?.ok().and_then(|()| Some(staging.get_mapped_range(..).ok()?.to_vec()))
}

#[test]
fn any_call_may_lose_the_device() {
    let counted = with(Faults::default());
    assert!(work(&counted).is_some());
    let calls = counted.adversary.calls(Fault::DeviceLost);
    assert!(calls >= 7, "{calls}");
    for call in 1..=calls {
        let opened = with(Faults::nth(Fault::DeviceLost, call));
        let losses = losses(&opened);
        let error = opened.invalid(|| assert_eq!(work(&opened), None, "call {call}"));
        assert_eq!(error, None, "a lost device reports nothing but its loss");
        assert_eq!(losses.lock().expect("no panic").len(), 1, "call {call}");
        assert_eq!(losses.lock().expect("no panic")[0].0, DeviceLostReason::Unknown);
        assert_eq!(opened.adversary.injected().len(), 1);
        assert_eq!(work(&opened), None, "a device stays lost");
    }
}

#[test]
fn destroying_a_device_loses_it() {
    let opened = open();
    let losses = losses(&opened);
    let pending = begin_map(&opened.buffer(8, BufferUsages::MAP_READ), MapMode::Read);
    opened.device.destroy();
    let _ = opened.device.poll(PollType::Poll);
    assert_eq!(losses.lock().expect("no panic").first().map(|(reason, _)| *reason), Some(DeviceLostReason::Destroyed));
    assert_eq!(*pending.lock().expect("no panic"), Some(Err(wgpu::BufferAsyncError)));
}

#[test]
fn mappings_end_with_their_device() {
    let opened = open();
    let buffer = opened.buffer(8, BufferUsages::MAP_READ);
    let pending = begin_map(&buffer, MapMode::Read);
    drop(opened);
    assert_eq!(*pending.lock().expect("no panic"), Some(Err(wgpu::BufferAsyncError)));
}

#[test]
fn memory_runs_out() {
    let opened = with(Faults::nth(Fault::OutOfMemory, 2));
    let make = || {
        let scope = opened.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let buffer = opened.buffer(16, BufferUsages::STORAGE);
        (buffer, pollster::block_on(scope.pop()))
    };
    assert!(make().1.is_none());
    let (broken, error) = make();
    assert!(matches!(error, Some(wgpu::Error::OutOfMemory { .. })));
    assert!(make().1.is_none());
    opened.assert_invalid("a buffer is invalid", || opened.queue.write_buffer(&broken, 0, &[0; 4]));
    let small = open_as(Adversary::new(Profile::with_subgroups(8), 0).memory(1000));
    let scope = small.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
    drop(small.buffer(800, BufferUsages::STORAGE));
    let kept = small.buffer(800, BufferUsages::STORAGE);
    assert!(pollster::block_on(scope.pop()).is_none(), "the first buffer is gone");
    let scope = small.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
    drop(small.buffer(800, BufferUsages::STORAGE));
    assert!(pollster::block_on(scope.pop()).is_some(), "{kept:?} is not");
}

#[test]
fn mappings_fail_and_can_be_repeated() {
    let opened = with(Faults::nth(Fault::MapFailed, 1));
    let staging = opened.buffer(8, BufferUsages::MAP_READ | BufferUsages::COPY_DST);
    assert!(opened.map(&staging, MapMode::Read).is_err());
    staging.unmap();
    assert!(opened.map(&staging, MapMode::Read).is_ok());
}

#[test]
fn mappings_are_late() {
    let delay = Duration::from_millis(80);
    let opened = with(Faults::nth(Fault::MapDelayed, 1).delay(delay));
    let staging = opened.buffer(8, BufferUsages::MAP_READ | BufferUsages::COPY_DST);
    let began = Instant::now();
    let result = begin_map(&staging, MapMode::Read);
    while result.lock().expect("no panic").is_none() {
        opened.device.poll(PollType::wait_indefinitely()).expect("no timeout was set");
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(began.elapsed() >= delay);
}

#[test]
fn submissions_stall() {
    for pace in [Pace::Late, Pace::Concurrent] {
        let delay = Duration::from_millis(80);
        let faults = Faults::nth(Fault::Stalled, 1).delay(delay);
        let opened = open_as(Adversary::new(Profile::with_subgroups(8), 5).faults(faults).pace(pace));
        let began = Instant::now();
        let submission_index = Some(opened.queue.submit([]));
        let soon = PollType::Wait { submission_index, timeout: Some(Duration::from_millis(5)) };
        assert!(matches!(opened.device.poll(soon), Err(wgpu::PollError::Timeout)));
        assert!(opened.device.poll(PollType::wait_indefinitely()).is_ok());
        assert!(began.elapsed() >= delay);
    }
}

#[test]
fn pipelines_fail_to_compile() {
    let opened = with(Faults::nth(Fault::PipelineFailed, 1));
    let wgsl = "@compute @workgroup_size(1) fn main() {}";
    let scope = opened.device.push_error_scope(wgpu::ErrorFilter::Internal);
    let broken = opened.pipeline(wgsl);
    assert!(matches!(pollster::block_on(scope.pop()), Some(wgpu::Error::Internal { .. })));
    opened.assert_invalid("the pipeline is invalid", || broken.get_bind_group_layout(0));
    opened.valid(|| opened.pipeline(wgsl));
}

#[test]
fn devices_are_refused() {
    let adversary = Adversary::new(Profile::minimum(), 0).faults(Faults::nth(Fault::DeviceRefused, 1));
    let adapter = adversary.adapter();
    let limits = adapter.limits();
    let ask = || {
        let descriptor = wgpu::DeviceDescriptor { required_limits: limits.clone(), ..Default::default() };
        pollster::block_on(adapter.request_device(&descriptor))
    };
    assert!(ask().is_err_and(|error| error.to_string().contains("injected fault")));
    assert!(ask().is_ok());
}

#[test]
fn whatever_fails_nothing_panics() {
    for seed in 0..300 {
        let faults = Faults::seeded(seed, 0.1).delay(Duration::from_millis(1));
        let opened = open_as(Adversary::new(Profile::with_subgroups(8), seed).faults(faults));
        opened.device.on_uncaptured_error(Arc::new(|_| {}));
        for _ in 0..3 {
            let found = work(&opened);
            let untroubled = opened.adversary.injected().is_empty();
            assert!(!untroubled || found.is_some());
        }
    }
}
