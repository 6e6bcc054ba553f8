//! Eight field elements at a time.
//!
//! A lane is a number of five 52-bit limbs, least significant first. Elements are blst's: `x·2^256`, below `p` in memory. A sum of
//! products is divided by `2^260`, so that one factor of each product is brought in as sixteen times its element
//! ([`Factor`]): the result is then `Σ x·y·2^256` again. Bounds are in units of `p`, of which `2^260` has 35.3: a product of a number
//! below `b` with the factor of an element is below `0.453 b · 2^260`, and a reduction adds less than 1.

use std::arch::x86_64::*;

use blstrs::Scalar;

use super::LANES;
use crate::poseidon::{LimbsOf52, MODULUS_OF_52, limbs_of_52};

const MASK: i64 = (1 << 52) - 1;
/// `-p^-1 mod 2^52`.
const NEGATED_INVERSE: i64 = 0xf_fffe_ffff_ffff;
const _: () = assert!((MODULUS_OF_52[0].wrapping_mul(NEGATED_INVERSE) + 1) & MASK == 0);
const _: () = assert!(size_of::<Scalar>() == 32);

/// A statement for each of the indices 0 to 4, unrolled: the limbs must stay in registers.
macro_rules! unroll {
    ($k:ident => $body:block) => {
        unroll!(@ $k, $body, 0, 1, 2, 3, 4)
    };
    (@ $k:ident, $body:block, $($value:literal),*) => {
        $({
            const $k: usize = $value;
            $body
        })*
    };
}

/// Eight numbers, with limbs of 52 bits.
#[derive(Clone, Copy)]
pub(super) struct Lanes([__m512i; 5]);

/// Sixteen times eight elements.
#[derive(Clone, Copy)]
pub(super) struct Factor([__m512i; 5]);

/// A sum of products under way: ten columns of 52 bits, not carried. A product adds less than `10·2^52` to each, so that there is room
/// for hundreds.
#[derive(Clone, Copy)]
pub(super) struct Sum([__m512i; 10]);

#[inline]
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn set(value: i64) -> __m512i {
    _mm512_set1_epi64(value)
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn broadcast(limbs: &LimbsOf52) -> [__m512i; 5] {
    [set(limbs[0]), set(limbs[1]), set(limbs[2]), set(limbs[3]), set(limbs[4])]
}

impl Factor {
    /// One constant's factor for all lanes.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    pub(super) fn common(sixteenfold: &LimbsOf52) -> Self {
        Self(broadcast(sixteenfold))
    }
}

impl Sum {
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    pub(super) fn zero() -> Self {
        Self([set(0); 10])
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    pub(super) fn add_product(mut self, a: &Lanes, b: &Factor) -> Self {
        unroll!(I => {
            unroll!(J => {
                self.0[I + J] = _mm512_madd52lo_epu64(self.0[I + J], a.0[I], b.0[J]);
                self.0[I + J + 1] = _mm512_madd52hi_epu64(self.0[I + J + 1], a.0[I], b.0[J]);
            });
        });
        self
    }

    /// The sum by `2^260`, modulo `p`, carried: one more than the sum's own bound.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    pub(super) fn reduce(self) -> Lanes {
        let Self(mut t) = self;
        unroll!(I => {
            let m = _mm512_madd52lo_epu64(set(0), t[I], set(NEGATED_INVERSE));
            unroll!(J => {
                t[I + J] = _mm512_madd52lo_epu64(t[I + J], m, set(MODULUS_OF_52[J]));
                t[I + J + 1] = _mm512_madd52hi_epu64(t[I + J + 1], m, set(MODULUS_OF_52[J]));
            });
            // The low 52 bits are zero now.
            t[I + 1] = _mm512_add_epi64(t[I + 1], _mm512_srli_epi64::<52>(t[I]));
        });
        Lanes([t[5], t[6], t[7], t[8], t[9]]).carried()
    }
}

impl Lanes {
    /// One number for all lanes.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    pub(super) fn common(limbs: &LimbsOf52) -> Self {
        Self(broadcast(limbs))
    }

    /// Eight elements.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    pub(super) fn load(elements: [&Scalar; LANES]) -> Self {
        let limbs = elements.map(limbs_of_52);
        let [a, b, c, d, e, f, g, h] = &limbs;
        let mut out = [set(0); 5];
        unroll!(K => { out[K] = _mm512_set_epi64(h[K], g[K], f[K], e[K], d[K], c[K], b[K], a[K]); });
        Self(out)
    }

    /// To eight elements, `stride` apart. The numbers must be elements: below 1.
    ///
    /// # Panics
    /// If the last lies beyond the slice.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    pub(super) fn store(&self, out: &mut [Scalar], first: usize, stride: usize) {
        assert!(first + (LANES - 1) * stride < out.len());
        let l = &self.0;
        let join = |low, high| _mm512_or_si512(low, high);
        let words = [
            join(l[0], _mm512_slli_epi64::<52>(l[1])),
            join(_mm512_srli_epi64::<12>(l[1]), _mm512_slli_epi64::<40>(l[2])),
            join(_mm512_srli_epi64::<24>(l[2]), _mm512_slli_epi64::<28>(l[3])),
            join(_mm512_srli_epi64::<36>(l[3]), _mm512_slli_epi64::<16>(l[4])),
        ];
        // Each 128-bit part of a pair is half an element: of lanes 0, 2, 4, 6 and of lanes 1, 3, 5, 7.
        let even = [_mm512_unpacklo_epi64(words[0], words[1]), _mm512_unpacklo_epi64(words[2], words[3])];
        let odd = [_mm512_unpackhi_epi64(words[0], words[1]), _mm512_unpackhi_epi64(words[2], words[3])];
        let front = _mm512_set_epi64(11, 10, 3, 2, 9, 8, 1, 0);
        let back = _mm512_set_epi64(15, 14, 7, 6, 13, 12, 5, 4);
        let pairs = [
            (0, _mm512_permutex2var_epi64(even[0], front, even[1])),
            (4, _mm512_permutex2var_epi64(even[0], back, even[1])),
            (1, _mm512_permutex2var_epi64(odd[0], front, odd[1])),
            (5, _mm512_permutex2var_epi64(odd[0], back, odd[1])),
        ];
        let start = out.as_mut_ptr();
        for (lane, pair) in pairs {
            // SAFETY: lanes up to the eighth are within the slice, as checked above; a number below p in four words is a valid element.
            unsafe {
                let at = |lane: usize| start.add(first + lane * stride).cast();
                _mm256_storeu_si256(at(lane), _mm512_castsi512_si256(pair));
                _mm256_storeu_si256(at(lane + 2), _mm512_extracti64x4_epi64::<1>(pair));
            }
        }
    }

    /// The sum, limb by limb: not carried.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    pub(super) fn plus(&self, other: &Self) -> Self {
        let mut out = [set(0); 5];
        unroll!(K => { out[K] = _mm512_add_epi64(self.0[K], other.0[K]); });
        Self(out)
    }

    /// The numbers, which are carried and below 1, as factors.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    pub(super) fn factor(&self) -> Factor {
        let (l, mask) = (&self.0, set(MASK));
        let low = |limb| _mm512_and_si512(_mm512_slli_epi64::<4>(limb), mask);
        let join = |limb, below| _mm512_or_si512(low(limb), _mm512_srli_epi64::<48>(below));
        Factor([low(l[0]), join(l[1], l[0]), join(l[2], l[1]), join(l[3], l[2]), join(l[4], l[3])])
    }

    /// The same number with limbs of 52 bits; the last keeps the sign.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    pub(super) fn carried(mut self) -> Self {
        let mask = set(MASK);
        for k in 0..4 {
            self.0[k + 1] = _mm512_add_epi64(self.0[k + 1], _mm512_srai_epi64::<52>(self.0[k]));
            self.0[k] = _mm512_and_si512(self.0[k], mask);
        }
        self
    }

    /// The number modulo `p`, below 1.1, carried. It must be below 8 and need not be carried by more than a bit.
    ///
    /// The last limb of `p` is `2^52 / 35.33`, so that 35 times a number's last limb, by `2^52`, is its quotient by `p` less 1 %,
    /// and less what was not carried; rounded down it leaves less than `1 + 0.01·8`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    pub(super) fn settled(&self) -> Self {
        let quotient = _mm512_madd52hi_epu64(set(0), self.0[4], set(35));
        let mut out = [set(0); 5];
        unroll!(K => {
            const P: i64 = MODULUS_OF_52[K];
            let multiples = _mm512_set_epi64(7 * P, 6 * P, 5 * P, 4 * P, 3 * P, 2 * P, P, 0);
            out[K] = _mm512_sub_epi64(self.0[K], _mm512_permutexvar_epi64(quotient, multiples));
        });
        Self(out).carried()
    }

    /// The element: a carried number below 2, less `p` where it is not below.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    pub(super) fn element(&self) -> Self {
        let mut less = [set(0); 5];
        unroll!(K => { less[K] = _mm512_sub_epi64(self.0[K], set(MODULUS_OF_52[K])); });
        let less = Self(less).carried();
        let negative = _mm512_movepi64_mask(less.0[4]);
        let mut out = [set(0); 5];
        unroll!(K => { out[K] = _mm512_mask_blend_epi64(negative, less.0[K], self.0[K]); });
        Self(out)
    }
}
