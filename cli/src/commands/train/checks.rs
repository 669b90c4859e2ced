//! The checks of a call before any work.

use super::super::Failure;
use super::Train;
use super::options::{InitName, LossName, NormName, OptimizerName};
use fiedler::io::{self, Findings};
use fiedler::train::Metric;

impl Train {
    /// Refuses options that have no effect.
    pub(super) fn check_options(&self) -> Result<(), Failure> {
        use OptimizerName as O;
        let optimizer = self.optimizer();
        if self.sampling.sgld {
            self.check_sampling()?;
        }
        let samples = matches!(optimizer, O::Sgld | O::Psgld);
        let given = |name: &str| self.settings.iter().any(|(known, _)| known == name);
        let adam = matches!(optimizer, O::Adam | O::Adamw);
        let sgd = matches!(optimizer, O::Sgd | O::Nesterov);
        for (given, useful, option, wanted) in [
            (!self.momentum.is_empty(), sgd, "--momentum", "--optimizer sgd or nesterov"),
            (given("dampening"), matches!(optimizer, O::Sgd), "--set dampening", "--optimizer sgd"),
            (given("beta1"), adam, "--set beta1", "--optimizer adam or adamw"),
            (given("beta2"), adam || matches!(optimizer, O::Psgld), "--set beta2", "--optimizer adam, adamw or psgld"),
            (given("eps"), adam || matches!(optimizer, O::Psgld), "--set eps", "--optimizer adam, adamw or psgld"),
            (given("gradient_scale"), samples, "--set gradient_scale", "--optimizer sgld or psgld"),
            (given("burn_in"), matches!(optimizer, O::Psgld), "--set burn_in", "--optimizer psgld"),
            (!self.temperature.is_empty(), samples, "--temperature", "--optimizer sgld or psgld"),
            (!self.prior_precision.is_empty(), samples, "--prior-precision", "--optimizer sgld or psgld"),
            (
                !self.weight_decay.is_empty(),
                !samples,
                "--weight-decay",
                "another optimizer; samplers have --prior-precision",
            ),
            (self.label_smoothing.is_some(), self.loss == LossName::Ce, "--label-smoothing", "--loss ce"),
            (
                self.init_deviation.is_some(),
                matches!(self.init, Some(InitName::Normal)),
                "--init-deviation",
                "--init normal",
            ),
            (!self.dropout.is_empty(), !self.hidden.is_empty(), "--dropout", "--hidden"),
            (!matches!(self.norm, NormName::None), !self.hidden.is_empty(), "--norm", "--hidden"),
        ] {
            if given && !useful {
                return Err(Failure::Call(format!("{option}: expected {wanted}")));
            }
        }
        // Before the data set is read, which takes a while.
        let fits = |metric: Metric| metric == Metric::Loss || metric.is_of_values() != self.loss.takes_labels();
        if let Some(stop) = self.stop.filter(|stop| !fits(stop.metric)) {
            let known = Metric::ALL.into_iter().filter(|&metric| fits(metric)).map(Metric::name).collect::<Vec<_>>();
            let known = known.join(", ");
            return Err(Failure::Call(format!(
                "--stop: expected a metric that this --loss has, of {known}, found {stop}"
            )));
        }
        if self.sampling.sgld && self.row_group.is_some() {
            // The steps of an epoch would not be independent draws.
            return Err(Failure::Call("--row-group: expected a training without --sgld".to_owned()));
        }
        if !self.sampling.sgld && self.epochs.len() > 1 {
            return Err(Failure::Call("--epochs: expected one number, or --sgld and one for each beta".to_owned()));
        }
        Ok(())
    }

    /// Checks that the classes are such that a network can tell them apart.
    pub(super) fn check_classes(&self, samples: usize, classes: &[String], findings: &Findings) -> Result<(), Failure> {
        let coordinate = findings.coordinate.as_ref().map_or_else(String::new, |name| format!(", such as {name}"));
        let remedy = "numbers as targets need --loss mse, and --label names another column or array";
        let origin = findings.target.as_ref().map_or_else(String::new, |origin| format!("labels from {origin}: "));
        match io::unlearnable(samples, classes, &format!("{remedy}{coordinate}")) {
            Some(why) => Err(Failure::Said(format!("{}: {origin}{why}", self.data.display()))),
            None => Ok(()),
        }
    }
}
