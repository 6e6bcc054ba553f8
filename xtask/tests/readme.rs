//! The README's example, which is this code: line by line, in order.

use blstrs::Scalar;
use ntt_gpu::{Domain, Evaluations, Natural, Polynomial, cpu::Ntt};

#[test]
fn example() -> Result<(), ntt_gpu::Error> {
    let domain = Domain::covering(1000)?; // 1,024 points
    let ntt = Ntt::new(domain);
    let values = (0..domain.size() as u64).map(Scalar::from).collect();
    let polynomial = Polynomial::<Evaluations, Natural>::new(domain, values)?;
    let coefficients = ntt.inverse(polynomial.clone())?; // bit-reversed, as its type says
    assert_eq!(ntt.forward(coefficients)?, polynomial);
    Ok(())
}

#[test]
fn the_readme_says_the_same() {
    let readme = include_str!("../../README.md");
    let block = readme.split("```rust\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let mut code = include_str!("readme.rs").lines().map(str::trim);
    for line in block.lines().map(str::trim).filter(|line| !line.is_empty()) {
        assert!(code.any(|own| own == line), "not in this file, or in another order: {line}");
    }
}
