//! The order of numbers. Sorting is compiled once, and not again for every key.

/// Returns the indices of numbers in ascending order, as `total_cmp` has it. Indices of equal numbers ascend.
pub(crate) fn ascending(keys: impl IntoIterator<Item = f64>) -> Vec<usize> {
    let mut order: Vec<(f64, usize)> = keys.into_iter().zip(0..).collect();
    sort(&mut order);
    order.into_iter().map(|(_, index)| index).collect()
}

/// Returns the indices of numbers in descending order. Indices of equal numbers ascend.
pub(crate) fn descending(keys: impl IntoIterator<Item = f64>) -> Vec<usize> {
    ascending(keys.into_iter().map(|key| -key))
}

/// Sorts numbers with their indices in that order.
pub(crate) fn sort(order: &mut [(f64, usize)]) {
    order.sort_unstable_by(|(key, index), (other, second)| key.total_cmp(other).then(index.cmp(second)));
}

#[cfg(test)]
mod tests {
    use super::{ascending, descending};

    #[test]
    fn equal_numbers_stay_in_order() {
        assert_eq!(ascending([2.0, -1.0, 2.0, f64::NAN, -1.0, f64::NEG_INFINITY]), [5, 1, 4, 0, 2, 3]);
        assert_eq!(descending([2.0, -1.0, 2.0, -1.0, f64::INFINITY]), [4, 0, 2, 1, 3]);
        assert!(ascending([]).is_empty());
        let keys: Vec<f64> = (0..1000).map(|i| f64::from(i * 7919 % 13)).collect();
        let mut stable: Vec<usize> = (0..keys.len()).collect();
        stable.sort_by(|&i, &j| keys[i].total_cmp(&keys[j]));
        assert_eq!(ascending(keys), stable);
    }
}
