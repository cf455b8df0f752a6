//! Values that a host passes once and uses in many calls.

use gavel_apimachinery::json;
use gavel_engine::value::{Json, JsonObject};

use crate::arguments;
use crate::error::{Failure, GavelError, GavelErrorKind, guard};
use crate::flat::{self, JSON_TEXT};
use crate::memory::{self, GavelBytes};

/// An immutable JSON value, such as an object that the host uses in several calls.
#[derive(Debug)]
pub struct GavelValue(pub(crate) Json);

impl GavelValue {
    /// The fields of the value.
    ///
    /// # Errors
    ///
    /// The value is not a JSON object. The message begins with `needed`.
    pub(crate) fn object(&self, needed: &str) -> Result<&JsonObject, Failure> {
        let found = match &self.0 {
            Json::Object(fields) => return Ok(fields),
            Json::String(_) => return Err(no_object(needed, &format!("a string; {JSON_TEXT}"))),
            Json::Null => "null",
            Json::Bool(_) => "a bool",
            Json::Number(_) => "a number",
            Json::Array(_) => "a list",
        };
        Err(no_object(needed, found))
    }
}

fn no_object(needed: &str, found: &str) -> Failure {
    GavelError::new(GavelErrorKind::Decode, format!("{needed}, not {found}"))
}

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
