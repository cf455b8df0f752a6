//! Checks and reads the arguments that hosts pass.

use crate::error::{Failure, GavelError, GavelErrorKind};
use crate::memory::{bytes, optional, optional_handles};

/// Reads a text that the host passes. Fails if the text is not UTF-8.
///
/// # Safety
///
/// The requirements of [`bytes`].
pub(crate) unsafe fn text<'a>(data: *const u8, len: usize) -> Result<&'a str, Failure> {
    // SAFETY: the caller vouches for pointer and length.
    let bytes = unsafe { bytes(data, len) };
    std::str::from_utf8(bytes)
        .map_err(|error| GavelError::new(GavelErrorKind::Argument, format!("not UTF-8: {error}")))
}

/// Reads the contents of a handle.
///
/// # Errors
///
/// The handle is null.
///
/// # Safety
///
/// `handle` must be null or a handle of this library that was not freed. No thread may free it while the result lives.
pub(crate) unsafe fn handle<'a, T>(handle: *const T) -> Result<&'a T, Failure> {
    // SAFETY: the caller vouches for the handle.
    let found = unsafe { optional(handle) };
    found.ok_or_else(no_handle)
}

/// Reads the contents of an optional list of handles. `None` if the list is null.
///
/// # Errors
///
/// A handle in the list is null.
///
/// # Safety
///
/// `handles` must be null or point to `len` handles. Each must meet the requirements of [`handle`].
pub(crate) unsafe fn handles<'a, T>(
    handles: *const *const T,
    len: usize,
) -> Result<Option<Vec<&'a T>>, Failure> {
    if handles.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller vouches for pointer, length and handles.
    let found = unsafe { optional_handles(handles, len) };
    let found = found.into_iter().map(|one| one.ok_or_else(no_handle));
    found.collect::<Result<_, _>>().map(Some)
}

fn no_handle() -> Failure {
    GavelError::new(GavelErrorKind::Argument, "a handle is null")
}
