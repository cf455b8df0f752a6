//! A quick test of whether an overload fits the operands of a call. The test is a comparison of bits. For most overloads of operators, no
//! types need to be unified.

use crate::types::{Signature, Type};

/// The number of operands that the test looks at.
const LANES: usize = 8;

const LOW_BITS: u64 = 0x0101_0101_0101_0101;
const HIGH_BITS: u64 = 0x8080_8080_8080_8080;

/// The shape of an overload's signature.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallShape {
    /// Whether calls are in receiver style.
    pub(crate) member: bool,
    /// The number of the signature's type parameters.
    pub(crate) variables: usize,
    arity: usize,
    /// Whether all parameters have simple types, and the result has no type parameters.
    is_simple: bool,
    /// For each parameter, a byte with the bits of the types that it accepts.
    accepted: u64,
}

/// The types of a call's operands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OperandTypes {
    count: usize,
    /// Whether every type is simple, or `dyn`.
    is_plain: bool,
    /// For each operand, a byte with the bits of the types that it may have.
    possible: u64,
}

/// Whether an overload fits the operands of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fit {
    No,
    Yes,
    /// The types must be unified.
    Unknown,
}

impl CallShape {
    pub(super) fn of(signature: &Signature) -> Self {
        let types = OperandTypes::of(signature.parameters.iter());
        let is_simple = |ty: &Type| bit(ty).is_some();
        let variables = signature.type_parameters().len();
        CallShape {
            member: signature.member,
            variables,
            arity: types.count,
            is_simple: types.count <= LANES
                && variables == 0
                && signature.parameters.iter().all(is_simple),
            accepted: types.possible,
        }
    }

    /// Whether the overload fits operands of these types.
    #[inline]
    pub(crate) fn fit(&self, operands: OperandTypes) -> Fit {
        let common = self.accepted & operands.possible;
        // The high bit of each byte that is zero, and possibly of bytes above it.
        let empty = common.wrapping_sub(LOW_BITS) & !common & HIGH_BITS;
        if self.arity != operands.count || empty != 0 {
            Fit::No
        } else if self.is_simple && operands.is_plain {
            Fit::Yes
        } else {
            Fit::Unknown
        }
    }
}

impl OperandTypes {
    #[inline]
    pub(crate) fn of<'t>(types: impl Iterator<Item = &'t Type>) -> Self {
        let mut operands = OperandTypes {
            count: 0,
            is_plain: true,
            possible: u64::MAX,
        };
        for ty in types {
            let bit = bit(ty);
            operands.is_plain &= bit.is_some() || ty.is_dyn();
            if operands.count < LANES {
                let bits = bit.unwrap_or(u8::MAX);
                operands.possible = operands.possible.wrapping_shl(8) | u64::from(bits);
            }
            operands.count = operands.count.saturating_add(1);
        }
        operands
    }
}

/// The bit of a simple type; `None` for other types. No value has two simple types.
fn bit(ty: &Type) -> Option<u8> {
    Some(match ty {
        Type::Bool => 1,
        Type::Int => 2,
        Type::Uint => 4,
        Type::Double => 8,
        Type::String => 16,
        Type::Bytes => 32,
        Type::Duration => 64,
        Type::Timestamp => 128,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(signature: &str, operands: &[Type]) -> Fit {
        let shape = CallShape::of(&signature.parse().unwrap());
        shape.fit(OperandTypes::of(operands.iter()))
    }

    #[test]
    fn simple_types_decide() {
        let (int, text) = (Type::Int, Type::String);
        assert_eq!(
            fit("(int, int) -> bool", &[int.clone(), int.clone()]),
            Fit::Yes
        );
        assert_eq!(
            fit("(int, int) -> bool", &[int.clone(), text.clone()]),
            Fit::No
        );
        assert_eq!(
            fit("(int, int) -> bool", &[text.clone(), int.clone()]),
            Fit::No
        );
        assert_eq!(
            fit("(int, int) -> bool", &[int.clone(), Type::Dyn]),
            Fit::Yes
        );
        assert_eq!(
            fit("(int, int) -> bool", &[int.clone(), Type::Null]),
            Fit::Unknown
        );
        assert_eq!(
            fit("(A, A) -> bool", &[int.clone(), int.clone()]),
            Fit::Unknown
        );
        assert_eq!(fit("(int) -> bool", &[int.clone(), int.clone()]), Fit::No);
        assert_eq!(fit("() -> bool", &[]), Fit::Yes);
        assert_eq!(fit("() -> list(A)", &[]), Fit::Unknown);
        let many = vec![Type::Int; 9];
        let shape = "(int, int, int, int, int, int, int, int, string) -> int";
        assert_eq!(fit(shape, &many), Fit::Unknown);
    }
}
