//! Which variables occur in A and in B: the query points of a proof, fixed by the circuit.

use assignment::Bitmap;

use crate::compiled::Bindings;
use crate::matrix::Block;

/// Of a block's own variables, those that occur anywhere in the circuit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BlockDensity {
    pub(crate) a_aux: Bitmap,
    pub(crate) b_input: Bitmap,
    pub(crate) b_aux: Bitmap,
}

impl BlockDensity {
    fn empty(block: &Block) -> Self {
        let (inputs, aux) = (block.layout.inputs as usize, block.layout.aux as usize);
        Self { a_aux: Bitmap::zeros(aux), b_input: Bitmap::zeros(inputs), b_aux: Bitmap::zeros(aux) }
    }
}

/// The densities of the prefix's variables and of the unit's. A unit's variables occur only in itself, the prefix's
/// also in the units, bound ones as each copy binds them.
pub(crate) fn densities(prefix: &Block, unit: &Block, bindings: &Bindings) -> (BlockDensity, BlockDensity) {
    let mut shared = BlockDensity::empty(prefix);
    let mut own = BlockDensity::empty(unit);
    for block in [prefix, unit] {
        let [own_inputs, shared_aux, own_aux, slots, end] = block.bounds;
        let is_prefix = std::ptr::eq(block, prefix);
        for (matrix, in_b) in [(&block.matrices[0], false), (&block.matrices[1], true)] {
            let mut bound = Bitmap::zeros((end - slots) as usize);
            for column in matrix.columns.iter().copied() {
                let target = if is_prefix { &mut shared } else { &mut own };
                if column >= slots {
                    bound.set((column - slots) as usize);
                } else if column >= own_aux {
                    mark_aux(target, in_b, (column - own_aux) as usize);
                } else if column >= shared_aux {
                    mark_aux(&mut shared, in_b, (column - shared_aux) as usize);
                } else if in_b && column >= own_inputs {
                    target.b_input.set((column - own_inputs) as usize);
                } else if in_b {
                    shared.b_input.set(column as usize);
                }
            }
            let prefix_inputs = prefix.layout.inputs;
            let copies = match bindings.slots {
                0 => 0,
                slots => bindings.columns.len() / slots,
            };
            for (copy, slot) in (0..copies).flat_map(|copy| bound.ones().map(move |slot| (copy, slot))) {
                match bindings.of(copy)[slot] {
                    aux if aux >= prefix_inputs => {
                        mark_aux(&mut shared, in_b, (aux - prefix_inputs) as usize);
                    }
                    input if in_b => shared.b_input.set(input as usize),
                    _ => {}
                }
            }
        }
    }
    (shared, own)
}

fn mark_aux(density: &mut BlockDensity, in_b: bool, index: usize) {
    if in_b { &mut density.b_aux } else { &mut density.a_aux }.set(index);
}
