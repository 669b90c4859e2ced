//! Buffers, copies and mapping.

use super::host::{begin_map, each_pace, open, open_as};
use wgpu::util::{BufferInitDescriptor, DeviceExt as _, StagingBelt};
use wgpu::{BufferUsages, MapMode, PollType};
use wgpu_adversary::{Adversary, FreshBuffers, Profile};

#[test]
fn what_is_written_is_read_back() {
    each_pace(|opened| {
        let words: Vec<u32> = (0..1000).map(|i| i * 7).collect();
        assert_eq!(opened.read(&opened.storage(&words)), words);
    });
}

#[test]
fn a_fresh_buffer_is_zero() {
    let opened = open();
    let buffer = opened.buffer(64, BufferUsages::STORAGE | BufferUsages::COPY_SRC);
    assert_eq!(opened.read(&buffer), [0; 16]);
    let adversary = Adversary::new(Profile::with_subgroups(8), 1).fresh_buffers(FreshBuffers::Unwritten);
    let opened = open_as(adversary);
    let buffer = opened.buffer(64, BufferUsages::STORAGE | BufferUsages::COPY_SRC);
    assert_ne!(opened.read(&buffer), [0; 16]);
}

#[test]
fn buffers_are_mapped_at_creation() {
    let opened = open();
    let contents = bytemuck::bytes_of(&[1_u32, 2, 3]);
    let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC;
    let made = opened.device.create_buffer_init(&BufferInitDescriptor { label: None, contents, usage });
    assert_eq!(opened.read(&made), [1, 2, 3]);
}

#[test]
fn mapped_ranges_are_written_back() {
    each_pace(|opened| {
        let staging = opened.buffer(64, BufferUsages::MAP_WRITE | BufferUsages::COPY_SRC);
        opened.map(&staging, MapMode::Write).expect("it can be mapped");
        {
            let mut first = staging.get_mapped_range_mut(0..8).expect("it is mapped");
            let mut other = staging.get_mapped_range_mut(32..40).expect("the ranges are apart");
            first.copy_from_slice(&[1; 8]);
            other.copy_from_slice(&[2; 8]);
            assert!(staging.get_mapped_range(0..4).is_err(), "the range is in use");
        }
        staging.unmap();
        let target = opened.storage(&[9; 16]);
        let mut encoder = opened.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        encoder.copy_buffer_to_buffer(&staging, 0, &target, 0, None);
        encoder.clear_buffer(&target, 8, Some(4));
        opened.queue.submit([encoder.finish()]);
        let found = opened.read(&target);
        assert_eq!(found[..4], [0x0101_0101, 0x0101_0101, 0, 0]);
        assert_eq!(found[8..10], [0x0202_0202; 2]);
    });
}

#[test]
fn a_staging_belt_uses_its_buffers_again() {
    each_pace(|opened| {
        let target = opened.storage(&[0; 64]);
        let mut belt = StagingBelt::new(opened.device.clone(), 256);
        for round in 0..8_u32 {
            let mut encoder = opened.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            let size = wgpu::BufferSize::new(256).expect("positive");
            belt.write_buffer(&mut encoder, &target, 0, size).copy_from_slice(bytemuck::bytes_of(&[round; 64]));
            belt.finish();
            opened.queue.submit([encoder.finish()]);
            belt.recall();
            let _ = opened.device.poll(PollType::Poll);
            assert_eq!(opened.read(&target), [round; 64]);
        }
    });
}

#[test]
fn unmapping_takes_back_a_pending_mapping() {
    each_pace(|opened| {
        let staging = opened.buffer(16, BufferUsages::MAP_READ | BufferUsages::COPY_DST);
        let result = begin_map(&staging, MapMode::Read);
        staging.unmap();
        assert_eq!(*result.lock().expect("no panic"), Some(Err(wgpu::BufferAsyncError)));
        opened.map(&staging, MapMode::Read).expect("it can be mapped again");
    });
}

#[test]
fn polling_delivers_what_is_late() {
    each_pace(|opened| {
        let buffers: Vec<_> =
            (0..4).map(|_| opened.buffer(16, BufferUsages::MAP_READ | BufferUsages::COPY_DST)).collect();
        let results: Vec<_> = buffers
            .iter()
            .map(|buffer| {
                opened.queue.write_buffer(buffer, 0, &[1; 16]);
                begin_map(buffer, MapMode::Read)
            })
            .collect();
        let arrived = || results.iter().filter(|result| result.lock().expect("no panic").is_some()).count();
        let mut polls = 0;
        while arrived() < 4 {
            opened.device.poll(PollType::Poll).expect("a poll does not fail");
            std::thread::yield_now();
            polls += 1;
            assert!(polls < 1_000_000, "polls alone do not finish the work");
        }
        assert_eq!(*buffers[3].get_mapped_range(..).expect("it is mapped"), [1; 16]);
    });
}

#[test]
fn waiting_for_a_submission_finishes_it() {
    each_pace(|opened| {
        let buffer = opened.storage(&[0; 4]);
        let submit = || {
            let mut encoder = opened.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            encoder.clear_buffer(&buffer, 0, None);
            opened.queue.submit([encoder.finish()])
        };
        let first = submit();
        let done = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let told = std::sync::Arc::clone(&done);
        opened.queue.on_submitted_work_done(move || told.store(true, std::sync::atomic::Ordering::Relaxed));
        let second = submit();
        for submission in [first, second] {
            let wait = PollType::Wait { submission_index: Some(submission), timeout: None };
            assert!(opened.device.poll(wait).is_ok_and(|status| status.wait_finished()));
            assert!(done.load(std::sync::atomic::Ordering::Relaxed));
        }
    });
}

#[test]
fn a_staging_view_is_written_when_it_ends() {
    let opened = open();
    let buffer = opened.storage(&[5; 4]);
    let size = wgpu::BufferSize::new(8).expect("positive");
    let mut view = opened.queue.write_buffer_with(&buffer, 4, size).expect("the write is valid");
    view.copy_from_slice(&[0xff; 8]);
    drop(view);
    assert_eq!(opened.read(&buffer), [5, u32::MAX, u32::MAX, 5]);
}
