//! Large blocks of device memory that nobody uses at the moment.

/// A freed block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Block<A> {
    pub(crate) address: A,
    pub(crate) bytes: u64,
}

/// Freed blocks, each to be used again on the stream that it was freed on: there it comes behind its last use.
///
/// CUDA's own cache hands out large memory by mapping it anew, at a millisecond for each GB, although the same sizes come again
/// with every proof.
#[derive(Debug)]
pub(crate) struct Kept<A, S> {
    blocks: Vec<(Block<A>, S)>,
}

impl<A, S> Default for Kept<A, S> {
    fn default() -> Self {
        Self { blocks: Vec::new() }
    }
}

impl<A: Copy, S> Kept<A, S> {
    /// Smaller blocks are CUDA's to keep.
    pub(crate) const LEAST: u64 = 32 << 20;

    /// Bytes of all blocks.
    pub(crate) fn bytes(&self) -> u64 {
        self.blocks.iter().map(|(block, _)| block.bytes).sum()
    }

    /// Keeps a block that was freed on a stream.
    pub(crate) fn put(&mut self, block: Block<A>, stream: S) {
        self.blocks.push((block, stream));
    }

    /// The smallest block that has so many bytes, and at most an eighth more, and is allowed by how many more it has and by its stream.
    pub(crate) fn take(&mut self, bytes: u64, allowed: impl Fn(u64, &S) -> bool) -> Option<Block<A>> {
        let surplus = |block: &Block<A>| block.bytes.checked_sub(bytes).filter(|more| *more <= bytes / 8);
        let all = self.blocks.iter().enumerate();
        let fitting =
            all.filter(|(_, (block, stream))| surplus(block).is_some_and(|more| allowed(more, stream)));
        let (place, _) = fitting.min_by_key(|(_, (block, _))| block.bytes)?;
        Some(self.blocks.swap_remove(place).0)
    }

    /// All blocks, with the streams that they were freed on.
    pub(crate) fn take_all(&mut self) -> Vec<(Block<A>, S)> {
        std::mem::take(&mut self.blocks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(blocks: &[(u32, u64, u8)]) -> Kept<u32, u8> {
        let mut kept = Kept::default();
        blocks.iter().for_each(|&(address, bytes, stream)| kept.put(Block { address, bytes }, stream));
        kept
    }

    #[test]
    fn the_smallest_block_that_is_not_much_too_large_is_taken() {
        let mut kept = kept(&[(1, 900, 0), (2, 880, 0), (3, 800, 1), (4, 799, 0), (5, 901, 0)]);
        assert_eq!(kept.bytes(), 4280);
        let mut take = |bytes| kept.take(bytes, |_, &stream| stream == 0).map(|block| block.address);
        assert_eq!(
            [take(800), take(800), take(800)],
            [Some(2), Some(1), None],
            "901 is more than an eighth above"
        );
        assert_eq!([take(801), take(799)], [Some(5), Some(4)]);
        assert_eq!(take(800), None, "the last one is another stream's");
        assert_eq!(kept.take(799, |more, _| more == 0), None);
        assert_eq!(kept.take_all(), [(Block { address: 3, bytes: 800 }, 1)]);
        assert_eq!(kept.bytes(), 0);
    }
}
