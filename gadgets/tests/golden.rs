//! Rows against digests measured on Filecoin's reference implementation (bellperson 0.27, proofs 19.1.0).
//!
//! The digest is SHA-256 over each row's three combinations: `u32` number of terms, then for each the tag (0 input, 1 aux),
//! the `u64` index and the 32 bytes of the coefficient, all little-endian.

mod common;

use bellpepper_core::ConstraintSystem;
use bellpepper_core::num::AllocatedNum;
use blstrs::Scalar;
use common::Recorder;
use gadgets::merkle::{NodeHasher, Root, Shape, inclusion};
use gadgets::num::equal;
use gadgets::pack::reverse_bit_numbering;
use gadgets::poseidon::{Constants, hash};

fn blank(cs: &mut Recorder) -> AllocatedNum<Scalar> {
    AllocatedNum::alloc(cs.namespace(|| "blank"), || unreachable!("a blank circuit has no values")).unwrap()
}

fn commitment(
    cs: &mut Recorder,
    comm_c: &AllocatedNum<Scalar>,
    comm_r_last: &AllocatedNum<Scalar>,
) -> AllocatedNum<Scalar> {
    hash(cs, &[comm_c.clone(), comm_r_last.clone()], Constants::arity_2()).unwrap()
}

/// WinningPoSt, 2 KiB: 66 sectors of one challenge each.
#[test]
fn winning_post_2kib() {
    let mut cs = Recorder::blank();
    let shape = Shape::new(NodeHasher::Poseidon, 8, 2, 0, 0).unwrap();
    for sector in 0..66 {
        let [comm_r_last, comm_c, comm_r] = [(); 3].map(|()| blank(&mut cs));
        comm_r.inputize(&mut cs).unwrap();
        let computed = commitment(&mut cs, &comm_c, &comm_r_last);
        if sector == 0 {
            assert_eq!(cs.prefix_digest(), "6eacf009e5f291e0");
        }
        equal(&mut cs, || "comm_r".to_owned(), &comm_r, &computed);
        inclusion(&mut cs, &shape, Root::Val(None), None, Root::Var(comm_r_last)).unwrap();
    }
    assert_eq!((cs.inputs.len(), cs.aux.len(), cs.rows), (133, 91_674, 90_750));
    assert_eq!(cs.digest(), "65b953c0bbbe8a8213bc8e9c3be41d622641104601bb962555ead98b4822d197");
}

/// PoRep, 2 KiB, up to the inclusion of the first challenge's data: six levels of SHA-256.
#[test]
fn porep_2kib_prefix() {
    let mut cs = Recorder::blank();
    let replica_id = blank(&mut cs);
    replica_id.inputize(&mut cs).unwrap();
    let replica_id_bits = reverse_bit_numbering(replica_id.to_bits_le(&mut cs).unwrap());
    assert_eq!(replica_id_bits.len(), 256);
    assert_eq!(cs.prefix_digest(), "0e4530a5cbf96baa");
    let comm_d = blank(&mut cs);
    comm_d.inputize(&mut cs).unwrap();
    let comm_r = blank(&mut cs);
    comm_r.inputize(&mut cs).unwrap();
    let comm_r_last = blank(&mut cs);
    let comm_c = blank(&mut cs);
    assert_eq!(cs.prefix_digest(), "8755a22ac80379fd");
    let computed = commitment(&mut cs, &comm_c, &comm_r_last);
    equal(&mut cs, || "comm_r".to_owned(), &comm_r, &computed);

    let data_leaf = blank(&mut cs);
    let shape = Shape::new(NodeHasher::Sha256, 2, 6, 0, 0).unwrap();
    inclusion(&mut cs, &shape, Root::Var(data_leaf), None, Root::Var(comm_d)).unwrap();
    assert_eq!((cs.inputs.len(), cs.aux.len(), cs.rows), (5, 272_582, 272_865));
    assert_eq!(cs.prefix_digest(), "5b864d6f0d0b67d7");
}
