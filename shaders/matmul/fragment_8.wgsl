// Matrix units of 8 x 8.

const FRAGMENT: u32 = 8;
alias Left = coop_mat8x8<f16, A>;
alias Right = coop_mat8x8<f16, B>;
alias Sums = coop_mat8x8<f32, C>;
