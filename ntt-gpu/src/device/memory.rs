//! How much device memory the transforms may take.

use gpu::{Fr, Pool};

use crate::ffi::{TableShape, Twiddle};
use crate::{Domain, Order};

/// Device memory against speed; the results are the same.
///
/// A twiddle takes twice an element's bytes: beside itself it has a quotient, which makes multiplications by it cheaper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Memory {
    /// As much as makes the transforms fastest: `n` twiddles, and a fourth vector in a quotient from natural order.
    #[default]
    Ample,
    /// As little as they can do with: `n/4` twiddles, and three vectors in any quotient. The lowest layer of a transform takes a
    /// second multiplication for half of the twiddles, the two lowest of one over the coset for each; and a quotient from
    /// natural order first permutes `a` and `b` in place.
    Tight,
}

impl Memory {
    /// Bytes that an [`Ntt`](super::Ntt) of this domain holds.
    pub fn twiddle_bytes(self, domain: Domain) -> u64 {
        Pool::bytes_for::<Twiddle>(self.table_shape(domain).length())
    }

    /// Bytes of the vectors of a [`quotient`](super::Ntt::quotient) at its peak, `a` and `b` included, when these come in order `O`.
    pub fn quotient_bytes<O: Order>(self, domain: Domain) -> u64 {
        let vectors = if self.permutes_in_place() || O::REVERSED { 3 } else { 4 };
        Pool::bytes_for::<Fr>(domain.size()).saturating_mul(vectors)
    }

    pub(super) fn table_shape(self, domain: Domain) -> TableShape {
        let log_parts = match self {
            Self::Ample => 0,
            Self::Tight => domain.log_size().min(2),
        };
        TableShape { log_entries: domain.log_size() - log_parts, log_parts }
    }

    /// Whether a change of order takes place within the vector, not on the way to another one.
    pub(super) fn permutes_in_place(self) -> bool {
        self == Self::Tight
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BitReversed, Natural};

    #[test]
    fn bytes_at_the_size_of_a_porep_partition() {
        let domain = Domain::new(27).unwrap();
        let vector = 32 << 27;
        assert_eq!(Memory::Ample.twiddle_bytes(domain), 2 * vector + 512);
        assert_eq!(Memory::Tight.twiddle_bytes(domain), vector / 2 + 512);
        assert_eq!(Memory::Ample.quotient_bytes::<Natural>(domain), 4 * vector);
        assert_eq!(Memory::Ample.quotient_bytes::<BitReversed>(domain), 3 * vector);
        assert_eq!(Memory::Tight.quotient_bytes::<Natural>(domain), 3 * vector);
        assert_eq!(Memory::Tight.quotient_bytes::<BitReversed>(domain), 3 * vector);
        let tight = Memory::Tight.twiddle_bytes(domain) + Memory::Tight.quotient_bytes::<Natural>(domain);
        assert!(tight < 15_100_000_000, "{tight}");
    }

    #[test]
    fn less_room_is_never_more_bytes() {
        for log_size in 0..=30 {
            let domain = Domain::new(log_size).unwrap();
            assert!(Memory::Tight.twiddle_bytes(domain) <= Memory::Ample.twiddle_bytes(domain));
            let [tight, ample] =
                [Memory::Tight, Memory::Ample].map(|memory| memory.quotient_bytes::<Natural>(domain));
            assert!(tight < ample, "2^{log_size}");
        }
    }
}
