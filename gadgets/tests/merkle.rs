//! Merkle inclusion: costs, the two sides against each other, wrong paths.

mod common;

use bellpepper_core::ConstraintSystem;
use bellpepper_core::test_cs::TestConstraintSystem;
use blstrs::Scalar;
use common::*;
use ff::Field;
use gadgets::merkle::*;
use proptest::prelude::*;

fn poseidon(base: usize, levels: usize, sub: usize, top: usize) -> Shape {
    Shape::new(NodeHasher::Poseidon, base, levels, sub, top).unwrap()
}

fn sha256(levels: usize) -> Shape {
    Shape::new(NodeHasher::Sha256, 2, levels, 0, 0).unwrap()
}

/// A path whose siblings are consecutive numbers, for the leaf with the given index.
fn path(shape: &Shape, mut index: u64, seed: u64) -> Vec<PathElement> {
    let mut next = Scalar::from(seed);
    shape
        .level_arities()
        .map(|arity| {
            let position = (index % arity as u64) as usize;
            index /= arity as u64;
            let mut sibling = || {
                next = next.square() + Scalar::from(seed);
                next
            };
            PathElement { siblings: (1..arity).map(|_| sibling()).collect(), index: position }
        })
        .collect()
}

/// The reference's counts, with the root as a public input and 64 leaves in each base tree.
#[test]
fn costs() {
    let shapes = [
        (poseidon(2, 6, 0, 0), 1_887),
        (poseidon(4, 3, 0, 0), 1_164),
        (poseidon(8, 2, 0, 0), 1_063),
        (poseidon(8, 2, 2, 0), 1_377),
        (poseidon(8, 2, 4, 2), 1_764),
        (poseidon(8, 2, 2, 4), 1_764),
        (poseidon(8, 2, 8, 0), 1_593),
        (poseidon(8, 2, 8, 2), 1_907),
        (sha256(6), 272_295),
    ];
    for (shape, rows) in shapes {
        let mut cs = TestConstraintSystem::<Scalar>::new();
        let (leaf, index) = (Scalar::from(99), 37 % shape.leaves());
        let path = path(&shape, index, 5);
        let expected = opening(&shape, leaf, &path).unwrap();
        assert_eq!(expected.index, index);
        let root = Root::Val(Some(expected.root));
        let root = inclusion(&mut cs, &shape, Root::Val(Some(leaf)), Some(&path), root).unwrap();
        root.inputize(cs.namespace(|| "root")).unwrap();
        assert!(cs.is_satisfied(), "{shape:?}: {:?}", cs.which_is_unsatisfied());
        assert_eq!(cs.num_constraints(), rows, "{shape:?}");
        assert_eq!(cs.num_inputs(), 3);
        assert!(cs.verify(&[Scalar::from(index), expected.root]));
    }
}

/// Both forms of inclusion, both sides.
fn check(shape: &Shape, index: u64, leaf: Scalar, seed: u64) {
    let path = path(shape, index, seed);
    let expected = opening(shape, leaf, &path).unwrap();
    let (_, native) = assert_same(
        |cs| (common::num(cs, "leaf", leaf), common::num(cs, "root", expected.root)),
        |cs, (leaf, root)| inclusion(cs, shape, Root::Var(leaf), Some(&path), Root::Var(root)).unwrap(),
        |sink| inclusion_witness(sink, shape, leaf, &path).unwrap(),
    );
    assert_eq!(native, expected);
    assert_eq!(native.index, index);
    let (_, native) = assert_same(
        |cs| {
            let leaf = common::num(cs, "leaf", leaf);
            let siblings: Vec<_> =
                path.iter().map(|element| nums(cs, "sibling", &element.siblings)).collect();
            let index = bits(cs, "index", index, shape.index_bits() as usize);
            (leaf, siblings, index, common::num(cs, "root", expected.root))
        },
        |cs, (leaf, siblings, index, root)| {
            inclusion_of_bits(cs, shape, &leaf, &index, &siblings, &root).unwrap();
        },
        |sink| inclusion_of_bits_witness(sink, shape, leaf, &path).unwrap(),
    );
    assert_eq!(native, expected);
}

proptest! {
    #![proptest_config(cases(8))]

    #[test]
    fn native_is_classic(leaf in scalar(), seed: u64, position: prop::sample::Index) {
        let shapes = [poseidon(2, 3, 0, 0), poseidon(4, 1, 8, 2), poseidon(8, 2, 8, 2), poseidon(8, 1, 2, 0), sha256(2)];
        for shape in shapes {
            check(&shape, position.index(shape.leaves() as usize) as u64, leaf, seed);
        }
    }

    /// Side by side as one by one.
    #[test]
    fn several_are_each(leaf in scalar(), seed: u64, count in 0usize..11) {
        for shape in [poseidon(4, 1, 8, 2), poseidon(8, 2, 8, 2), poseidon(8, 0, 0, 0), sha256(1)] {
            let leaves: Vec<Scalar> = (0..count as u64).map(|i| leaf + Scalar::from(i)).collect();
            let index = |i: u64| seed.wrapping_mul(i | 1) % shape.leaves();
            let paths: Vec<_> = (0..count as u64).map(|i| path(&shape, index(i), seed ^ i)).collect();
            let paths: Vec<&[PathElement]> = paths.iter().map(Vec::as_slice).collect();
            let mut sinks: Vec<RecordingSink> = (0..count).map(|_| RecordingSink::default()).collect();
            let openings = inclusion_witness_each(&mut sinks, &shape, &leaves, &paths).unwrap();
            prop_assert_eq!(openings.len(), count);
            for ((sink, opening), (leaf, path)) in sinks.iter().zip(openings).zip(leaves.iter().zip(paths)) {
                let mut expected = RecordingSink::default();
                prop_assert_eq!(inclusion_witness(&mut expected, &shape, *leaf, path), Ok(opening));
                prop_assert_eq!((&sink.aux, &sink.inputs), (&expected.aux, &expected.inputs));
            }
        }
    }

    #[test]
    fn a_wrong_root_leaf_or_position_is_unsatisfied(leaf in scalar(), seed in 1u64.., wrong in 0..3) {
        let shape = poseidon(8, 1, 2, 0);
        let mut path = path(&shape, 11, seed);
        let mut root = opening(&shape, leaf, &path).unwrap().root;
        let mut leaf = leaf;
        match wrong {
            0 => root += Scalar::ONE,
            1 => leaf += Scalar::ONE,
            _ => path[0].index ^= 1,
        }
        let mut cs = Recorder::with_values();
        inclusion(&mut cs, &shape, Root::Val(Some(leaf)), Some(&path), Root::Val(Some(root))).unwrap();
        prop_assert!(cs.unsatisfied.is_some());
    }
}

/// A leaf that is its own root has neither levels nor a public input.
#[test]
fn a_tree_of_one_leaf() {
    let shape = poseidon(8, 0, 0, 0);
    assert_eq!((shape.leaves(), shape.levels()), (1, 0));
    check(&shape, 0, Scalar::from(7), 1);
}

#[test]
fn a_blank_circuit_is_the_same_circuit() {
    let shape = poseidon(8, 1, 4, 2);
    let (mut blank, mut full) = (Recorder::blank(), Recorder::with_values());
    inclusion(&mut blank, &shape, Root::Val(None), None, Root::Val(None)).unwrap();
    let path = path(&shape, 3, 9);
    let root = opening(&shape, Scalar::ONE, &path).unwrap().root;
    inclusion(&mut full, &shape, Root::Val(Some(Scalar::ONE)), Some(&path), Root::Val(Some(root))).unwrap();
    assert_eq!((blank.rows, blank.inputs.len()), (full.rows, full.inputs.len()));
    let kinds = |cs: &Recorder| cs.aux.iter().map(|(_, is_bit)| *is_bit).collect::<Vec<_>>();
    assert_eq!(kinds(&blank), kinds(&full));
}

#[test]
fn wrong_paths_are_named() {
    let shape = poseidon(8, 2, 4, 0);
    let good = path(&shape, 5, 3);
    let changed = |change: &dyn Fn(&mut Vec<PathElement>)| {
        let mut path = good.clone();
        change(&mut path);
        let mut cs = Recorder::with_values();
        let root = Root::Val(Some(Scalar::ONE));
        let result = inclusion(&mut cs, &shape, Root::Val(Some(Scalar::ONE)), Some(&path), root);
        let error = opening(&shape, Scalar::ONE, &path).unwrap_err();
        assert!(result.is_err_and(|classic| classic.to_string().contains(&error.to_string())));
        let mut sink = RecordingSink::default();
        assert_eq!(inclusion_witness(&mut sink, &shape, Scalar::ONE, &path), Err(error));
        assert!(sink.aux.is_empty());
        let mut sinks = [(); 2].map(|()| RecordingSink::default());
        let each = inclusion_witness_each(&mut sinks, &shape, &[Scalar::ONE; 2], &[&good, &path]);
        assert_eq!(each, Err(error));
        assert!(sinks.iter().all(|sink| sink.aux.is_empty()));
        error
    };
    assert_eq!(changed(&|path| drop(path.pop())), PathError::Levels { expected: 3, got: 2 });
    assert_eq!(
        changed(&|path| path[2].siblings.push(Scalar::ONE)),
        PathError::Siblings { level: 2, expected: 3, got: 4 }
    );
    assert_eq!(changed(&|path| path[1].index = 8), PathError::Index { level: 1, arity: 8, got: 8 });
}

#[test]
fn shapes_without_gadgets_are_refused() {
    let shape = |base, levels, sub, top| Shape::new(NodeHasher::Poseidon, base, levels, sub, top);
    assert_eq!(shape(3, 1, 0, 0), Err(ShapeError::Arity { part: "base", got: 3 }));
    assert_eq!(shape(0, 1, 0, 0), Err(ShapeError::Arity { part: "base", got: 0 }));
    assert_eq!(shape(8, 1, 16, 0), Err(ShapeError::Arity { part: "sub", got: 16 }));
    assert_eq!(shape(8, 1, 0, 2), Err(ShapeError::TopWithoutSub));
    assert_eq!(shape(8, 22, 0, 0), Err(ShapeError::Height { got: 66 }));
    assert_eq!(shape(8, usize::MAX, 0, 0), Err(ShapeError::Height { got: usize::MAX }));
    assert_eq!(shape(8, 9, 8, 2).unwrap().leaves(), 1 << 31);
}
