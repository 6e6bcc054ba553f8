//! Batched affine additions in G1, eight at a time, by AVX-512's 52-bit multiply-add.
//!
//! A lane of [`Lanes`] is a number of eight 52-bit limbs. Coordinates are blst's: Montgomery form with `R = 2^384`, so results are
//! the same as its own, bit for bit. That is seven reduction steps of 52 bits and one of 20. Numbers need not be reduced
//! between operations: with `R > 9.8 p`, factors below `4p` and `2p` have a product below `1.9 p`. Bounds stand beside
//! each step.

use std::arch::x86_64::*;

use blst::blst_fp;

use crate::curve::Affine;

/// Lanes of a vector.
const LANES: usize = 8;
const MASK: i64 = (1 << 52) - 1;
/// `-p^-1 mod 2^52`.
const NEGATED_INVERSE: i64 = 0x3_fffc_fffc_fffd;
/// `p` in limbs of 52 bits.
const MODULUS: [i64; 8] = [
    0xe_ffff_ffff_aaab,
    0xf_eb15_3fff_fb9f,
    0x6_b0f6_241e_abff,
    0x1_2bf6_730d_2a0f,
    0x7_6477_4b84_f385,
    0x1_ba7b_6434_bacd,
    0x1_ea39_7fe6_9a4b,
    0x1_a011,
];

/// Whether this processor has what [`add_each`] needs.
pub(crate) fn is_available() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512ifma")
        && is_x86_feature_detected!("avx512dq")
}

/// A statement for each of the indices 0 to 7, unrolled: the limbs must stay in registers.
macro_rules! unroll {
    ($k:ident => $body:block) => {
        unroll!(@ $k, $body, 0, 1, 2, 3, 4, 5, 6, 7)
    };
    (@ $k:ident, $body:block, $($value:literal),*) => {
        $({
            const $k: usize = $value;
            $body
        })*
    };
}

/// Eight numbers.
#[derive(Clone, Copy)]
pub struct Lanes([__m512i; 8]);

/// Eight points: twelve 64-bit words each.
type Words = [__m512i; 12];

#[inline]
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn set(value: i64) -> __m512i {
    _mm512_set1_epi64(value)
}

/// Brings signed limbs into 52 bits; the last keeps the sign.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn carry(limbs: &mut [__m512i; 8]) {
    let mask = set(MASK);
    for k in 0..7 {
        limbs[k + 1] = _mm512_add_epi64(limbs[k + 1], _mm512_srai_epi64::<52>(limbs[k]));
        limbs[k] = _mm512_and_si512(limbs[k], mask);
    }
}

/// `a - b + times·p`.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn subtract(a: &Lanes, b: &Lanes, times: i64) -> Lanes {
    let mut out = [set(0); 8];
    for k in 0..8 {
        out[k] = _mm512_add_epi64(_mm512_sub_epi64(a.0[k], b.0[k]), set(times * MODULUS[k]));
    }
    carry(&mut out);
    Lanes(out)
}

/// `a - times·p` where that is not negative.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn reduce_by(a: &Lanes, times: i64) -> Lanes {
    let mut less = [set(0); 8];
    for k in 0..8 {
        less[k] = _mm512_sub_epi64(a.0[k], set(times * MODULUS[k]));
    }
    carry(&mut less);
    blend(_mm512_movepi64_mask(less[7]), &Lanes(less), a)
}

/// In each lane `b` where the mask is set, `a` elsewhere.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn blend(mask: __mmask8, a: &Lanes, b: &Lanes) -> Lanes {
    let mut out = [set(0); 8];
    for k in 0..8 {
        out[k] = _mm512_mask_blend_epi64(mask, a.0[k], b.0[k]);
    }
    Lanes(out)
}

/// `a·b / 2^384`, below `a·b/R + p`.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn multiply(a: &Lanes, b: &Lanes) -> Lanes {
    let zero = set(0);
    let mut t = [zero; 16];
    unroll!(I => {
        unroll!(J => {
            t[I + J] = _mm512_madd52lo_epu64(t[I + J], a.0[I], b.0[J]);
            t[I + J + 1] = _mm512_madd52hi_epu64(t[I + J + 1], a.0[I], b.0[J]);
        });
    });
    unroll!(I => {
        let mut m = _mm512_madd52lo_epu64(zero, t[I], set(NEGATED_INVERSE));
        if I == 7 {
            m = _mm512_and_si512(m, set((1 << 20) - 1));
        }
        unroll!(J => {
            t[I + J] = _mm512_madd52lo_epu64(t[I + J], m, set(MODULUS[J]));
            t[I + J + 1] = _mm512_madd52hi_epu64(t[I + J + 1], m, set(MODULUS[J]));
        });
        if I < 7 {
            t[I + 1] = _mm512_add_epi64(t[I + 1], _mm512_srli_epi64::<52>(t[I]));
        }
    });
    unroll!(K => {
        t[K + 8] = _mm512_add_epi64(t[K + 8], _mm512_srli_epi64::<52>(t[K + 7]));
        t[K + 7] = _mm512_and_si512(t[K + 7], set(MASK));
    });
    let mut out = [zero; 8];
    unroll!(K => {
        let high = _mm512_and_si512(_mm512_slli_epi64::<32>(t[K + 8]), set(MASK));
        out[K] = _mm512_or_si512(_mm512_srli_epi64::<20>(t[K + 7]), high);
    });
    Lanes(out)
}

/// Which lanes are zero; they must be canonical.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn zeros(words: &[__m512i]) -> __mmask8 {
    let mut all = set(0);
    for word in words {
        all = _mm512_or_si512(all, *word);
    }
    _mm512_cmpeq_epi64_mask(all, set(0))
}

/// Six 64-bit words to eight limbs.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn to_limbs(w: &[__m512i]) -> Lanes {
    let mask = set(MASK);
    let join = |low, high| _mm512_and_si512(_mm512_or_si512(low, high), mask);
    Lanes([
        _mm512_and_si512(w[0], mask),
        join(_mm512_srli_epi64::<52>(w[0]), _mm512_slli_epi64::<12>(w[1])),
        join(_mm512_srli_epi64::<40>(w[1]), _mm512_slli_epi64::<24>(w[2])),
        join(_mm512_srli_epi64::<28>(w[2]), _mm512_slli_epi64::<36>(w[3])),
        join(_mm512_srli_epi64::<16>(w[3]), _mm512_slli_epi64::<48>(w[4])),
        _mm512_and_si512(_mm512_srli_epi64::<4>(w[4]), mask),
        join(_mm512_srli_epi64::<56>(w[4]), _mm512_slli_epi64::<8>(w[5])),
        _mm512_srli_epi64::<44>(w[5]),
    ])
}

/// Eight limbs to six 64-bit words.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn to_words(a: &Lanes) -> [__m512i; 6] {
    let l = &a.0;
    let join = |low, high| _mm512_or_si512(low, high);
    [
        join(l[0], _mm512_slli_epi64::<52>(l[1])),
        join(_mm512_srli_epi64::<12>(l[1]), _mm512_slli_epi64::<40>(l[2])),
        join(_mm512_srli_epi64::<24>(l[2]), _mm512_slli_epi64::<28>(l[3])),
        join(_mm512_srli_epi64::<36>(l[3]), _mm512_slli_epi64::<16>(l[4])),
        join(
            join(_mm512_srli_epi64::<48>(l[4]), _mm512_slli_epi64::<4>(l[5])),
            _mm512_slli_epi64::<56>(l[6]),
        ),
        join(_mm512_srli_epi64::<8>(l[6]), _mm512_slli_epi64::<44>(l[7])),
    ]
}

/// Rows to columns.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn transpose(r: [__m512i; 8]) -> [__m512i; 8] {
    // Pairs of 64-bit words, then quarters of 128 bits, twice.
    let (a0, a1) = (_mm512_unpacklo_epi64(r[0], r[1]), _mm512_unpackhi_epi64(r[0], r[1]));
    let (a2, a3) = (_mm512_unpacklo_epi64(r[2], r[3]), _mm512_unpackhi_epi64(r[2], r[3]));
    let (a4, a5) = (_mm512_unpacklo_epi64(r[4], r[5]), _mm512_unpackhi_epi64(r[4], r[5]));
    let (a6, a7) = (_mm512_unpacklo_epi64(r[6], r[7]), _mm512_unpackhi_epi64(r[6], r[7]));
    let quarters = |a, b, c, d| {
        let low = (_mm512_shuffle_i64x2::<0x88>(a, b), _mm512_shuffle_i64x2::<0x88>(c, d));
        let high = (_mm512_shuffle_i64x2::<0xdd>(a, b), _mm512_shuffle_i64x2::<0xdd>(c, d));
        [
            _mm512_shuffle_i64x2::<0x88>(low.0, low.1),
            _mm512_shuffle_i64x2::<0x88>(high.0, high.1),
            _mm512_shuffle_i64x2::<0xdd>(low.0, low.1),
            _mm512_shuffle_i64x2::<0xdd>(high.0, high.1),
        ]
    };
    let [e0, e1, e2, e3] = quarters(a0, a2, a4, a6);
    let [o0, o1, o2, o3] = quarters(a1, a3, a5, a7);
    [e0, o0, e1, o1, e2, o2, e3, o3]
}

/// Words `first..first + 8` of eight points, by word.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn load_half(points: &[Affine<blst_fp>; LANES], first: usize) -> [__m512i; 8] {
    assert!(first <= 4);
    let mut rows = [set(0); 8];
    for (row, point) in rows.iter_mut().zip(points) {
        let words = (&raw const *point).cast::<i64>();
        // SAFETY: a point is twelve words (`repr(C)`, two times six), of which these eight are within.
        *row = unsafe { _mm512_loadu_si512(words.add(first).cast()) };
    }
    transpose(rows)
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn load(points: &[Affine<blst_fp>; LANES]) -> Words {
    let (low, high) = (load_half(points, 0), load_half(points, 4));
    let mut out = [set(0); 12];
    out[..8].copy_from_slice(&low);
    out[8..].copy_from_slice(&high[4..]);
    out
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn store(points: &mut [Affine<blst_fp>; LANES], words: &Words) {
    for first in [0, 4] {
        let mut columns = [set(0); 8];
        columns.copy_from_slice(&words[first..first + 8]);
        for (row, point) in transpose(columns).into_iter().zip(points.iter_mut()) {
            let words = (&raw mut *point).cast::<i64>();
            // SAFETY: as in `load_half`; any words are a valid value of the type.
            unsafe { _mm512_storeu_si512(words.add(first).cast(), row) };
        }
    }
}

/// The lanes' inverses, by one inversion. They must not be zero.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn invert(a: &Lanes) -> Lanes {
    let mut out = [Affine::<blst_fp>::default(); LANES];
    let words = to_words(&reduce_by(&reduce_by(a, 2), 1));
    let mut columns = [set(0); 12];
    columns[..6].copy_from_slice(&words);
    store(&mut out, &columns);
    let mut prefixes = [blst_fp::default(); LANES];
    let mut product = crate::field::FP_ONE;
    for (lane, prefix) in out.iter().zip(&mut prefixes) {
        *prefix = product;
        product = super::fp_mul(&product, &lane.x);
    }
    let mut inverse = super::fp_inverse(&product);
    for (lane, prefix) in out.iter_mut().zip(&prefixes).rev() {
        let own = super::fp_mul(&inverse, prefix);
        inverse = super::fp_mul(&inverse, &lane.x);
        lane.x = own;
    }
    to_limbs(&load(&out)[..6])
}

/// What the addition of eight pairs divides by, and which lanes are special.
struct Divisor {
    value: Lanes,
    /// Equal points.
    tangent: __mmask8,
    /// No arithmetic: a summand is infinity, or they are opposite.
    trivial: __mmask8,
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn divisor(p: &Words, q: &Words) -> Divisor {
    // Below 2p.
    let mut value = subtract(&to_limbs(&q[..6]), &to_limbs(&p[..6]), 1);
    let mut same = [set(0); 6];
    for k in 0..6 {
        same[k] = _mm512_xor_si512(p[k], q[k]);
    }
    let special = zeros(&same) | zeros(&p[..6]) | zeros(&q[..6]);
    let (mut tangent, mut trivial) = (0, 0);
    if special != 0 {
        trivial = zeros(p) | zeros(q);
        let same_x = zeros(&same) & !trivial;
        for k in 0..6 {
            same[k] = _mm512_xor_si512(p[6 + k], q[6 + k]);
        }
        tangent = same_x & zeros(&same) & !zeros(&p[6..]);
        trivial |= same_x & !tangent;
        let y = to_limbs(&p[6..]);
        let mut twice = [set(0); 8];
        for k in 0..8 {
            twice[k] = _mm512_add_epi64(y.0[k], y.0[k]);
        }
        carry(&mut twice);
        value = blend(tangent, &value, &Lanes(twice));
        let mut one = [set(0); 6];
        for k in 0..6 {
            one[k] = set(crate::field::FP_ONE.l[k] as i64);
        }
        value = blend(trivial, &value, &to_limbs(&one));
    }
    Divisor { value, tangent, trivial }
}

/// Adds `others[i]` to `sums[i]`, in whole groups of eight; returns how many were added.
///
/// # Safety
/// [`is_available`] must be true.
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
pub(crate) unsafe fn add_each(
    sums: &mut [Affine<blst_fp>],
    others: &[Affine<blst_fp>],
    prefixes: &mut Vec<Lanes>,
) -> usize {
    let (sums, _) = sums.as_chunks_mut::<LANES>();
    let (others, _) = others.as_chunks::<LANES>();
    let groups = sums.len().min(others.len());
    if groups == 0 {
        return 0;
    }
    prefixes.clear();
    let mut one = [set(0); 6];
    for k in 0..6 {
        one[k] = set(crate::field::FP_ONE.l[k] as i64);
    }
    let mut product = to_limbs(&one);
    for (p, q) in sums.iter().zip(others) {
        prefixes.push(product);
        // Below 0.21 of the product so far plus p: below 1.3 p.
        product = multiply(&product, &divisor(&load(p), &load(q)).value);
    }
    let mut inverse = invert(&product);
    for ((p, q), prefix) in sums.iter_mut().zip(others).zip(prefixes.iter()).rev() {
        let (pw, qw) = (load(p), load(q));
        let divisor = divisor(&pw, &qw);
        let own = multiply(&inverse, prefix);
        inverse = multiply(&inverse, &divisor.value);
        let (px, py, qx, qy) =
            (to_limbs(&pw[..6]), to_limbs(&pw[6..]), to_limbs(&qw[..6]), to_limbs(&qw[6..]));
        let mut numerator = subtract(&qy, &py, 1);
        if divisor.tangent != 0 {
            // 3x², below 3.4 p.
            let square = multiply(&px, &px);
            let mut triple = [set(0); 8];
            for k in 0..8 {
                triple[k] = _mm512_add_epi64(_mm512_add_epi64(square.0[k], square.0[k]), square.0[k]);
            }
            carry(&mut triple);
            numerator = blend(divisor.tangent, &numerator, &Lanes(triple));
        }
        let slope = multiply(&numerator, &own);
        // λ² - x₁ - x₂ + 2p, below 3.3 p, then canonical.
        let x = subtract(&subtract(&multiply(&slope, &slope), &px, 1), &qx, 1);
        let x = reduce_by(&reduce_by(&x, 2), 1);
        let y = subtract(&multiply(&slope, &subtract(&px, &x, 1)), &py, 1);
        let y = reduce_by(&reduce_by(&y, 2), 1);
        let mut words = [set(0); 12];
        words[..6].copy_from_slice(&to_words(&x));
        words[6..].copy_from_slice(&to_words(&y));
        if divisor.trivial != 0 {
            // q if p is infinity, p if q is, infinity if they are opposite.
            let (p_zero, q_zero) = (zeros(&pw), zeros(&qw));
            for k in 0..12 {
                words[k] = _mm512_mask_blend_epi64(divisor.trivial, words[k], set(0));
                words[k] = _mm512_mask_blend_epi64(divisor.trivial & q_zero, words[k], pw[k]);
                words[k] = _mm512_mask_blend_epi64(divisor.trivial & p_zero, words[k], qw[k]);
            }
        }
        store(p, &words);
    }
    groups * LANES
}
