// Matrix units of 16 x 16.

const FRAGMENT: u32 = 16;
alias Left = coop_mat16x16<f16, A>;
alias Right = coop_mat16x16<f16, B>;
alias Sums = coop_mat16x16<f32, C>;
