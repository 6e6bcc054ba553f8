//! Constraint systems written once, for every version of bellpepper-core.
//!
//! bellpepper-core 0.2 and 0.4 have the same trait under different paths, and a type that wants both would be written
//! twice. [`Assembly`] is what such a type really does; [`constraint_system!`](crate::constraint_system) makes it a
//! `ConstraintSystem` of a given version.

use ff::PrimeField;

/// A linear combination: terms with distinct variables, ascending by index within inputs and within aux.
pub trait Combination<F: 'static> {
    /// The terms over inputs; input 0 is ONE.
    fn input_terms(&self) -> impl Iterator<Item = (usize, &F)>;
    /// The terms over auxiliary variables.
    fn aux_terms(&self) -> impl Iterator<Item = (usize, &F)>;
}

macro_rules! combination {
    ($core:ident) => {
        impl<F: PrimeField> Combination<F> for $core::LinearCombination<F> {
            #[inline]
            fn input_terms(&self) -> impl Iterator<Item = (usize, &F)> {
                self.iter_inputs().map(|(index, coefficient)| (*index, coefficient))
            }
            #[inline]
            fn aux_terms(&self) -> impl Iterator<Item = (usize, &F)> {
                self.iter_aux().map(|(index, coefficient)| (*index, coefficient))
            }
        }
    };
}

combination!(bellpepper_core);
#[cfg(feature = "bellperson-compat")]
combination!(bellpepper_core_02);

/// What a constraint system does with what a circuit tells it.
pub trait Assembly<F: PrimeField>: Sized + Send {
    /// Whether constraints are looked at. Where not, the closures that build combinations are not called.
    const ENFORCES: bool = true;

    /// Whether [`fragment`](Self::fragment) and [`append`](Self::append) are there.
    const EXTENSIBLE: bool = false;

    /// An empty system *without* the input ONE, which its user allocates as the first input. This is how
    /// circuits that are synthesised in parallel pieces use `ConstraintSystem::new`.
    ///
    /// # Panics
    /// Unless [`EXTENSIBLE`](Self::EXTENSIBLE).
    fn fragment() -> Self {
        unimplemented!("this constraint system is not extensible")
    }

    /// Appends a fragment's variables and constraints, leaving out its input 0.
    ///
    /// # Panics
    /// Unless [`EXTENSIBLE`](Self::EXTENSIBLE), or if the fragment's input 0 is not ONE.
    fn append(&mut self, _fragment: &Self) {
        unimplemented!("this constraint system is not extensible")
    }

    /// A new auxiliary variable; returns its index. Systems that need no values do not call `value`.
    fn new_aux<E>(&mut self, value: impl FnOnce() -> Result<F, E>) -> Result<usize, E>;

    /// A new input; returns its index.
    fn new_input<E>(&mut self, value: impl FnOnce() -> Result<F, E>) -> Result<usize, E>;

    /// The constraint `a * b = c`.
    fn constrain<L: Combination<F>>(&mut self, a: &L, b: &L, c: &L);

    /// A namespace opens.
    fn enter(&mut self, _name: impl FnOnce() -> String) {}

    /// The innermost namespace closes.
    fn leave(&mut self) {}
}

/// Implements `ConstraintSystem` of the given bellpepper-core for a type that is an [`Assembly`].
///
/// `constraint_system!(bellpepper_core, [F: PrimeField], F, ProvingAssignment<F>);`
///
/// `is_witness_generator` stays false: the contracts behind it (slices of values, `allocate_empty`) are not met.
#[macro_export]
macro_rules! constraint_system {
    ($core:ident, [$($generics:tt)*], $field:ty, $type:ty) => {
        impl<$($generics)*> $core::ConstraintSystem<$field> for $type {
            type Root = Self;

            fn new() -> Self {
                <Self as $crate::Assembly<$field>>::fragment()
            }

            #[inline]
            fn alloc<V, A, AR>(&mut self, _: A, value: V) -> Result<$core::Variable, $core::SynthesisError>
            where
                V: FnOnce() -> Result<$field, $core::SynthesisError>,
                A: FnOnce() -> AR,
                AR: Into<String>,
            {
                let index = $crate::Assembly::new_aux(self, value)?;
                Ok($core::Variable::new_unchecked($core::Index::Aux(index)))
            }

            #[inline]
            fn alloc_input<V, A, AR>(&mut self, _: A, value: V) -> Result<$core::Variable, $core::SynthesisError>
            where
                V: FnOnce() -> Result<$field, $core::SynthesisError>,
                A: FnOnce() -> AR,
                AR: Into<String>,
            {
                let index = $crate::Assembly::new_input(self, value)?;
                Ok($core::Variable::new_unchecked($core::Index::Input(index)))
            }

            #[inline]
            fn enforce<A, AR, LA, LB, LC>(&mut self, _: A, a: LA, b: LB, c: LC)
            where
                A: FnOnce() -> AR,
                AR: Into<String>,
                LA: FnOnce($core::LinearCombination<$field>) -> $core::LinearCombination<$field>,
                LB: FnOnce($core::LinearCombination<$field>) -> $core::LinearCombination<$field>,
                LC: FnOnce($core::LinearCombination<$field>) -> $core::LinearCombination<$field>,
            {
                if <Self as $crate::Assembly<$field>>::ENFORCES {
                    let zero = $core::LinearCombination::<$field>::zero;
                    $crate::Assembly::constrain(self, &a(zero()), &b(zero()), &c(zero()));
                }
            }

            fn push_namespace<NR, N>(&mut self, name: N)
            where
                NR: Into<String>,
                N: FnOnce() -> NR,
            {
                $crate::Assembly::enter(self, || name().into());
            }

            fn pop_namespace(&mut self) {
                $crate::Assembly::leave(self);
            }

            fn get_root(&mut self) -> &mut Self::Root {
                self
            }

            fn is_extensible() -> bool {
                <Self as $crate::Assembly<$field>>::EXTENSIBLE
            }

            fn extend(&mut self, other: &Self) {
                $crate::Assembly::append(self, other);
            }
        }
    };
}
