//! Two sums side by side: compilers do not find by themselves that the sums of a tile are pairs.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{__m128d, _mm_add_pd, _mm_cvtsd_f64, _mm_mul_pd, _mm_set_pd, _mm_unpackhi_pd};

/// Two doubles. Whatever the machine, each is rounded as a double of its own.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(super) struct Pair(__m128d);

#[cfg(target_arch = "x86_64")]
impl Pair {
    #[inline]
    pub(super) fn of(values: [f64; 2]) -> Self {
        Self(_mm_set_pd(values[1], values[0]))
    }

    #[inline]
    pub(super) fn plus_product(self, left: Self, right: Self) -> Self {
        Self(_mm_add_pd(self.0, _mm_mul_pd(left.0, right.0)))
    }

    #[inline]
    pub(super) fn sum(self) -> f64 {
        _mm_cvtsd_f64(self.0) + _mm_cvtsd_f64(_mm_unpackhi_pd(self.0, self.0))
    }
}

/// Two doubles. Whatever the machine, each is rounded as a double of its own.
#[cfg(not(target_arch = "x86_64"))]
#[derive(Clone, Copy)]
pub(super) struct Pair([f64; 2]);

#[cfg(not(target_arch = "x86_64"))]
impl Pair {
    #[inline]
    pub(super) fn of(values: [f64; 2]) -> Self {
        Self(values)
    }

    #[inline]
    pub(super) fn plus_product(self, left: Self, right: Self) -> Self {
        Self([0, 1].map(|lane| self.0[lane] + left.0[lane] * right.0[lane]))
    }

    #[inline]
    pub(super) fn sum(self) -> f64 {
        self.0[0] + self.0[1]
    }
}
