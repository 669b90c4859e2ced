//! `fiedler bench --policy`: reports whether `auto` chose well and how good the predictions are.

use crate::bench::page::seconds as time;
use crate::bench::{Measured, choice_seconds, differ};
use crate::commands::print;
use fiedler::Context;
use fiedler::policy::Side;

/// Prints how the choices and the predictions compare with the measured times.
pub(super) fn judge(all: &[Measured], ctx: &Context, json: bool) {
    let mut pairs = Vec::new();
    for cpu in all.iter().filter(|m| m.side == Side::Cpu) {
        if let Some(gpu) = all.iter().find(|m| m.side == Side::Gpu && m.case == cpu.case) {
            pairs.push((cpu, gpu));
        }
    }
    if pairs.is_empty() && !json {
        return print("choices: nothing was measured on both sides, so there is nothing to judge");
    }
    let mut failed = Vec::new();
    let (mut right, mut worst) = (0, 1.0_f64);
    for (cpu, gpu) in &pairs {
        let (chosen, other) = match cpu.case.choose(ctx, false).side {
            Side::Cpu => (cpu, gpu),
            Side::Gpu => (gpu, cpu),
        };
        let cost = chosen.transfers.median / other.transfers.median;
        if cost <= 1.0 || !differ(chosen, other) {
            right += 1;
        } else {
            worst = worst.max(cost);
            let side = if chosen.side == Side::Cpu { "cpu" } else { "gpu" };
            failed.push(format!("{}: {side} was chosen but takes {cost:.2} times as long", cpu.case));
        }
    }
    let within = all.iter().filter(|m| m.off() <= 2.0).count();
    let seconds = choice_seconds(ctx);
    if json {
        print(serde_json::json!({
            "cells": pairs.len(), "right": right, "worst_cost": worst, "figures": all.len(), "within_2x": within,
            "choice_s": seconds, "failed": failed,
        }));
        return;
    }
    print(format_args!(
        "choices: {right} of {} picked the faster side, or differ only by noise; the worst takes {worst:.2} times as \
         long as the other side",
        pairs.len()
    ));
    print(format_args!("predictions: {within} of {} within 2x", all.len()));
    print(format_args!("a choice takes {}", time(seconds)));
    for line in failed {
        print(format_args!("  {line}"));
    }
    for m in all.iter().filter(|m| m.off() > 2.0) {
        let side = if m.side == Side::Cpu { "cpu" } else { "gpu" };
        print(format_args!(
            "  {} on {side}: predicted {}, took {}",
            m.case,
            time(m.predicted),
            time(m.transfers.median)
        ));
    }
}
