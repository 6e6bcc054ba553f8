//! The layout of bincode 1 (fixed-width little-endian integers, 64-bit lengths, 32-bit variant numbers), for the
//! structures of `raw`.

use super::error::{InputError, Problem, Within};
use super::raw::*;

/// A type with a bincode form.
pub(super) trait Decode: Sized {
    /// No encoding is shorter than this many bytes; at least one, so that a claimed length can be held against the
    /// bytes that remain.
    const MIN_BYTES: usize;

    fn decode(cursor: &mut Cursor<'_>) -> Result<Self, InputError>;
}

/// A place in a byte string.
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    offset: usize,
}

impl<'a> Cursor<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, offset: 0 }
    }

    pub fn offset(&self) -> usize {
        self.offset
    }

    pub fn left(&self) -> usize {
        self.bytes.len() - self.offset
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], InputError> {
        let rest = self.bytes.get(self.offset..).unwrap_or_default();
        let Some(taken) = rest.first_chunk::<N>() else {
            return Err(Problem::Truncated { offset: self.offset, needed: N, left: rest.len() }.into());
        };
        self.offset += N;
        Ok(*taken)
    }

    /// A field of a structure; errors name it.
    fn field<T: Decode>(&mut self, name: &'static str) -> Result<T, InputError> {
        T::decode(self).within(|| name.into())
    }
}

impl Decode for u64 {
    const MIN_BYTES: usize = 8;

    fn decode(cursor: &mut Cursor<'_>) -> Result<Self, InputError> {
        cursor.take().map(u64::from_le_bytes)
    }
}

impl Decode for Bytes32 {
    const MIN_BYTES: usize = 32;

    fn decode(cursor: &mut Cursor<'_>) -> Result<Self, InputError> {
        cursor.take()
    }
}

impl<T: Decode> Decode for Vec<T> {
    const MIN_BYTES: usize = 8;

    fn decode(cursor: &mut Cursor<'_>) -> Result<Self, InputError> {
        let offset = cursor.offset;
        let claimed = u64::decode(cursor)?;
        let left = cursor.left();
        let length = usize::try_from(claimed).ok().filter(|length| *length <= left / T::MIN_BYTES);
        let length = length.ok_or(Problem::Length { offset, claimed, left })?;
        (0..length).map(|i| T::decode(cursor).within(|| format!("element {i}"))).collect()
    }
}

impl Decode for MerkleProof {
    const MIN_BYTES: usize = 4 + 2 * 32 + InclusionPath::MIN_BYTES;

    fn decode(cursor: &mut Cursor<'_>) -> Result<Self, InputError> {
        let offset = cursor.offset;
        let data = match u32::from_le_bytes(cursor.take()?) {
            0 => ProofData::Single {
                root: cursor.field("root")?,
                leaf: cursor.field("leaf")?,
                path: cursor.field("path")?,
            },
            1 => ProofData::Sub {
                base_proof: cursor.field("base_proof")?,
                sub_proof: cursor.field("sub_proof")?,
                root: cursor.field("root")?,
                leaf: cursor.field("leaf")?,
            },
            2 => ProofData::Top {
                base_proof: cursor.field("base_proof")?,
                sub_proof: cursor.field("sub_proof")?,
                top_proof: cursor.field("top_proof")?,
                root: cursor.field("root")?,
                leaf: cursor.field("leaf")?,
            },
            tag => return Err(Problem::Variant { offset, tag }.into()),
        };
        Ok(MerkleProof { data })
    }
}

/// A structure: its fields, in order.
macro_rules! decode_fields {
    ($($kind:ident { $($field:ident: $field_kind:ty),* })*) => { $(
        impl Decode for $kind {
            const MIN_BYTES: usize = 0 $(+ <$field_kind>::MIN_BYTES)*;

            fn decode(cursor: &mut Cursor<'_>) -> Result<Self, InputError> {
                Ok($kind { $($field: cursor.field(stringify!($field))?),* })
            }
        }
    )* };
}

decode_fields! {
    InclusionPath { path: Vec<PathElement> }
    PathElement { hashes: Vec<Bytes32>, index: u64 }
    PostProof { sector_id: u64, comm_r: Bytes32, vanilla_proof: SectorProofs }
    SectorProofs { sectors: Vec<SectorProof> }
    SectorProof { inclusion_proofs: Vec<MerkleProof>, comm_c: Bytes32, comm_r_last: Bytes32 }
    UpdateProof { comm_c: Bytes32, apex_leafs: Vec<Bytes32>, challenge_proofs: Vec<UpdateChallengeProof> }
    UpdateChallengeProof { proof_r_old: MerkleProof, proof_d_new: MerkleProof, proof_r_new: MerkleProof }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_length_that_lies_allocates_nothing() {
        let mut bytes = vec![0; 40];
        bytes.extend(u64::MAX.to_le_bytes());
        bytes.extend([0; 24]);
        let error = PostProof::decode(&mut Cursor::new(&bytes)).unwrap_err();
        assert_eq!(error.problem, Problem::Length { offset: 40, claimed: u64::MAX, left: 24 });
        assert_eq!(error.place, ["vanilla_proof", "sectors"]);
        // A length that fits as a number of bytes, but not as a number of elements.
        bytes[40..48].copy_from_slice(&24u64.to_le_bytes());
        let error = PostProof::decode(&mut Cursor::new(&bytes)).unwrap_err();
        assert_eq!(error.problem, Problem::Length { offset: 40, claimed: 24, left: 24 });
    }

    proptest! {
        #[test]
        fn any_bytes_give_a_value_or_an_error(bytes: Vec<u8>) {
            let _ = PostProof::decode(&mut Cursor::new(&bytes));
            let _ = UpdateProof::decode(&mut Cursor::new(&bytes));
        }
    }
}
