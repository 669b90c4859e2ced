use super::{Parts, Problem};
use crate::array::{Real, Storage};
use crate::context::Context;
use crate::error::{Error, Result};
pub(super) fn solve<T: Real>(_: &Context, _: &Problem, _: &Storage<T>, _: bool) -> Result<Parts<T>> {
    Err(Error::domain("svd", "no"))
}
