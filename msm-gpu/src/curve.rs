//! The two groups.

use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective, Scalar};
use group::prime::{PrimeCurve, PrimeCurveAffine};

use crate::field::BaseField;

mod sealed {
    pub trait Sealed {}
}

/// One of BLS12-381's groups: [`G1`] or [`G2`].
pub trait Curve: sealed::Sealed + Copy + Send + Sync + std::fmt::Debug + 'static {
    /// Points by `x` and `y`, with a point at infinity.
    type Affine: PrimeCurveAffine<Curve = Self::Projective, Scalar = Scalar>
        + Copy
        + Default
        + Eq
        + Send
        + Sync
        + std::fmt::Debug;
    /// Points as blst adds them.
    type Projective: PrimeCurve<Affine = Self::Affine, Scalar = Scalar>
        + group::Curve<AffineRepr = Self::Affine>
        + Copy
        + Send
        + Sync
        + std::fmt::Debug;
    /// The coordinate field.
    #[doc(hidden)]
    type Base: BaseField;
    /// The group's name.
    const NAME: &'static str;

    /// `x` and `y`, both zero for infinity.
    #[doc(hidden)]
    fn coordinates(point: &Self::Affine) -> Affine<Self::Base>;
    /// The reverse of [`coordinates`](Self::coordinates).
    #[doc(hidden)]
    fn from_coordinates(point: &Affine<Self::Base>) -> Self::Affine;
    /// Whether the point is in the subgroup of prime order.
    fn is_in_subgroup(point: &Self::Affine) -> bool;
}

/// An affine point; infinity is `x = y = 0`, which is not on the curve.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[repr(C)]
pub struct Affine<F> {
    pub(crate) x: F,
    pub(crate) y: F,
}

impl<F: BaseField> Affine<F> {
    #[inline(always)]
    pub(crate) fn is_infinity(&self) -> bool {
        self.x.is_zero() && self.y.is_zero()
    }

    #[inline(always)]
    pub(crate) fn negate_if(self, negate: bool) -> Self {
        if negate { Self { x: self.x, y: self.y.neg() } } else { self }
    }
}

/// The group of points over the prime field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct G1;

/// The group of points over the quadratic extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct G2;

macro_rules! curve {
    ($curve:ident, $affine:ident, $projective:ident, $blst:ident, $base:ty) => {
        impl sealed::Sealed for $curve {}
        impl Curve for $curve {
            type Affine = $affine;
            type Projective = $projective;
            type Base = $base;
            const NAME: &'static str = stringify!($curve);

            #[inline(always)]
            fn coordinates(point: &$affine) -> Affine<$base> {
                let point: &blst::$blst = point.as_ref();
                Affine { x: point.x, y: point.y }
            }
            #[inline(always)]
            fn from_coordinates(point: &Affine<$base>) -> $affine {
                let mut out = $affine::default();
                *out.as_mut() = blst::$blst { x: point.x, y: point.y };
                out
            }
            fn is_in_subgroup(point: &$affine) -> bool {
                point.is_torsion_free().into()
            }
        }
    };
}

curve!(G1, G1Affine, G1Projective, blst_p1_affine, blst::blst_fp);
curve!(G2, G2Affine, G2Projective, blst_p2_affine, blst::blst_fp2);
