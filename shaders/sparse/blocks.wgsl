// Work by blocks of 1024 elements: a workgroup a block, 64 invocations with 16 neighbours each.

const INVOCATIONS: u32 = 64u;
const EACH: u32 = 16u;
const BLOCK: u32 = 1024u;
