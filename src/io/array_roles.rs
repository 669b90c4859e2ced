//! Which arrays of a file are inputs, targets and ids.

use super::roles::{IDS, LabelColumn, LeftOut, Roles, TargetOrigin, is_label, one_label};
use crate::error::{Error, Result};
use std::path::Path;

/// The names under which files of arrays store the inputs.
const INPUTS: [&str; 6] = ["x", "X", "features", "inputs", "data", "images"];
/// What an error says of an array that cannot be taken.
const ONE_INPUT: &str = "one array of inputs, which others cannot join";
/// The words before or after the name of an array that is a part of a data set.
const PARTS: [(&str, usize); 8] = [
    ("train", 0),
    ("training", 0),
    ("val", 1),
    ("valid", 1),
    ("validation", 1),
    ("dev", 1),
    ("test", 2),
    ("testing", 2),
];

/// The roles of arrays, as places in the list of their names.
#[derive(Debug, Default)]
pub(super) struct ArrayRoles {
    /// The name and the arrays of each layer: one, or one for each part.
    pub(super) layers: Vec<(String, Vec<usize>)>,
    /// Where the target is.
    pub(super) origin: Option<TargetOrigin>,
    /// The array of the target, or one for each part.
    pub(super) target: Vec<usize>,
    pub(super) ids: Option<usize>,
    /// The part of each array of a layer, if the file divides the data set: 0 training, 1 validation, 2 test.
    pub(super) parts: Option<Vec<usize>>,
    pub(super) left_out: Vec<(String, LeftOut)>,
}

/// Returns the name of a data set and the part of it that an array is, as in `X_train` and `test_images`.
fn part_of(name: &str) -> Option<(&str, usize)> {
    let base = |word: &str| {
        let rest = name.strip_suffix(word).and_then(|rest| rest.strip_suffix('_'));
        rest.or_else(|| name.strip_prefix(word).and_then(|rest| rest.strip_prefix('_')))
    };
    PARTS.iter().find_map(|(word, part)| Some((base(word)?, *part)))
}

/// Returns the names of arrays in words.
pub(super) fn listed(names: &[&str]) -> String {
    match names {
        [] => "no array".to_owned(),
        [one] => format!("the array {one}"),
        several => format!("the arrays {}", several.join(", ")),
    }
}

impl ArrayRoles {
    /// Finds the roles of arrays with the given names and numbers of axes. With `inputs`, only arrays whose names say
    /// so are layers.
    ///
    /// # Errors
    /// [`Parse`](crate::ErrorKind::Parse) if a named array is missing, or if several arrays have names of labels.
    pub(super) fn find(path: &Path, arrays: &[(&str, usize)], roles: Roles<'_>, inputs: bool) -> Result<Self> {
        let names: Vec<&str> = arrays.iter().map(|(name, _)| *name).collect();
        let wrong = |expected: String, found: String| Err(Error::parse(path, None, expected, found));
        roles.check(path)?;
        for (wanted, what) in [(roles.ignore, "leave out"), (roles.take, "take")] {
            if let Some(missing) = wanted.iter().find(|name| !names.contains(&name.as_str())) {
                return wrong(format!("an array named {missing} to {what}"), listed(&names));
            }
        }
        if let Some(found) = Self::parts(&names, roles) {
            return match roles.take.first() {
                Some(name) => wrong(ONE_INPUT.to_owned(), format!("{name} to take")),
                None => Ok(found),
            };
        }
        let mut made = Self::default();
        let place = |wanted: &str| names.iter().position(|name| *name == wanted);
        let unnamed = names.iter().all(|name| name.starts_with("arr_")) && names.len() == 2;
        let target = match roles.label {
            LabelColumn::Named(name) => match place(name) {
                Some(at) => Some(at),
                None => return wrong(format!("an array named {name} with the targets"), listed(&names)),
            },
            LabelColumn::None => None,
            LabelColumn::Auto | LabelColumn::Needed => {
                let found = (0..names.len()).filter(|&at| is_label(names[at]) && !roles.ignores(names[at]));
                match found.collect::<Vec<_>>()[..] {
                    // numpy.savez(path, x, y)
                    [] if unnamed => (0..2).rfind(|&at| arrays[at].1 == 1 && arrays[1 - at].1 > 1),
                    [] => None,
                    [one] => Some(one),
                    ref several => {
                        let several: Vec<&str> = several.iter().map(|&at| names[at]).collect();
                        return wrong(one_label("array"), several.join(" and "));
                    }
                }
            }
        };
        made.target.extend(target);
        made.origin = target.map(|at| TargetOrigin::Array(names[at].to_owned()));
        made.ids = (0..names.len()).find(|&at| {
            IDS.contains(&names[at]) && Some(at) != target && !roles.takes(names[at]) && !roles.ignores(names[at])
        });
        for (at, name) in names.iter().enumerate() {
            if roles.ignores(name) {
                made.left_out.push(((*name).to_owned(), LeftOut::Ignored));
            } else if Some(at) == made.ids {
                made.left_out.push(((*name).to_owned(), LeftOut::Ids));
            } else if Some(at) != target {
                made.layers.push(((*name).to_owned(), vec![at]));
            }
        }
        if inputs {
            // The first of the names that are there: scikit-learn's digits have the same numbers as `data` and
            // `images`.
            let rank =
                |name: &str| INPUTS.iter().position(|own| *own == name).or((unnamed && target.is_some()).then_some(0));
            let best = made.layers.iter().filter_map(|(name, _)| Some((rank(name)?, name.clone()))).min();
            let (own, others): (Vec<_>, Vec<_>) =
                made.layers.into_iter().partition(|(name, _)| best.as_ref().is_some_and(|best| best.1 == *name));
            made.layers = own;
            if let Some((name, _)) = others.iter().find(|(name, _)| roles.takes(name)) {
                return wrong(ONE_INPUT.to_owned(), format!("{name} to take"));
            }
            made.left_out.extend(others.into_iter().map(|(name, _)| (name, LeftOut::Other)));
        }
        Ok(made)
    }

    /// Finds the arrays of a data set that the file divides, as in `X_train`, `y_train`, `X_test` and `y_test`.
    fn parts(names: &[&str], roles: Roles<'_>) -> Option<Self> {
        let is_target = |base: &str| match roles.label {
            // The name of a part is that of all parts.
            LabelColumn::Named(name) => base == name || part_of(name).is_some_and(|(own, _)| own == base),
            LabelColumn::None => false,
            LabelColumn::Auto | LabelColumn::Needed => is_label(base),
        };
        let find = |part: usize, fits: &dyn Fn(&str) -> bool| {
            let own =
                |name: &&str| !roles.ignores(name) && part_of(name).is_some_and(|(base, at)| at == part && fits(base));
            names.iter().position(own)
        };
        let input = find(0, &|base| INPUTS.contains(&base))?;
        let target = find(0, &is_target);
        if target.is_none() && matches!(roles.label, LabelColumn::Named(_)) {
            return None;
        }
        let base = |at: usize| part_of(names[at]).map(|(base, _)| base.to_owned()).unwrap_or_default();
        let (mut layer, mut made) = (vec![input], Self::default());
        made.target.extend(target);
        let mut parts = vec![0];
        for part in 1..3 {
            let Some(input) = find(part, &|base| INPUTS.contains(&base)) else { continue };
            let own = find(part, &is_target);
            // A part without labels is of no use beside others with labels.
            if own.is_some() == target.is_some() {
                layer.push(input);
                made.target.extend(own);
                parts.push(part);
            }
        }
        made.origin = match made.target[..] {
            [] => None,
            [one] => Some(TargetOrigin::Array(names[one].to_owned())),
            ref several => Some(TargetOrigin::Arrays(several.iter().map(|&at| names[at].to_owned()).collect())),
        };
        let unused = (0..names.len()).filter(|at| !layer.contains(at) && !made.target.contains(at));
        made.left_out = unused
            .map(|at| {
                let why = if roles.ignores(names[at]) { LeftOut::Ignored } else { LeftOut::Other };
                (names[at].to_owned(), why)
            })
            .collect();
        made.layers.push((base(input), layer));
        made.parts = Some(parts);
        Some(made)
    }

    /// Returns the place of the only layer, if there are no parts.
    pub(super) fn input(&self) -> Option<usize> {
        match &self.layers[..] {
            [(_, places)] if self.parts.is_none() => places.first().copied(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ArrayRoles, part_of};
    use crate::io::roles::Roles;
    use std::path::Path;

    #[test]
    fn parts_are_told_by_names() {
        for (name, part) in [
            ("X_train", Some(("X", 0))),
            ("test_images", Some(("images", 2))),
            ("y_val", Some(("y", 1))),
            ("train", None),
            ("x", None),
        ] {
            assert_eq!(part_of(name), part, "{name}");
        }
    }

    #[test]
    fn arrays_have_roles() {
        let find = |names: &[(&str, usize)]| {
            let found = ArrayRoles::find(Path::new("a.npz"), names, Roles::default(), true).expect("roles");
            (found.layers.into_iter().next().map(|(_, places)| places), found.target, found.parts)
        };
        assert_eq!(find(&[("x", 2), ("y", 1), ("names", 1)]), (Some(vec![0]), vec![1], None));
        assert_eq!(find(&[("arr_0", 2), ("arr_1", 1)]), (Some(vec![0]), vec![1], None));
        assert_eq!(find(&[("arr_0", 1), ("arr_1", 3)]), (Some(vec![1]), vec![0], None));
        let parts = [("X_test", 2), ("X_train", 2), ("y_test", 1), ("y_train", 1)];
        assert_eq!(find(&parts), (Some(vec![1, 0]), vec![3, 2], Some(vec![0, 2])));
        assert_eq!(find(&parts[..2]), (Some(vec![1, 0]), vec![], Some(vec![0, 2])));
        assert_eq!(find(&[("x_train", 2), ("y_train", 1), ("x_test", 2)]), (Some(vec![0]), vec![1], Some(vec![0])));
        let error = ArrayRoles::find(Path::new("a.npz"), &[("x", 2), ("y", 1), ("label", 1)], Roles::default(), true);
        assert!(error.expect_err("two labels").to_string().contains("found y and label"));
    }
}
