//! Helpers for the tests of all functions, and tests of the tables as a whole.

use std::collections::HashSet;

use super::rows;
use crate::decl::{CallContext, Function, OverloadDecl};
use crate::error::EvalError;
use crate::value::{Arena, Value};

/// Calls the body that all overloads of a function share, and checks the result.
#[track_caller]
pub(super) fn check(function: &str, args: &[Value<'_>], expected: Value<'_>) {
    let body = shared_body(function);
    expect(body, args, Ok(expected));
}

/// Calls the body that all overloads of a function share, and checks the error.
#[track_caller]
pub(super) fn fails(function: &str, args: &[Value<'_>], expected: &str) {
    expect(shared_body(function), args, Err(expected));
}

/// Calls the body of an overload and checks the result.
#[track_caller]
pub(super) fn check_overload(id: &str, args: &[Value<'_>], expected: Value<'_>) {
    expect(body(id), args, Ok(expected));
}

/// Calls the body of an overload and checks the error.
#[track_caller]
pub(super) fn fails_overload(id: &str, args: &[Value<'_>], expected: &str) {
    expect(body(id), args, Err(expected));
}

#[track_caller]
fn expect(body: Function, args: &[Value<'_>], expected: Result<Value<'_>, &str>) {
    let arena = Arena::new();
    let actual = body(&CallContext::new(&arena), args);
    let actual = actual.as_ref().map_err(EvalError::message);
    let same = match (&actual, &expected) {
        (Ok(actual), Ok(expected)) => {
            actual.type_name() == expected.type_name()
                && actual.equals(expected).expect("comparable")
        }
        (Err(actual), Err(expected)) => actual == expected,
        _ => false,
    };
    assert!(same, "{args:?}: {actual:?}, expected {expected:?}");
}

fn shared_body(function: &str) -> Function {
    let row = rows()
        .find(|row| row.function == function)
        .expect("a row of this name");
    body(row.id)
}

fn body(id: &str) -> Function {
    let row = rows().find(|row| row.id == id).expect("a row of this id");
    row.calls
        .implementation
        .function()
        .expect("a row with a body")
}

#[test]
fn every_signature_can_be_read() {
    for row in rows() {
        OverloadDecl::from_row(row).unwrap_or_else(|error| panic!("{}: {error}", row.id));
    }
}

#[test]
fn ids_are_unique() {
    let mut seen = HashSet::new();
    for row in rows() {
        assert!(seen.insert(row.id), "{} is there twice", row.id);
    }
}
