//! Samples with the values of their columns, which `tests/host/golden/features.py` wrote.

use fiedler::features::Representation;
use fiedler::ops::series::{Program, SampleShape};

/// A sample with the values of its columns.
pub struct Golden {
    pub shape: SampleShape,
    pub numbers: Vec<f64>,
    pub columns: Vec<(Representation, Vec<f64>)>,
}

/// Reads every golden sample.
pub fn goldens() -> Vec<Golden> {
    let mut samples: Vec<Golden> = Vec::new();
    for line in include_str!("../host/golden/features.txt").lines() {
        let mut words = line.split(' ');
        let what = words.next();
        let mut word = || words.next().expect("a word");
        if what == Some("sample") {
            let (rows, columns) = (word().parse().unwrap(), word().parse().unwrap());
            let shape = if rows == 0 { SampleShape::Vector(columns) } else { SampleShape::Matrix { rows, columns } };
            let numbers = words.map(|x| x.parse().unwrap()).collect();
            samples.push(Golden { shape, numbers, columns: Vec::new() });
        } else {
            let representation = Representation::parse_list(word()).unwrap().remove(0);
            let values = words.map(|x| x.parse().unwrap()).collect();
            samples.last_mut().unwrap().columns.push((representation, values));
        }
    }
    assert_eq!(samples.len(), 16);
    samples
}

/// Returns the singular values that a program wants of one sample, computed by nalgebra.
pub fn singular_values(program: &Program, shape: SampleShape, numbers: &[f64]) -> [Vec<f64>; 2] {
    let [wants_plain, wants_centered] = program.wants();
    if !(wants_plain || wants_centered) {
        return [Vec::new(), Vec::new()];
    }
    let columns = shape.columns();
    let mut matrix = nalgebra::DMatrix::from_row_slice(shape.len() / columns, columns, numbers);
    let plain = matrix.singular_values().iter().copied().collect();
    matrix.column_iter_mut().for_each(|mut column| column.add_scalar_mut(-column.mean()));
    let centered = matrix.singular_values().iter().copied().collect();
    [if wants_plain { plain } else { Vec::new() }, if wants_centered { centered } else { Vec::new() }]
}
