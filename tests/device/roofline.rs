//! The ceilings of a machine: the test checks that they are measured, not their values.

use common::solve::Checked;
use common::{Test, on_each, suite};
use fiedler::ops::roofline::ceilings;
use fiedler::{Context, ErrorKind};

pub fn tests() -> Vec<Test> {
    suite("roofline", vec![on_each("rates", rates), on_each("measurements that are refused", errors)])
}

/// Every machine moves more than a megabyte per second and does more than a million operations per second. No machine
/// moves 10^18 bytes or does 10^18 operations per second.
fn rates(ctx: &Context) -> Checked {
    for bytes in [16, 4096, 1 << 22] {
        let found = ceilings(ctx, bytes, 2)?;
        assert!(found.call > 0.0 && found.call < 60.0, "{found:?}");
        assert!(found.copy > 0.0 && found.copy < 1e18 && (1e6..1e18).contains(&found.fma), "{found:?}");
        assert!(bytes < 1 << 22 || found.copy > 1e6, "{found:?}");
    }
    Ok(())
}

fn errors(ctx: &Context) -> Checked {
    for (bytes, rounds) in [(0, 3), (15, 3), (1 << 20, 0)] {
        let error = ceilings(ctx, bytes, rounds).expect_err("nothing to measure");
        assert!(matches!(error.kind(), ErrorKind::Domain { .. }) && error.to_string().contains("found"), "{error}");
    }
    let error = ceilings(ctx, 1 << 40, 1).expect_err("a terabyte");
    assert!(matches!(error.kind(), ErrorKind::Limit { .. }), "{error}");
    Ok(())
}
