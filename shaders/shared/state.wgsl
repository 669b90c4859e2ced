// The state of a matrix, which the kernels of one decomposition share. Its first word holds the flags below and, from
// bit 8 on, the number of sweeps so far. Each decomposition defines the other three words.

const FLAG_ORTHOGONAL: u32 = 1u;
const FLAG_NON_FINITE: u32 = 2u;
const SWEEP: u32 = 256u;

fn sweeps_of(word: u32) -> u32 { return word / SWEEP; }
