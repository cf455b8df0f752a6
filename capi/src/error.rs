//! The errors that functions return: kind, message and position.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

use gavel_engine::error::{EvalError, EvalErrorKind};
use gavel_engine::issues::Phase;
use gavel_protocol::{Failure as EvalFailure, RequestError};

use crate::memory::{self, GavelSlice};
use crate::stack;

/// The kind of an error.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GavelErrorKind {
    /// An argument is invalid.
    Argument = 1,
    /// An expression has a syntax error.
    Parse = 2,
    /// An expression does not type-check.
    Check = 3,
    /// A constant part of an expression fails.
    Plan = 4,
    /// An evaluation failed.
    Evaluation = 5,
    /// An evaluation exceeded its cost limit.
    CostLimit = 6,
    /// An evaluation exceeded its memory limit.
    MemoryLimit = 7,
    /// The deadline passed, or the host cancelled the call.
    Interrupted = 8,
    /// An object cannot be decoded. It was not validated.
    Decode = 9,
    /// A definition or a policy cannot be compiled.
    Compile = 10,
    /// The library panicked, and caught the panic. The message is for a bug report.
    Panic = 11,
}

/// An error. `gavel_error_read` reads the error, `gavel_error_free` frees it.
#[derive(Debug)]
pub struct GavelError {
    kind: GavelErrorKind,
    message: String,
    line: u32,
    column: u32,
}

/// The contents of an error.
#[repr(C)]
#[derive(Debug)]
pub struct GavelErrorView {
    /// The kind.
    pub kind: GavelErrorKind,
    /// The line in the expression, from 1; 0 if the error has no position.
    pub line: u32,
    /// The column in the expression in code points, from 1; 0 if the error has no position.
    pub column: u32,
    /// The message, in Kubernetes' words. It lives as long as the error.
    pub message: GavelSlice,
}

/// The error of an exported function.
pub(crate) type Failure = Box<GavelError>;

impl GavelError {
    pub(crate) fn new(kind: GavelErrorKind, message: impl Into<String>) -> Failure {
        Box::new(GavelError {
            kind,
            message: message.into(),
            line: 0,
            column: 0,
        })
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Puts a name and a colon before the message.
    pub(crate) fn within(mut self: Box<Self>, name: &str) -> Failure {
        self.message = format!("{name}: {}", self.message);
        self
    }

    /// Sets the position. `None` leaves the error unchanged.
    pub(crate) fn at(mut self: Box<Self>, position: Option<(u32, u32)>) -> Failure {
        if let Some((line, column)) = position {
            (self.line, self.column) = (line, column);
        }
        self
    }

    /// The error of an expression that does not compile, or whose evaluation failed.
    pub(crate) fn of_expression(failure: &EvalFailure, position: Option<(u32, u32)>) -> Failure {
        let kind = match failure {
            EvalFailure::Issues(issues) => match issues.phase() {
                Phase::Parse => GavelErrorKind::Parse,
                Phase::Check => GavelErrorKind::Check,
            },
            EvalFailure::Plan(_) => GavelErrorKind::Plan,
            EvalFailure::Eval(error) => evaluation_kind(error),
        };
        GavelError::new(kind, failure.to_string()).at(position)
    }
}

fn evaluation_kind(error: &EvalError) -> GavelErrorKind {
    match error.kind() {
        EvalErrorKind::CostLimit => GavelErrorKind::CostLimit,
        EvalErrorKind::MemoryLimit => GavelErrorKind::MemoryLimit,
        EvalErrorKind::Interrupted => GavelErrorKind::Interrupted,
        _ => GavelErrorKind::Evaluation,
    }
}

impl From<RequestError> for Failure {
    fn from(error: RequestError) -> Self {
        GavelError::new(GavelErrorKind::Argument, error.to_string())
    }
}

/// Runs the body of an exported function that compiles nothing. A panic becomes an error.
pub(crate) fn guard(call: impl FnOnce() -> Result<(), Failure>) -> *mut GavelError {
    returned(caught(stack::OTHER, call))
}

/// Runs the body of an exported function that compiles. A panic becomes an error.
pub(crate) fn guard_compiling(call: impl FnOnce() -> Result<(), Failure>) -> *mut GavelError {
    returned(caught(stack::COMPILING, call))
}

fn returned(result: Result<(), Failure>) -> *mut GavelError {
    match result {
        Ok(()) => std::ptr::null_mut(),
        Err(failure) => Box::into_raw(failure),
    }
}

/// Runs a function that may need this stack, in bytes. A panic becomes an error.
pub(crate) fn caught<T>(
    stack: usize,
    call: impl FnOnce() -> Result<T, Failure>,
) -> Result<T, Failure> {
    let result = stack::run(stack, || catch_unwind(AssertUnwindSafe(call)));
    result.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        let text = text.unwrap_or_else(|| "no message".to_owned());
        let message = format!("gavel panicked: {text}");
        Err(GavelError::new(GavelErrorKind::Panic, message))
    })
}

/// Reads an error.
///
/// # Safety
///
/// `error` must be an error of this library that was not freed, and `out` must point to memory for a view. The message lives as long as the
/// error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gavel_error_read(error: *const GavelError, out: *mut GavelErrorView) {
    // SAFETY: the caller vouches for the error.
    let (Some(error), Some(out)) = (unsafe { memory::optional(error) }, NonNull::new(out)) else {
        return;
    };
    let view = GavelErrorView {
        kind: error.kind,
        line: error.line,
        column: error.column,
        message: error.message.as_bytes().into(),
    };
    // SAFETY: the caller vouches for `out`.
    unsafe { memory::write(out, view) };
}

/// Frees an error; null is ignored.
///
/// # Safety
///
/// The error must come from this library, and must not have been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gavel_error_free(error: *mut GavelError) {
    // SAFETY: the caller gives up the error.
    unsafe { memory::free(error) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_comes_back_as_an_error() {
        let error = guard(|| {
            let nothing: [u8; 0] = [];
            let position = std::hint::black_box(3);
            assert!(nothing.get(position).is_some(), "nothing at {position}");
            Ok(())
        });
        let mut view = std::mem::MaybeUninit::uninit();
        // SAFETY: `guard` returned the error, which is freed at the end.
        unsafe { gavel_error_read(error, view.as_mut_ptr()) };
        // SAFETY: the error is not null, so `gavel_error_read` wrote the view.
        let view: GavelErrorView = unsafe { view.assume_init() };
        assert_eq!(view.kind, GavelErrorKind::Panic);
        // SAFETY: the message belongs to the error.
        let message = unsafe { memory::bytes(view.message.data, view.message.len) };
        assert_eq!(message, b"gavel panicked: nothing at 3");
        // SAFETY: nothing uses the error any more.
        unsafe { gavel_error_free(error) };
    }
}
