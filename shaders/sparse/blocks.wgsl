// Each workgroup processes one block of 1024 elements with 64 invocations, each of which takes 16 adjacent elements.

const INVOCATIONS: u32 = 64u;
const EACH: u32 = 16u;
const BLOCK: u32 = 1024u;
