//! What is wrong with a shape or a partition: no such circuit, a form that is not the circuit's, a relation that does not
//! hold.

use std::fmt;

use blstrs::Scalar;

use crate::shape::CircuitName;
use crate::vanilla::domain;

/// A place in a partition's proof, counted from 0 within the partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// What the partition has once.
    Partition,
    /// A challenge of a PoRep or of SnapDeals.
    Challenge(usize),
    /// A sector of a WinningPoSt or WindowPoSt.
    Sector(usize),
}

/// A part of the proof at a [`Place`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The place as a whole, or its commitments.
    Whole,
    /// PoRep: the data node in tree D.
    Data,
    /// PoRep: the column of a parent in the depth-robust graph.
    DrgParent(usize),
    /// PoRep: the column of a parent in the expander.
    ExpParent(usize),
    /// PoRep: the replica node, label + data, in tree R_last.
    Replica,
    /// PoRep: the challenged node's column in tree C.
    Column,
    /// PoSt: an opened node of the replica.
    Opening(usize),
    /// SnapDeals: the node of the old replica in its tree R_last.
    OldReplica,
    /// SnapDeals: the node of the new data below its apex leaf in tree D.
    NewData,
    /// SnapDeals: the node of the new replica in its tree R_last.
    NewReplica,
    /// SnapDeals: the partition's part of tree D, rebuilt from its apex leaves, and its path to the root.
    ApexTree,
}

/// A relation between the values of a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// `comm_r = Poseidon(comm_c, comm_r_last)`; in SnapDeals, of the old replica.
    CommR,
    /// SnapDeals: `comm_r_new = Poseidon(comm_c, root_r_new)`.
    CommRNew,
    /// A path leads from its leaf to the root of its tree.
    Root,
    /// A path starts at the challenged node.
    Index,
    /// SnapDeals: the challenged node is the one that `comm_r_new` and the partition determine.
    Challenge,
}

/// A value that takes part in a [`Relation`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// A field element.
    Field(Scalar),
    /// The index of a node or leaf.
    Index(u64),
}

/// A relation that does not hold. Nothing can be proved of such an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}, {part}: {relation}: expected {expected}, got {got}")]
pub struct RelationError {
    /// Where.
    pub place: Place,
    /// In which part of the proof there.
    pub part: Part,
    /// Which relation.
    pub relation: Relation,
    /// What the proof states elsewhere.
    pub expected: Value,
    /// What follows from this part of it.
    pub got: Value,
}

/// A circuit that cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CircuitError {
    /// There is no circuit of this shape. Every [`SectorSize`](crate::shape::SectorSize)'s shapes have one.
    #[error("no circuit has {what}, got {got}")]
    Shape {
        /// What the shape must have.
        what: &'static str,
        /// What it has.
        got: usize,
    },
    /// The partitions are those of another proof.
    #[error("expected partitions for {expected}")]
    Proof {
        /// The circuit.
        expected: CircuitName,
    },
    /// A tree of the shape has no gadget.
    #[error(transparent)]
    Tree(#[from] gadgets::merkle::ShapeError),
    /// The partition's form is not the shape's.
    #[error(transparent)]
    Form(#[from] FormError),
}

/// A native witness that cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WitnessError {
    /// The input does not satisfy the circuit.
    #[error(transparent)]
    Relation(#[from] RelationError),
    /// The circuit is blank, or has no such unit.
    #[error("the circuit has no values for unit {unit}")]
    Missing {
        /// The unit; 0 for the prefix.
        unit: usize,
    },
    /// A path does not fit its tree. Circuits are made of checked partitions only, in which this does not occur.
    #[error(transparent)]
    Path(#[from] gadgets::merkle::PathError),
    /// A hash has no such arity. In a circuit that could be made this does not occur.
    #[error(transparent)]
    Preimage(#[from] gadgets::poseidon::WrongPreimage),
}

/// A partition whose form is not that of the circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormError {
    /// There are too many or too few of something.
    #[error("{place}, {part}: expected {expected} {of}, got {got}")]
    Count {
        /// Where.
        place: Place,
        /// In which part of the proof there.
        part: Part,
        /// Of what.
        of: Counted,
        /// How many the circuit has.
        expected: usize,
        /// How many there are.
        got: usize,
    },
    /// A number is out of range.
    #[error("{place}, {part}: expected {of} below {limit}, got {got}")]
    Range {
        /// Where.
        place: Place,
        /// In which part of the proof there.
        part: Part,
        /// Of what.
        of: Ranged,
        /// The first number that is out of range.
        limit: usize,
        /// The number.
        got: usize,
    },
}

/// What a [`FormError::Count`] is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say all")]
pub enum Counted {
    Challenges,
    Sectors,
    Openings,
    DrgParents,
    ExpParents,
    Labels,
    ApexLeaves,
    /// Levels of a path.
    Levels,
    /// Siblings at a level of a path, counted from the leaf.
    Siblings(usize),
}

/// What a [`FormError::Range`] is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ranged {
    /// The path's position at a level, counted from the leaf.
    Position(usize),
    /// The partition's index.
    Partition,
    /// The index of the rate.
    Rate,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Partition => f.write_str("partition"),
            Self::Challenge(i) => write!(f, "challenge {i}"),
            Self::Sector(i) => write!(f, "sector {i}"),
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => f.write_str("as a whole"),
            Self::Data => f.write_str("data node"),
            Self::DrgParent(i) => write!(f, "DRG parent {i}"),
            Self::ExpParent(i) => write!(f, "expander parent {i}"),
            Self::Replica => f.write_str("replica node"),
            Self::Column => f.write_str("column"),
            Self::Opening(i) => write!(f, "opening {i}"),
            Self::OldReplica => f.write_str("old replica's node"),
            Self::NewData => f.write_str("new data's node"),
            Self::NewReplica => f.write_str("new replica's node"),
            Self::ApexTree => f.write_str("apex tree"),
        }
    }
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CommR => "the commitment is not the hash of comm_c and the replica's root",
            Self::CommRNew => "the new commitment is not the hash of comm_c and the new replica's root",
            Self::Root => "the path does not lead to the root",
            Self::Index => "the path does not start at the challenged node",
            Self::Challenge => "the node is not the one challenged",
        })
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // As everywhere in Filecoin, little-endian.
            Self::Field(value) => f.write_str(&hex::encode(domain::to_bytes(value))),
            Self::Index(index) => index.fmt(f),
        }
    }
}

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Challenges => "challenges",
            Self::Sectors => "sectors",
            Self::Openings => "openings",
            Self::DrgParents => "DRG parents",
            Self::ExpParents => "expander parents",
            Self::Labels => "labels",
            Self::ApexLeaves => "apex leaves",
            Self::Levels => "levels of its path",
            Self::Siblings(level) => return write!(f, "siblings at level {level} of its path"),
        })
    }
}

impl fmt::Display for Ranged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Position(level) => write!(f, "the position at level {level} of its path"),
            Self::Partition => f.write_str("the partition's index"),
            Self::Rate => f.write_str("the index of the rate"),
        }
    }
}

/// One part of a proof that is being checked: where errors come from.
#[derive(Clone, Copy)]
pub(crate) struct Site {
    pub place: Place,
    pub part: Part,
}

impl Site {
    pub fn new(place: Place, part: Part) -> Self {
        Self { place, part }
    }

    pub fn field(self, relation: Relation, expected: Scalar, got: Scalar) -> Result<(), RelationError> {
        self.hold(relation, Value::Field(expected), Value::Field(got))
    }

    pub fn index(self, relation: Relation, expected: u64, got: u64) -> Result<(), RelationError> {
        self.hold(relation, Value::Index(expected), Value::Index(got))
    }

    fn hold(self, relation: Relation, expected: Value, got: Value) -> Result<(), RelationError> {
        let Self { place, part } = self;
        if expected == got { Ok(()) } else { Err(RelationError { place, part, relation, expected, got }) }
    }

    pub fn count(self, of: Counted, expected: usize, got: usize) -> Result<(), FormError> {
        let Self { place, part } = self;
        if expected == got { Ok(()) } else { Err(FormError::Count { place, part, of, expected, got }) }
    }

    pub fn below(self, of: Ranged, limit: usize, got: usize) -> Result<(), FormError> {
        let Self { place, part } = self;
        if got < limit { Ok(()) } else { Err(FormError::Range { place, part, of, limit, got }) }
    }
}
