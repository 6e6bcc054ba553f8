//! What a pool has handed out, and what it could hand out again.

use crate::kept::{Block, Kept};

/// The bytes in use, against a budget, and the blocks that nobody uses.
///
/// A kept block may be longer than what is asked for. All of it counts, so that the budget holds for what is really held; but one who
/// asks for as much as ever, or as was [announced](Self::expect), could then find too little left. So such a surplus only ever comes out
/// of what the most that was asked for at a time, or announced, leaves of the budget.
#[derive(Debug)]
pub(crate) struct Ledger<A, S> {
    limit: u64,
    in_use: u64,
    /// The part of that which nobody asked for.
    surplus: u64,
    peak: u64,
    /// The most that was asked for at a time, or announced.
    expected: u64,
    kept: Kept<A, S>,
}

impl<A: Copy, S> Ledger<A, S> {
    pub(crate) fn new(limit: u64) -> Self {
        Self { limit, in_use: 0, surplus: 0, peak: 0, expected: 0, kept: Kept::default() }
    }

    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }

    pub(crate) fn in_use(&self) -> u64 {
        self.in_use
    }

    pub(crate) fn peak(&self) -> u64 {
        self.peak
    }

    /// Announces that so many bytes will be asked for beside those in use.
    pub(crate) fn expect(&mut self, bytes: u64) {
        self.expected = self.expected.max((self.in_use - self.surplus).saturating_add(bytes));
    }

    /// Counts the bytes as in use, if the budget allows; answers how many are then.
    pub(crate) fn claim(&mut self, bytes: u64) -> Option<u64> {
        let total = self.in_use.checked_add(bytes).filter(|total| *total <= self.limit)?;
        self.in_use = total;
        self.expected = self.expected.max(total - self.surplus);
        Some(total)
    }

    /// Notes that so many bytes were not only claimed, but there.
    pub(crate) fn had(&mut self, in_use: u64) {
        self.peak = self.peak.max(in_use);
    }

    /// A kept block of such a stream for so many bytes, counted as in use.
    pub(crate) fn reuse(&mut self, bytes: u64, of_stream: impl Fn(&S) -> bool) -> Option<Block<A>> {
        if bytes < Kept::<A, S>::LEAST {
            return None;
        }
        let (limit, in_use, others) = (self.limit, self.in_use, self.surplus);
        let expected = self.expected.max((in_use - others).saturating_add(bytes));
        let allowed = |surplus: u64| match surplus {
            0 => in_use.saturating_add(bytes) <= limit,
            _ => expected.saturating_add(others).saturating_add(surplus) <= limit,
        };
        let block = self.kept.take(bytes, |longer, stream| allowed(longer) && of_stream(stream))?;
        let surplus = block.bytes - bytes;
        self.in_use += block.bytes;
        self.surplus += surplus;
        self.expected = expected;
        self.had(self.in_use);
        Some(block)
    }

    /// Bytes that are not in use any more, of which nobody had asked for the surplus.
    pub(crate) fn release(&mut self, bytes: u64, surplus: u64) {
        self.in_use -= bytes;
        self.surplus -= surplus;
    }

    /// Keeps a block, which was released, or answers with it where it is too small for that.
    pub(crate) fn keep(&mut self, block: Block<A>, stream: &S) -> Option<Block<A>>
    where
        S: Clone,
    {
        if block.bytes < Kept::<A, S>::LEAST {
            return Some(block);
        }
        self.kept.put(block, stream.clone());
        None
    }

    /// Whether the kept blocks, with so many bytes in use, are more than the budget.
    pub(crate) fn is_over(&self, in_use: u64) -> bool {
        in_use.saturating_add(self.kept.bytes()) > self.limit
    }

    /// All kept blocks, with the streams that they were freed on.
    pub(crate) fn take_kept(&mut self) -> Vec<(Block<A>, S)> {
        self.kept.take_all()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const UNIT: u64 = Kept::<u32, ()>::LEAST;

    /// A block for so many bytes as the pool gets it: a kept one, or a new one.
    fn allocate(ledger: &mut Ledger<u32, ()>, bytes: u64) -> Option<Block<u32>> {
        if let Some(block) = ledger.reuse(bytes, |()| true) {
            return Some(block);
        }
        let in_use = ledger.claim(bytes)?;
        if ledger.is_over(in_use) {
            ledger.take_kept();
        }
        ledger.had(in_use);
        Some(Block { address: 0, bytes })
    }

    fn free(ledger: &mut Ledger<u32, ()>, block: Block<u32>, asked: u64) {
        assert_eq!(ledger.keep(block, &()), None);
        ledger.release(block.bytes, block.bytes - asked);
    }

    /// Allocates all and frees all again.
    fn use_all(ledger: &mut Ledger<u32, ()>, sizes: &[u64]) {
        let blocks: Vec<_> = sizes.iter().map(|&bytes| allocate(ledger, bytes).unwrap()).collect();
        blocks.into_iter().zip(sizes).for_each(|(block, &asked)| free(ledger, block, asked));
    }

    #[test]
    fn a_longer_block_is_used_where_the_budget_has_room_for_more_than_was_ever_asked_for() {
        for (limit, expected, got) in [(20, 0, 9), (17, 0, 9), (16, 0, 8), (20, 19, 9), (20, 20, 8)] {
            let mut ledger = Ledger::<u32, ()>::new(limit * UNIT);
            ledger.expect(expected * UNIT);
            use_all(&mut ledger, &[9 * UNIT, 7 * UNIT]);
            assert_eq!(ledger.peak(), 16 * UNIT);
            let block = allocate(&mut ledger, 8 * UNIT).unwrap();
            assert_eq!(block.bytes, got * UNIT, "a budget of {limit}, {expected} expected");
            assert_eq!(ledger.in_use(), got * UNIT);
            // As much as before, and as was announced, can be had in any case.
            let rest = 16.max(expected) - 8;
            assert!(allocate(&mut ledger, rest * UNIT).is_some());
        }
    }

    #[test]
    fn small_blocks_are_not_kept() {
        let mut ledger = Ledger::<u32, ()>::new(UNIT);
        let small = allocate(&mut ledger, UNIT - 1).unwrap();
        ledger.release(small.bytes, 0);
        assert_eq!(ledger.keep(small, &()), Some(small));
        assert_eq!(ledger.in_use(), 0);
        assert_eq!(allocate(&mut ledger, UNIT + 1), None);
        assert_eq!(ledger.peak(), UNIT - 1);
    }

    /// The sizes of some proof after proof: each a bit different, within what was announced.
    fn proofs() -> impl Strategy<Value = Vec<Vec<(u64, bool)>>> {
        let step = (UNIT..3 * UNIT, any::<bool>());
        prop::collection::vec(prop::collection::vec(step, 1..12), 1..12)
    }

    proptest! {
        /// Whatever blocks were kept: who asks for no more than was announced gets it, and no more than the budget is in use.
        #[test]
        fn what_was_announced_can_be_had(proofs in proofs(), room in 0..4 * UNIT) {
            let announced = 10 * UNIT;
            let mut ledger = Ledger::<u32, ()>::new(announced + room);
            ledger.expect(announced);
            for steps in proofs {
                let mut held: Vec<(Block<u32>, u64)> = vec![];
                for (bytes, goes) in steps {
                    if goes && let Some((block, asked)) = held.pop() {
                        free(&mut ledger, block, asked);
                    }
                    while held.iter().map(|(_, asked)| asked).sum::<u64>() + bytes > announced {
                        let (block, asked) = held.remove(0);
                        free(&mut ledger, block, asked);
                    }
                    let block = allocate(&mut ledger, bytes);
                    prop_assert!(block.is_some(), "{} bytes in {:?}", bytes, ledger);
                    held.extend(block.map(|block| (block, bytes)));
                    let in_use = held.iter().map(|(block, _)| block.bytes).sum::<u64>();
                    prop_assert_eq!(ledger.in_use(), in_use);
                    prop_assert!(!ledger.is_over(in_use), "{:?}", ledger);
                }
                held.into_iter().for_each(|(block, asked)| free(&mut ledger, block, asked));
                prop_assert_eq!(ledger.in_use(), 0);
            }
            prop_assert!(ledger.peak() <= ledger.limit());
        }
    }
}
