//! Sums of products on the CPU, parallel with rayon.
//!
//! Everything here rests on one routine (`forest`): many sums of affine points at once, by additions that share
//! their inversions. An addition then costs six field multiplications instead of blst's ten or more.
//! None of it is constant-time.

mod digits;
mod fixed_base;
mod forest;
mod msm;
mod packed;
mod subgroup;

pub use fixed_base::FixedBase;
pub use msm::{DenseSum, msm};
pub use packed::{PackedSum, msm_packed};
pub use subgroup::check_subgroup;
