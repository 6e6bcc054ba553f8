//! A growable bit vector of 64-bit words: densities, and the two halves of a packed witness.

/// A sequence of bits, bit `i` being bit `i % 64` of word `i / 64`. Bits of the last word beyond the length are zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bitmap {
    words: Vec<u64>,
    len: usize,
}

/// The `n <= 64` low bits of a word, set.
#[inline]
fn low_mask(n: usize) -> u64 {
    if n >= 64 { u64::MAX } else { (1 << n) - 1 }
}

impl Bitmap {
    /// An empty sequence.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty sequence that can grow to `bits` without moving.
    pub fn with_capacity(bits: usize) -> Self {
        Self { words: Vec::with_capacity(bits.div_ceil(64)), len: 0 }
    }

    /// `len` zero bits.
    pub fn zeros(len: usize) -> Self {
        Self { words: vec![0; len.div_ceil(64)], len }
    }

    /// `len` bits from words; `None` unless there are exactly as many words as `len` needs and the unused bits of the
    /// last are zero.
    pub fn from_words(words: Vec<u64>, len: usize) -> Option<Self> {
        let rest = len % 64;
        let clean = rest == 0 || words.last().is_some_and(|last| last & !low_mask(rest) == 0);
        (words.len() == len.div_ceil(64) && clean).then_some(Self { words, len })
    }

    /// The number of bits.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no bit.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The bits as words, least significant bit first.
    #[inline]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Bit `i`.
    ///
    /// # Panics
    /// If `i` lies beyond the last word.
    #[inline]
    pub fn get(&self, i: usize) -> bool {
        self.words[i / 64] >> (i % 64) & 1 == 1
    }

    /// Sets bit `i` to one.
    ///
    /// # Panics
    /// If `i` is not below the length.
    #[inline]
    pub fn set(&mut self, i: usize) {
        assert!(i < self.len, "bit {i} of {}", self.len);
        self.words[i / 64] |= 1 << (i % 64);
    }

    /// Lengthens the sequence with zero bits to at least `len`.
    #[inline]
    pub fn grow(&mut self, len: usize) {
        if len > self.len {
            self.words.resize(len.div_ceil(64), 0);
            self.len = len;
        }
    }

    /// Appends one bit.
    #[inline]
    pub fn push(&mut self, bit: bool) {
        self.push_bits(bit as u64, 1);
    }

    /// Appends the `n <= 64` low bits of `word`, least significant first. Higher bits of `word` must be zero.
    #[inline]
    pub fn push_bits(&mut self, word: u64, n: usize) {
        debug_assert!(n <= 64 && word & !low_mask(n) == 0);
        let offset = self.len % 64;
        match self.words.last_mut() {
            Some(last) if offset != 0 => {
                *last |= word << offset;
                if offset + n > 64 {
                    self.words.push(word >> (64 - offset));
                }
            }
            _ if n != 0 => self.words.push(word),
            _ => {}
        }
        self.len += n;
    }

    /// Appends `n` copies of `bit`.
    pub fn push_repeated(&mut self, bit: bool, n: usize) {
        let start = self.len;
        self.grow(start + n);
        if bit {
            self.fill(start, start + n);
        }
    }

    /// Sets the bits of `start..end`, which must lie within the length.
    fn fill(&mut self, start: usize, end: usize) {
        let mut i = start;
        while i < end {
            let n = (64 - i % 64).min(end - i);
            self.words[i / 64] |= low_mask(n) << (i % 64);
            i += n;
        }
    }

    /// Appends all bits of `other`.
    pub fn append(&mut self, other: &Self) {
        let offset = self.len % 64;
        if offset == 0 {
            self.words.extend_from_slice(&other.words);
        } else if let Some((first, rest)) = other.words.split_first() {
            if let Some(last) = self.words.last_mut() {
                *last |= first << offset;
            }
            let back = 64 - offset;
            let mut carry = first >> back;
            self.words.extend(rest.iter().map(|word| {
                let shifted = carry | word << offset;
                carry = word >> back;
                shifted
            }));
            self.words.push(carry);
        }
        self.len += other.len;
        self.words.truncate(self.len.div_ceil(64));
    }

    /// The number of bits that are one.
    pub fn count_ones(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The positions of the bits that are one, ascending.
    pub fn ones(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(i, word)| {
            std::iter::successors(Some(*word), |word| Some(word & word.wrapping_sub(1)))
                .take_while(|word| *word != 0)
                .map(move |word| 64 * i + word.trailing_zeros() as usize)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn build(bits: &[bool]) -> Bitmap {
        let mut bitmap = Bitmap::new();
        bits.iter().for_each(|bit| bitmap.push(*bit));
        bitmap
    }

    fn read(bitmap: &Bitmap) -> Vec<bool> {
        (0..bitmap.len()).map(|i| bitmap.get(i)).collect()
    }

    proptest! {
        #[test]
        fn appends_at_any_offset(a in prop::collection::vec(any::<bool>(), 0..300),
                                 b in prop::collection::vec(any::<bool>(), 0..300)) {
            let mut both = build(&a);
            both.append(&build(&b));
            let all = [a.clone(), b].concat();
            prop_assert_eq!(&both, &build(&all));
            prop_assert_eq!(read(&both), all.clone());
            let ones: Vec<usize> = (0..all.len()).filter(|i| all[*i]).collect();
            prop_assert_eq!(both.ones().collect::<Vec<_>>(), ones.clone());
            prop_assert_eq!(both.count_ones(), ones.len());
            prop_assert_eq!(Bitmap::from_words(both.words().to_vec(), both.len()), Some(both));
        }

        #[test]
        fn pushes_words(parts in prop::collection::vec((any::<u64>(), 0usize..=64), 0..20), n in 0usize..200) {
            let mut bitmap = Bitmap::new();
            let mut naive = vec![];
            for (word, n) in parts {
                bitmap.push_bits(word & low_mask(n), n);
                naive.extend((0..n).map(|i| word >> i & 1 == 1));
            }
            bitmap.push_repeated(true, n);
            naive.extend(std::iter::repeat_n(true, n));
            bitmap.push_repeated(false, n);
            naive.extend(std::iter::repeat_n(false, n));
            prop_assert_eq!(read(&bitmap), naive);
        }
    }

    #[test]
    fn refuses_words_of_another_length() {
        assert!(Bitmap::from_words(vec![], 0).is_some());
        assert!(Bitmap::from_words(vec![], 1).is_none());
        assert!(Bitmap::from_words(vec![1, 0], 64).is_none());
        assert!(Bitmap::from_words(vec![2], 1).is_none());
        assert!(Bitmap::from_words(vec![1], 1).is_some());
    }
}
