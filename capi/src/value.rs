//! Values that a host passes once and uses in many calls.

use gavel_apimachinery::json;

use crate::arguments;
use crate::error::{GavelError, guard};
use crate::flat;
use crate::json_value::GavelValue;
use crate::memory::{self, GavelBytes};

/// Reads a value in the flat encoding, which may contain JSON texts and other values. Other values are copied.
///
/// # Safety
///
/// `data` must point to `len` bytes, in which all handles are valid, and `out` to memory for a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gavel_value_new(
    data: *const u8,
    len: usize,
    out: *mut *mut GavelValue,
) -> *mut GavelError {
    guard(|| {
        let out = arguments::out(out)?;
        // SAFETY: the caller vouches for the bytes.
        let bytes = unsafe { arguments::bytes(data, len) }?;
        // SAFETY: the caller vouches for the handles within the bytes.
        let value = GavelValue(unsafe { flat::read_json(bytes) }?);
        // SAFETY: the caller vouches for `out`.
        unsafe { memory::write_handle(out, value) };
        Ok(())
    })
}

/// Writes a value as JSON text, as Kubernetes writes it.
///
/// # Safety
///
/// `value` must be a value that was not freed, and `out` must point to memory for bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gavel_value_json(
    value: *const GavelValue,
    out: *mut GavelBytes,
) -> *mut GavelError {
    guard(|| {
        let out = arguments::out(out)?;
        // SAFETY: the caller vouches for the value.
        let GavelValue(value) = unsafe { arguments::handle(value) }?;
        let text = json::to_string(value).into_bytes();
        // SAFETY: the caller vouches for `out`.
        unsafe { memory::write(out, text.into()) };
        Ok(())
    })
}

/// Frees a value; null is ignored.
///
/// # Safety
///
/// The value must come from this library, and no call may use it afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gavel_value_free(value: *mut GavelValue) {
    // SAFETY: the caller gives up the value.
    unsafe { memory::free(value) };
}
