// Blocks of 1024 elements: one block per workgroup, with 64 invocations that take 16 adjacent elements each.

const INVOCATIONS: u32 = 64u;
const EACH: u32 = 16u;
const BLOCK: u32 = 1024u;
