//! The CPU transforms against their definitions.

use blstrs::Scalar;
use ff::Field;
use ntt_gpu::cpu::Ntt;
use ntt_gpu::{BitReversed, Coefficients, CosetEvaluations, Domain, Error, Evaluations, Natural, Polynomial};
use proptest::prelude::*;
use rand_core::SeedableRng;

fn random(n: usize, seed: u64) -> Vec<Scalar> {
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
    (0..n).map(|_| Scalar::random(&mut rng)).collect()
}

/// `Σ_j x_j (shift·ω^k)^j` for every k, by Horner's rule.
fn naive(values: &[Scalar], root: Scalar, shift: Scalar) -> Vec<Scalar> {
    (0..values.len() as u64)
        .map(|k| {
            let x = shift * root.pow_vartime([k]);
            values.iter().rev().fold(Scalar::ZERO, |sum, value| sum * x + value)
        })
        .collect()
}

fn reversed(values: &[Scalar]) -> Vec<Scalar> {
    let bits = values.len().trailing_zeros();
    (0..values.len())
        .map(|i| values[if bits == 0 { 0 } else { i.reverse_bits() >> (usize::BITS - bits) }])
        .collect()
}

fn awkward(n: usize, kind: u8, seed: u64) -> Vec<Scalar> {
    match kind {
        0 => vec![Scalar::ZERO; n],
        1 => vec![Scalar::ONE; n],
        2 => vec![-Scalar::ONE; n],
        3 => (0..n).map(|i| if i == n / 2 { -Scalar::ONE } else { Scalar::ZERO }).collect(),
        _ => random(n, seed),
    }
}

/// All eight transforms of one vector.
fn check(log_size: u32, values: Vec<Scalar>) {
    let domain = Domain::new(log_size).unwrap();
    let ntt = Ntt::new(domain);
    let shift = domain.coset_generator().unwrap();
    let plain = naive(&values, domain.root(), Scalar::ONE);
    let coset = naive(&values, domain.root(), shift);

    let natural = Polynomial::<Coefficients, Natural>::new(domain, values.clone()).unwrap();
    let flipped = Polynomial::<Coefficients, BitReversed>::new(domain, reversed(&values)).unwrap();
    assert_eq!(natural.clone().reorder(), flipped);

    let out: Polynomial<Evaluations, BitReversed> = ntt.forward(natural.clone()).unwrap();
    assert_eq!(out.values(), reversed(&plain));
    assert_eq!(ntt.inverse(out).unwrap(), natural);
    let out: Polynomial<Evaluations, Natural> = ntt.forward(flipped.clone()).unwrap();
    assert_eq!(out.values(), plain);
    assert_eq!(ntt.inverse(out).unwrap(), flipped);

    let out: Polynomial<CosetEvaluations, BitReversed> = ntt.coset_forward(natural.clone()).unwrap();
    assert_eq!(out.values(), reversed(&coset));
    assert_eq!(ntt.coset_inverse(out).unwrap(), natural);
    let out: Polynomial<CosetEvaluations, Natural> = ntt.coset_forward(flipped.clone()).unwrap();
    assert_eq!(out.values(), coset);
    assert_eq!(ntt.coset_inverse(out).unwrap(), flipped);
}

/// The quotient by long division: with c of degree below n, the high half of a·b.
fn naive_quotient(domain: Domain, a: &[Scalar], b: &[Scalar]) -> Vec<Scalar> {
    let n = domain.size();
    let inverse = |values: &[Scalar]| -> Vec<Scalar> {
        let out = naive(values, domain.root().invert().unwrap(), Scalar::ONE);
        out.iter().map(|value| value * domain.size_inverse()).collect()
    };
    let (a, b, c) =
        (inverse(a), inverse(b), inverse(&a.iter().zip(b).map(|(a, b)| a * b).collect::<Vec<_>>()));
    let mut dividend = vec![Scalar::ZERO; 2 * n - 1];
    for (i, a) in a.iter().enumerate() {
        for (j, b) in b.iter().enumerate() {
            dividend[i + j] += a * b;
        }
    }
    for (i, c) in c.iter().enumerate() {
        dividend[i] -= c;
    }
    let mut quotient = vec![Scalar::ZERO; n - 1];
    for i in (0..n - 1).rev() {
        quotient[i] = dividend[i + n];
        let carried = dividend[i + n];
        dividend[i] += carried;
        dividend[i + n] = Scalar::ZERO;
    }
    assert!(dividend.iter().all(|value| bool::from(value.is_zero())), "the division is exact");
    quotient
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn transforms_equal_their_definition(log_size in 0u32..9, kind in 0u8..8, seed: u64) {
        check(log_size, awkward(1 << log_size, kind, seed));
    }

    #[test]
    fn quotient_equals_long_division(log_size in 0u32..8, kinds in (0u8..8, 0u8..8), seed: u64) {
        let domain = Domain::new(log_size).unwrap();
        let n = domain.size();
        let (a, b) = (awkward(n, kinds.0, seed), awkward(n, kinds.1, seed ^ 1));
        let poly = |values: &[Scalar]| Polynomial::new(domain, values.to_vec()).unwrap();
        let h = Ntt::new(domain).quotient(poly(&a), poly(&b)).unwrap();
        prop_assert_eq!(h, naive_quotient(domain, &a, &b));
    }

    #[test]
    fn lagrange_interpolates(log_size in 0u32..8, seed: u64) {
        let domain = Domain::new(log_size).unwrap();
        let values = random(domain.size(), seed);
        let x = random(1, seed ^ 2)[0];
        let at_x: Scalar = domain.lagrange_at(&x).iter().zip(&values).map(|(l, v)| *l * v).sum();
        let ntt = Ntt::new(domain);
        let poly = ntt.inverse(Polynomial::<Evaluations, BitReversed>::new(domain, reversed(&values)).unwrap());
        let horner = poly.unwrap().values().iter().rev().fold(Scalar::ZERO, |sum, c| sum * x + c);
        prop_assert_eq!(at_x, horner);
    }
}

/// Sizes that use the cache-sized blocks, the radix-4 passes and the parallel tasks.
#[test]
fn large_transforms_agree_with_spot_checks() {
    for log_size in [10u32, 11, 12, 13, 14, 15, 16, 17] {
        let domain = Domain::new(log_size).unwrap();
        let ntt = Ntt::new(domain);
        let values = random(domain.size(), u64::from(log_size));
        let poly = Polynomial::<Coefficients, Natural>::new(domain, values.clone()).unwrap();
        let plain = ntt.forward(poly.clone()).unwrap().reorder();
        let coset = ntt.coset_forward(poly.clone()).unwrap().reorder();
        for k in [0, 1, 2, domain.size() / 2 + 1, domain.size() - 1] {
            let at = |x: Scalar| values.iter().rev().fold(Scalar::ZERO, |sum, c| sum * x + c);
            let x = domain.root().pow_vartime([k as u64]);
            assert_eq!(plain.values()[k], at(x));
            assert_eq!(coset.values()[k], at(x * domain.coset_generator().unwrap()));
        }
        assert_eq!(ntt.forward(poly.clone().reorder()).unwrap(), plain);
        assert_eq!(ntt.inverse(plain).unwrap().reorder(), poly);
        assert_eq!(ntt.coset_inverse(coset).unwrap().reorder(), poly);

        let other = Polynomial::new(domain, random(domain.size(), 77)).unwrap();
        let a = Polynomial::<Evaluations, Natural>::new(domain, values.clone()).unwrap();
        let h = ntt.quotient(a.clone(), other.clone()).unwrap();
        assert_eq!(h.len(), domain.size() - 1);
        // At a random point: a·b - c = h·t.
        let x = random(1, 5)[0];
        let lagrange = domain.lagrange_at(&x);
        let at = |values: &[Scalar]| values.iter().zip(&lagrange).map(|(v, l)| *v * l).sum::<Scalar>();
        let c: Vec<Scalar> = a.values().iter().zip(other.values()).map(|(a, b)| a * b).collect();
        let h_at = h.iter().rev().fold(Scalar::ZERO, |sum, value| sum * x + value);
        assert_eq!(at(a.values()) * at(other.values()) - at(&c), h_at * domain.vanishing_at(&x));
    }
}

#[test]
fn lagrange_inside_the_domain_is_a_unit_vector() {
    let domain = Domain::new(5).unwrap();
    let values = domain.lagrange_at(&domain.root().pow_vartime([7]));
    for (i, value) in values.iter().enumerate() {
        assert_eq!(*value, if i == 7 { Scalar::ONE } else { Scalar::ZERO });
    }
}

#[test]
fn domains_know_their_limits() {
    assert_eq!(Domain::new(33), Err(Error::DomainTooLarge { log_size: 33, two_adicity: 32 }));
    assert_eq!(Domain::covering(0).unwrap().size(), 1);
    assert_eq!(Domain::covering(1).unwrap().size(), 1);
    assert_eq!(Domain::covering(5).unwrap().size(), 8);
    assert_eq!(Domain::covering(1 << 32).unwrap().log_size(), 32);
    assert!(matches!(Domain::covering((1 << 32) + 1), Err(Error::TooManyValues { .. })));
    assert!(matches!(Domain::covering(usize::MAX), Err(Error::TooManyValues { .. })));
    assert_eq!(Domain::new(32).unwrap().coset_generator(), Err(Error::NoCoset { log_size: 32 }));
    let domain = Domain::new(31).unwrap();
    assert_eq!(domain.coset_generator().unwrap().square(), domain.root());
    for log_size in 0..=32 {
        let domain = Domain::new(log_size).unwrap();
        assert_eq!(domain.vanishing_at(&domain.root()), Scalar::ZERO);
        if log_size > 0 {
            assert_eq!(domain.root().pow_vartime([(domain.size() / 2) as u64]), -Scalar::ONE);
        }
    }
}

#[test]
fn lengths_and_domains_are_checked() {
    let (small, large) = (Domain::new(2).unwrap(), Domain::new(3).unwrap());
    let error = Polynomial::<Evaluations, Natural>::new(small, vec![Scalar::ONE; 5]).unwrap_err();
    assert_eq!(error, Error::Length { what: "polynomial", expected: 4, got: 5 });
    let poly = Polynomial::<Evaluations, Natural>::new(small, vec![Scalar::ONE; 4]).unwrap();
    assert!(Ntt::new(large).inverse(poly.clone()).is_err());
    assert!(Ntt::new(large).quotient(poly.clone(), poly).is_err());
}
