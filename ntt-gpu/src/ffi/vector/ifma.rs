//! Eight field elements at a time, by AVX-512's 52-bit multiply-add.
//!
//! A lane of [`Lanes`] is a number of five 52-bit limbs. In memory elements are blst's, `x·2^256` below `p`. A product of lanes is
//! divided by `R = 2^260`, so one factor is brought in as sixteen times what stands in memory ([`Lanes::factor`], which costs nothing): the
//! product is then again `x·y·2^256`. That factor is below `16p = 0.453 R`, so a product with a number below `b·p` is below
//! `(0.453 b + 1) p`. Bounds are in units of `p`.

use std::arch::x86_64::*;

use blstrs::Scalar;

/// Lanes of a vector.
pub(super) const LANES: usize = 8;
const MASK: i64 = (1 << 52) - 1;
/// `p` in words of 64 bits.
const WORDS: [u64; 4] =
    [0xffff_ffff_0000_0001, 0x53bd_a402_fffe_5bfe, 0x3339_d808_09a1_d805, 0x73ed_a753_299d_7d48];
/// `p` in limbs of 52 bits.
const MODULUS: [i64; 5] = [
    WORDS[0] as i64 & MASK,
    (WORDS[0] >> 52 | WORDS[1] << 12) as i64 & MASK,
    (WORDS[1] >> 40 | WORDS[2] << 24) as i64 & MASK,
    (WORDS[2] >> 28 | WORDS[3] << 36) as i64 & MASK,
    (WORDS[3] >> 16) as i64,
];
/// `-p^-1 mod 2^52`.
const NEGATED_INVERSE: i64 = 0xf_fffe_ffff_ffff;
const _: () = assert!((MODULUS[0].wrapping_mul(NEGATED_INVERSE) + 1) & MASK == 0);
const _: () = assert!(size_of::<Scalar>() == 32);

/// Whether this processor has what the functions here need.
pub(super) fn is_available() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512ifma")
        && is_x86_feature_detected!("avx512dq")
}

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

/// Eight numbers. Limbs are of 52 bits unless said otherwise.
#[derive(Clone, Copy)]
pub(super) struct Lanes([__m512i; 5]);

#[inline]
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn set(value: i64) -> __m512i {
    _mm512_set1_epi64(value)
}

/// Eight elements by word, in the lanes' order: 0, 2, 1, 3, 4, 6, 5, 7. Row `k` has the elements `2k` and `2k + 1`.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn to_columns(rows: [__m512i; 4]) -> [__m512i; 4] {
    let (a, b) = (_mm512_unpacklo_epi64(rows[0], rows[1]), _mm512_unpackhi_epi64(rows[0], rows[1]));
    let (c, d) = (_mm512_unpacklo_epi64(rows[2], rows[3]), _mm512_unpackhi_epi64(rows[2], rows[3]));
    [
        _mm512_shuffle_i64x2::<0x88>(a, c),
        _mm512_shuffle_i64x2::<0x88>(b, d),
        _mm512_shuffle_i64x2::<0xdd>(a, c),
        _mm512_shuffle_i64x2::<0xdd>(b, d),
    ]
}

/// The reverse of [`to_columns`].
#[inline]
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn to_rows(w: [__m512i; 4]) -> [__m512i; 4] {
    let (a, b) = (_mm512_unpacklo_epi64(w[0], w[1]), _mm512_unpackhi_epi64(w[0], w[1]));
    let (c, d) = (_mm512_unpacklo_epi64(w[2], w[3]), _mm512_unpackhi_epi64(w[2], w[3]));
    let low = _mm512_set_epi64(11, 10, 3, 2, 9, 8, 1, 0);
    let high = _mm512_set_epi64(15, 14, 7, 6, 13, 12, 5, 4);
    [
        _mm512_permutex2var_epi64(a, low, c),
        _mm512_permutex2var_epi64(b, low, d),
        _mm512_permutex2var_epi64(a, high, c),
        _mm512_permutex2var_epi64(b, high, d),
    ]
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn rows(elements: &[Scalar; LANES]) -> [__m512i; 4] {
    let at = |k: usize| {
        // SAFETY: two elements, of the eight there are.
        unsafe { _mm512_loadu_si512(elements.as_ptr().add(2 * k).cast()) }
    };
    [at(0), at(1), at(2), at(3)]
}

/// Elements of a slice, `stride` apart.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn strided_rows(elements: &[Scalar], first: usize, stride: isize) -> [__m512i; 4] {
    let last = first.checked_add_signed(stride * (LANES as isize - 1));
    assert!(first < elements.len() && last.is_some_and(|last| last < elements.len()));
    // SAFETY: the first and the last element are within the slice, and the others between them.
    let at = |j: isize| unsafe { _mm256_loadu_si256(elements.as_ptr().add(first).offset(j * stride).cast()) };
    let pair = |k: isize| _mm512_inserti64x4::<1>(_mm512_castsi256_si512(at(2 * k)), at(2 * k + 1));
    [pair(0), pair(1), pair(2), pair(3)]
}

impl Lanes {
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    pub(super) fn zero() -> Self {
        Self([set(0); 5])
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    fn from_columns(w: [__m512i; 4]) -> Self {
        let mask = set(MASK);
        let join = |low, high| _mm512_and_si512(_mm512_or_si512(low, high), mask);
        Self([
            _mm512_and_si512(w[0], mask),
            join(_mm512_srli_epi64::<52>(w[0]), _mm512_slli_epi64::<12>(w[1])),
            join(_mm512_srli_epi64::<40>(w[1]), _mm512_slli_epi64::<24>(w[2])),
            join(_mm512_srli_epi64::<28>(w[2]), _mm512_slli_epi64::<36>(w[3])),
            _mm512_srli_epi64::<16>(w[3]),
        ])
    }

    /// Sixteen times the number.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    fn sixteenfold(w: [__m512i; 4]) -> Self {
        let mask = set(MASK);
        let join = |low, high| _mm512_and_si512(_mm512_or_si512(low, high), mask);
        Self([
            _mm512_and_si512(_mm512_slli_epi64::<4>(w[0]), mask),
            join(_mm512_srli_epi64::<48>(w[0]), _mm512_slli_epi64::<16>(w[1])),
            join(_mm512_srli_epi64::<36>(w[1]), _mm512_slli_epi64::<28>(w[2])),
            join(_mm512_srli_epi64::<24>(w[2]), _mm512_slli_epi64::<40>(w[3])),
            _mm512_srli_epi64::<12>(w[3]),
        ])
    }

    /// Eight elements that stand side by side.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    pub(super) fn load(elements: &[Scalar; LANES]) -> Self {
        Self::from_columns(to_columns(rows(elements)))
    }

    /// Eight elements `stride` apart.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    pub(super) fn load_strided(elements: &[Scalar], first: usize, stride: usize) -> Self {
        Self::from_columns(to_columns(strided_rows(elements, first, stride as isize)))
    }

    /// Eight elements as the second factor of [`multiply`](Self::multiply).
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    pub(super) fn factor(elements: &[Scalar; LANES]) -> Self {
        Self::sixteenfold(to_columns(rows(elements)))
    }

    /// The same of elements `stride` apart.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    pub(super) fn strided_factor(elements: &[Scalar], first: usize, stride: isize) -> Self {
        Self::sixteenfold(to_columns(strided_rows(elements, first, stride)))
    }

    /// The same of one element for all lanes.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    pub(super) fn common_factor(element: &Scalar) -> Self {
        Self::factor(&[*element; LANES])
    }

    /// The negatives of factors.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    pub(super) fn negated_factor(&self) -> Self {
        Self::zero().subtract(self, 16).carried()
    }

    /// To elements that stand side by side, reduced. The numbers must be below 2.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    pub(super) fn store(&self, elements: &mut [Scalar; LANES]) {
        for (k, row) in self.reduced_rows().into_iter().enumerate() {
            // SAFETY: two elements, of the eight there are; reduced numbers are valid elements.
            unsafe { _mm512_storeu_si512(elements.as_mut_ptr().add(2 * k).cast(), row) };
        }
    }

    /// The same to elements `stride` apart.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    pub(super) fn store_strided(&self, elements: &mut [Scalar], first: usize, stride: usize) {
        assert!(first + (LANES - 1) * stride < elements.len());
        let start = elements.as_mut_ptr();
        for (k, row) in self.reduced_rows().into_iter().enumerate() {
            let at = first + 2 * k * stride;
            // SAFETY: the last of the eight elements is within the slice; reduced numbers are valid elements.
            unsafe {
                _mm256_storeu_si256(start.add(at).cast(), _mm512_castsi512_si256(row));
                _mm256_storeu_si256(start.add(at + stride).cast(), _mm512_extracti64x4_epi64::<1>(row));
            }
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    fn reduced_rows(&self) -> [__m512i; 4] {
        let less = self.subtract(
            &Self([set(MODULUS[0]), set(MODULUS[1]), set(MODULUS[2]), set(MODULUS[3]), set(MODULUS[4])]),
            0,
        );
        let less = less.carried();
        let negative = _mm512_movepi64_mask(less.0[4]);
        let mut l = [set(0); 5];
        unroll!(K => { l[K] = _mm512_mask_blend_epi64(negative, less.0[K], self.0[K]); });
        let join = |low, high| _mm512_or_si512(low, high);
        to_rows([
            join(l[0], _mm512_slli_epi64::<52>(l[1])),
            join(_mm512_srli_epi64::<12>(l[1]), _mm512_slli_epi64::<40>(l[2])),
            join(_mm512_srli_epi64::<24>(l[2]), _mm512_slli_epi64::<28>(l[3])),
            join(_mm512_srli_epi64::<36>(l[3]), _mm512_slli_epi64::<16>(l[4])),
        ])
    }

    /// The sum, limb by limb: not carried.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    pub(super) fn add(&self, other: &Self) -> Self {
        let mut out = [set(0); 5];
        unroll!(K => { out[K] = _mm512_add_epi64(self.0[K], other.0[K]); });
        Self(out)
    }

    /// `self - other + times·p`, limb by limb: not carried.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    pub(super) fn subtract(&self, other: &Self, times: i64) -> Self {
        let mut out = [set(0); 5];
        unroll!(K => {
            let difference = _mm512_sub_epi64(self.0[K], other.0[K]);
            out[K] = _mm512_add_epi64(difference, set(times * MODULUS[K]));
        });
        Self(out)
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

    /// The number modulo `p`, below 1.1, carried. It must be below 8, need not be carried, and its last limb must not be negative.
    ///
    /// The last limb times `35/2^52`, rounded down, is the quotient or a little less: `p`'s own last limb is `2^52/35.33`, so less
    /// by 1 % and by one.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    pub(super) fn settled(&self) -> Self {
        let quotient = _mm512_madd52hi_epu64(set(0), self.0[4], set(35));
        let mut out = [set(0); 5];
        unroll!(K => {
            const P: i64 = MODULUS[K];
            let multiples = _mm512_set_epi64(7 * P, 6 * P, 5 * P, 4 * P, 3 * P, 2 * P, P, 0);
            out[K] = _mm512_sub_epi64(self.0[K], _mm512_permutexvar_epi64(quotient, multiples));
        });
        Self(out).carried()
    }

    /// `self·factor / R`, carried: below `0.453 b + 1` for a number below `b`, which must be carried.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    pub(super) fn multiply(&self, factor: &Self) -> Self {
        let zero = set(0);
        let mut t = [zero; 10];
        unroll!(I => {
            unroll!(J => {
                t[I + J] = _mm512_madd52lo_epu64(t[I + J], self.0[I], factor.0[J]);
                t[I + J + 1] = _mm512_madd52hi_epu64(t[I + J + 1], self.0[I], factor.0[J]);
            });
        });
        unroll!(I => {
            let m = _mm512_madd52lo_epu64(zero, t[I], set(NEGATED_INVERSE));
            unroll!(J => {
                t[I + J] = _mm512_madd52lo_epu64(t[I + J], m, set(MODULUS[J]));
                t[I + J + 1] = _mm512_madd52hi_epu64(t[I + J + 1], m, set(MODULUS[J]));
            });
            t[I + 1] = _mm512_add_epi64(t[I + 1], _mm512_srli_epi64::<52>(t[I]));
        });
        Self([t[5], t[6], t[7], t[8], t[9]]).carried()
    }
}
