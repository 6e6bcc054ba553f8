//! x
mod random; mod reference;
fn main() { let _ = reference::porep_2kib(b""); let mut r = <rand_chacha::ChaCha8Rng as rand_core::SeedableRng>::seed_from_u64(1); let c = random::RandomCircuit::new(random::Feature::Mixed, 100, &mut r); println!("{}", c.constraints()); }
