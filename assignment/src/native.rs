//! Runs native generators in parallel into one packed witness.

use ff::PrimeField;
use rayon::prelude::*;

use crate::packer::Packed;
use crate::{Bitmap, NativeWitness, PackedShape, PackedWitness, Packer, WitnessCounts, hints};

/// A native witness that could not be made.
#[derive(Debug, thiserror::Error)]
pub enum NativeWitnessError<E: std::error::Error + 'static> {
    /// The input does not satisfy the circuit; the source says which relation fails.
    #[error(transparent)]
    Circuit(E),
    /// A copy of the unit pushed other numbers of values than the first: its generator is at fault.
    #[error("unit {unit}: expected {expected:?}, got {got:?}")]
    UnitShape {
        /// The copy.
        unit: usize,
        /// What the first copy pushed.
        expected: WitnessCounts,
        /// What this copy pushed.
        got: WitnessCounts,
    },
}

/// The circuit's witness from its own generators: the prefix, then all units in parallel on rayon's current pool.
///
/// Every unit has the same numbers of values, so each unit's field elements are written straight to their final place;
/// its bits are merged afterwards. The numbers are learnt from the first unit, and from then on taken from
/// [`hints`]. Of several failing units the first is reported.
pub fn native_witness<F: PrimeField, C: NativeWitness<F>>(
    circuit: &C,
) -> Result<PackedWitness<F>, NativeWitnessError<C::Error>> {
    let id = circuit.id();
    let known = hints::shape(&id);
    let mut prefix = Packer::with_capacity(known.unwrap_or_default().prefix);
    let context = circuit.prefix_witness(&mut prefix).map_err(NativeWitnessError::Circuit)?;
    let prefix_counts = prefix.counts();

    // Without known numbers the first unit runs alone and gives them.
    let units = circuit.units();
    let (first, counts) = match known {
        Some(shape) => (None, shape.unit),
        None if units == 0 => (None, WitnessCounts::default()),
        None => {
            let mut packer = Packer::new();
            circuit.unit_witness(&context, 0, &mut packer).map_err(NativeWitnessError::Circuit)?;
            let counts = packer.counts();
            (Some(packer.into_packed()), counts)
        }
    };

    let Packed { inputs: prefix_inputs, mut ones, mut is_dense, mut dense } = prefix.into_packed();
    let done = usize::from(first.is_some());
    let rest = units.saturating_sub(done);
    dense.reserve_exact(counts.dense * (done + rest));
    dense.extend_from_slice(first.as_ref().map_or(&[], |first| &first.dense));
    let filled = dense.len();
    // In parallel because the first touch of fresh memory, not the zeros, is what costs.
    dense.par_extend(rayon::iter::repeat_n(F::ZERO, rest * counts.dense));

    let mut packers = Vec::with_capacity(rest);
    let mut tail = &mut dense[filled..];
    for _ in 0..rest {
        let (window, later) = std::mem::take(&mut tail).split_at_mut(counts.dense);
        packers.push(Packer::into_window(counts, window));
        tail = later;
    }
    let at_once = circuit.units_at_once().max(1);
    let made: Vec<_> = packers
        .par_chunks_mut(at_once)
        .enumerate()
        .with_max_len(1)
        .map(|(chunk, packers)| {
            let start = done + chunk * at_once;
            circuit.units_witness(&context, start, packers).map_err(NativeWitnessError::Circuit)?;
            let mut shapes = packers.iter().map(Packer::counts).zip(start..);
            match shapes.find(|(got, _)| *got != counts) {
                Some((got, unit)) => Err(NativeWitnessError::UnitShape { unit, expected: counts, got }),
                None => Ok(()),
            }
        })
        .collect();
    made.into_iter().collect::<Result<(), _>>()?;
    let rest = packers.into_iter().map(Packer::into_packed);
    let packed: Vec<_> = first.into_iter().chain(rest).collect();

    let mut inputs = Vec::with_capacity(1 + prefix_counts.inputs + counts.inputs * units);
    inputs.push(F::ONE);
    inputs.extend(prefix_inputs);
    packed.iter().for_each(|unit| inputs.extend_from_slice(&unit.inputs));
    rayon::join(
        || merge(&mut ones, counts.aux, packed.iter().map(|unit| &unit.ones)),
        || merge(&mut is_dense, counts.aux, packed.iter().map(|unit| &unit.is_dense)),
    );
    if known.is_none() {
        hints::record_shape(&id, PackedShape { prefix: prefix_counts, unit: counts });
    }
    Ok(PackedWitness::assemble(inputs, ones, is_dense, dense))
}

fn merge<'a>(target: &mut Bitmap, each: usize, parts: impl ExactSizeIterator<Item = &'a Bitmap>) {
    let mut all = Bitmap::with_capacity(target.len() + each * parts.len());
    all.append(target);
    parts.for_each(|part| all.append(part));
    *target = all;
}
