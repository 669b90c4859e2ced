//! From virtual registers to as few as possible, so that those of a subgroup stay in the cache.
//!
//! Operations without effects write to all lanes, whether active or not. That is sound because a lane that waits
//! elsewhere reads only values that are live there, and because each operation comes once: the value of a waiting lane
//! is read at a later operation, or in a later pass of a loop around both. So the interval of a register reaches from
//! its first operation to its last, and to the end of every loop that begins after its first operation and contains a
//! later one.

use super::super::op::{Access, Code, NONE, Op, Pc, Reg};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A number of consecutive virtual registers: a variable, or a single value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub(super) start: Reg,
    pub(super) len: u32,
}

/// A loop's first and last operation.
pub(super) type Loop = (Pc, Pc);

/// Removes operations whose results are never read and gives every block its registers.
pub(super) fn allocate(code: &mut Code, blocks: &[Block], loops: &mut [Loop]) {
    let block_of: Vec<u32> =
        blocks.iter().zip(0..).flat_map(|(block, i)| std::iter::repeat_n(i, block.len as usize)).collect();
    remove_unread(code, &block_of, blocks.len());
    compact(code, loops);
    let intervals = intervals(code, &block_of, blocks.len(), loops);
    let places = place(code, blocks, &intervals);
    let physical = |reg: Reg| {
        let block = block_of[reg as usize] as usize;
        places[block] + (reg - blocks[block].start)
    };
    for op in &mut code.ops {
        op.registers(&mut code.tables, |reg, _| {
            if *reg != NONE {
                *reg = physical(*reg);
            }
        });
    }
    code.constants.retain(|(reg, _)| intervals[block_of[*reg as usize] as usize].is_some());
    code.builtins.retain(|(_, _, reg)| intervals[block_of[*reg as usize] as usize].is_some());
    code.constants.iter_mut().for_each(|(reg, _)| *reg = physical(*reg));
    code.builtins.iter_mut().for_each(|(_, _, reg)| *reg = physical(*reg));
}

fn remove_unread(code: &mut Code, block_of: &[u32], blocks: usize) {
    let mut reads = vec![0u32; blocks];
    for op in &mut code.ops {
        op.registers(&mut code.tables, |reg, access| {
            if *reg != NONE && access == Access::Read {
                reads[block_of[*reg as usize] as usize] += 1;
            }
        });
    }
    for op in code.ops.iter_mut().rev() {
        if !op.is_pure() {
            continue;
        }
        let mut unread = true;
        op.registers(&mut code.tables, |reg, access| {
            unread &= access == Access::Read || reads[block_of[*reg as usize] as usize] == 0;
        });
        if unread {
            op.registers(&mut code.tables, |reg, access| {
                if access == Access::Read {
                    reads[block_of[*reg as usize] as usize] -= 1;
                }
            });
            *op = Op::Nop;
        }
    }
}

fn compact(code: &mut Code, loops: &mut [Loop]) {
    let mut next = 0;
    let moved: Vec<Pc> = code
        .ops
        .iter()
        .map(|op| {
            let at = next;
            next += Pc::from(!matches!(op, Op::Nop));
            at
        })
        .collect();
    let kept: Vec<bool> = code.ops.iter().map(|op| !matches!(op, Op::Nop)).collect();
    let mut keep = kept.iter().copied();
    code.ops.retain(|_| keep.next().unwrap_or(true));
    let mut keep = kept.iter().copied();
    code.site_of.retain(|_| keep.next().unwrap_or(true));
    for target in code.ops.iter_mut().filter_map(Op::target) {
        *target = moved[*target as usize];
    }
    for (start, end) in loops {
        (*start, *end) = (moved[*start as usize], moved[*end as usize]);
    }
}

/// Returns the first and the last operation at which each block is live, or `None` for those that no operation names.
fn intervals(code: &mut Code, block_of: &[u32], blocks: usize, loops: &[Loop]) -> Vec<Option<(Pc, Pc)>> {
    let mut intervals: Vec<Option<(Pc, Pc)>> = vec![None; blocks];
    for &reg in code.constants.iter().map(|(reg, _)| reg).chain(code.builtins.iter().map(|(_, _, reg)| reg)) {
        intervals[block_of[reg as usize] as usize] = Some((0, 0));
    }
    let mut ahead: Vec<Loop> = loops.to_vec();
    ahead.sort_unstable_by_key(|&(start, end)| (Reverse(start), end));
    let mut around: Vec<Loop> = Vec::new();
    for (pc, op) in (0..).zip(&mut code.ops) {
        around.retain(|&(_, end)| end >= pc);
        while let Some(next) = ahead.pop_if(|&mut (start, _)| start <= pc) {
            around.push(next);
        }
        op.registers(&mut code.tables, |reg, _| {
            if *reg == NONE {
                return;
            }
            let interval = intervals[block_of[*reg as usize] as usize].get_or_insert((pc, pc));
            let end = around.iter().find(|&&(start, _)| start > interval.0).map_or(pc, |&(_, end)| end);
            interval.1 = interval.1.max(end);
        });
    }
    // Constants and built-ins are set before the first operation, and a register that nothing reads needs no place.
    intervals
}

/// Returns the first register of each block.
fn place(code: &mut Code, blocks: &[Block], intervals: &[Option<(Pc, Pc)>]) -> Vec<Reg> {
    let mut order: Vec<usize> = (0..blocks.len()).filter(|&block| intervals[block].is_some()).collect();
    order.sort_by_key(|&block| intervals[block]);
    let mut places = vec![0; blocks.len()];
    let mut registers = 0;
    let mut free: Vec<Reg> = Vec::new();
    let mut busy: BinaryHeap<Reverse<(Pc, Reg)>> = BinaryHeap::new();
    for block in order {
        let Some((first, last)) = intervals[block] else { continue };
        // An operation may write where it reads for the last time: all of them read a lane before they write it.
        while let Some(&Reverse((_, reg))) = busy.peek().filter(|Reverse((end, _))| *end <= first && first > 0) {
            busy.pop();
            free.push(reg);
        }
        let len = blocks[block].len;
        let place = if len == 1 { free.pop() } else { consecutive(&mut free, len) };
        places[block] = place.unwrap_or_else(|| {
            registers += len;
            registers - len
        });
        busy.extend((places[block]..places[block] + len).map(|reg| Reverse((last, reg))));
    }
    code.registers = registers;
    places
}

/// Takes consecutive registers out of the free ones.
fn consecutive(free: &mut Vec<Reg>, len: u32) -> Option<Reg> {
    free.sort_unstable();
    let len = len as usize;
    let at = free.windows(len).position(|window| window[len - 1] - window[0] == len as u32 - 1)?;
    let start = free[at];
    free.drain(at..at + len);
    Some(start)
}
