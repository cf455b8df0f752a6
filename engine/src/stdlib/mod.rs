//! The rows of CEL's own functions and operators.
