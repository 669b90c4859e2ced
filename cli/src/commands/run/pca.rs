//! `fiedler run pca`: principal components.

use super::input::{Axes, Input};
use super::stats::{Common, Found, Operation, made};
use crate::commands::values::whole;
use crate::commands::{Failure, Outcome};
use clap::{Args, ValueEnum};
use fiedler::array::{Array, Real};
use fiedler::ops::pca::{Pca as Components, PcaOptions, Solver, choose_pca, pca};
use fiedler::policy::Choice;
use fiedler::{Context, Error, Shape};

#[derive(Debug, Args)]
pub(super) struct Pca {
    #[command(flatten)]
    common: Common,
    /// The number of components.
    #[arg(short, value_name = "K", value_parser = whole::<usize>)]
    k: usize,
    /// Divide each coordinate by the square root of its variance. Coordinates whose variance may consist of rounding
    /// errors alone become 0, and the last line of the output says how many. The threshold is 10 cols eps times the
    /// largest variance. With --solver svd, it is (max(rows, cols) eps)^2 times the largest variance.
    #[arg(long)]
    whiten: bool,
    /// The method. truncated runs only on the CPU. It uses block Lanczos until the residuals A v - s u and A' u - s v
    /// of all singular triplets (u, s, v) are small enough. The exit status is 3 if 100 passes do not suffice.
    #[arg(long, value_enum, value_name = "SOLVER", default_value = "auto")]
    solver: SolverName,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum SolverName {
    Auto,
    Covariance,
    Svd,
    Truncated,
}

impl Pca {
    pub(super) fn run(self) -> Result<Outcome, Failure> {
        self.common.run(&self)
    }

    fn options(&self) -> PcaOptions {
        let solver = match self.solver {
            SolverName::Auto => Solver::Auto,
            SolverName::Covariance => Solver::Covariance,
            SolverName::Svd => Solver::Svd,
            SolverName::Truncated => Solver::Truncated,
        };
        PcaOptions { solver, ..PcaOptions::default() }
    }

    fn found<T: Real>(&self, ctx: &Context, x: &Array<T>) -> Result<(Components<T>, Array<T>), Error> {
        let found = pca(ctx, x, self.k, self.options())?;
        let turned = found.transform(ctx, x, self.whiten)?;
        Ok((found, turned))
    }
}

impl Operation for Pca {
    const NAME: &'static str = "pca";
    const AXES: Axes = Axes::MATRIX;

    fn on_cpu_alone(&self) -> Option<&'static str> {
        matches!(self.solver, SolverName::Truncated).then_some("--solver truncated")
    }

    fn check(&self, input: &Input<'_>) -> Result<(), Failure> {
        let [rows, cols] = input.shape[..] else { return Ok(()) };
        if rows < 2 {
            return Err(input.wrong("at least two rows"));
        }
        if self.k > rows.min(cols) {
            let (most, shown) = (rows.min(cols), input.shown());
            return Err(Failure::Call(format!(
                "-k: expected at most {most}, the shorter side of {shown}, found {}",
                self.k
            )));
        }
        Ok(())
    }

    fn call<T: Real>(&self, ctx: &Context, x: &Array<T>, _: usize) -> Result<Found<T>, Error> {
        let (found, turned) = self.found(ctx, x)?;
        let matrix = |shape: Shape| vec![shape.rows, shape.cols];
        let numbers = vec![
            made("components", ctx, &found.components, matrix)?,
            made("explained_variance", ctx, &found.explained_variance, |shape| vec![shape.rows])?,
            made("explained_variance_ratio", ctx, &found.explained_variance_ratio, |shape| vec![shape.rows])?,
            made("singular_values", ctx, &found.singular_values, |shape| vec![shape.rows])?,
            made("mean", ctx, &found.mean, |shape| vec![shape.cols])?,
            made("transformed", ctx, &turned, matrix)?,
        ];
        let wide = vec![
            ("noise_variance", vec![], vec![found.noise_variance]),
            ("residual", vec![], vec![found.certificate.residual]),
            ("orthogonality", vec![], vec![found.certificate.orthogonality]),
        ];
        let counts = vec![("status", vec![], vec![found.certificate.status as i64])];
        let certificate = &found.certificate;
        let not = if found.converged() { "" } else { "NOT converged: " };
        let left_out = match if self.whiten { found.within_rounding(ctx)? } else { 0 } {
            0 => String::new(),
            count => format!("; {count} of {} directions within rounding, whitened to 0", self.k),
        };
        let (status, residual) = (certificate.status.name(), certificate.residual);
        let state = format!("{not}{status}, largest residual {residual:.1e}{left_out}; done");
        Ok(Found { numbers, wide, counts, converged: found.converged(), choice: found.choice().copied(), state })
    }

    fn leave_there<T: Real>(&self, ctx: &Context, x: &Array<T>, _: usize) -> Result<(), Error> {
        self.found(ctx, x).map(drop)
    }

    fn arrays(&self) -> &'static [&'static str] {
        &[
            "components",
            "explained_variance",
            "explained_variance_ratio",
            "singular_values",
            "mean",
            "transformed",
            "noise_variance",
            "residual",
            "orthogonality",
            "status",
        ]
    }

    fn choose<T: Real>(&self, ctx: &Context, shape: Shape, _: usize, resident: bool) -> Choice {
        choose_pca::<T>(ctx, shape, self.k, self.options(), resident)
    }
}
