//! Checks and reads the arguments that hosts pass.

use std::ptr::NonNull;

use gavel_engine::value::Json;

use crate::error::{Failure, GavelError, GavelErrorKind};
use crate::json_value::GavelValue;
use crate::memory::{self, optional, optional_handles};

/// Returns the memory to which a result is written. Functions call it before they compute the result.
///
/// # Errors
///
/// The pointer is null.
pub(crate) fn out<T>(memory: *mut T) -> Result<NonNull<T>, Failure> {
    NonNull::new(memory).ok_or_else(|| wrong("the pointer to the memory for a result is null"))
}

/// Reads bytes that the host passes.
///
/// # Errors
///
/// The pointer is null, but there are bytes.
///
/// # Safety
///
/// The requirements of [`memory::bytes`].
pub(crate) unsafe fn bytes<'a>(data: *const u8, len: usize) -> Result<&'a [u8], Failure> {
    if data.is_null() && len > 0 {
        return Err(wrong(format!("the pointer to {len} bytes is null")));
    }
    // SAFETY: the caller vouches for pointer and length.
    Ok(unsafe { memory::bytes(data, len) })
}

/// Reads a text that the host passes. Fails if the text is not UTF-8.
///
/// # Safety
///
/// The requirements of [`bytes`].
pub(crate) unsafe fn text<'a>(data: *const u8, len: usize) -> Result<&'a str, Failure> {
    // SAFETY: the caller vouches for pointer and length.
    let bytes = unsafe { bytes(data, len) }?;
    std::str::from_utf8(bytes).map_err(|error| wrong(format!("not UTF-8: {error}")))
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

/// Reads the old object of an update. `None` if the handle is null, or the value is JSON null.
///
/// # Safety
///
/// The requirements of [`handle`].
pub(crate) unsafe fn old<'a>(old: *const GavelValue) -> Option<&'a Json> {
    // SAFETY: the caller vouches for the handle.
    let GavelValue(old) = unsafe { optional(old) }?;
    Some(old).filter(|old| !old.is_null())
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
    wrong("a handle is null")
}

fn wrong(message: impl Into<String>) -> Failure {
    GavelError::new(GavelErrorKind::Argument, message)
}

#[cfg(test)]
mod tests {
    use std::ptr::{NonNull, null, null_mut};

    use super::bytes;
    use crate::conditions::{
        GavelDeclarations, gavel_conditions_compile, gavel_conditions_eval, gavel_conditions_new,
        gavel_conditions_variable,
    };
    use crate::decision::{GavelExplain, gavel_index_decide, gavel_index_mutate};
    use crate::definition::{
        gavel_crd_compile, gavel_crd_storage_version, gavel_definition_validate,
    };
    use crate::environment::gavel_env_new;
    use crate::error::GavelError;
    use crate::index::gavel_index_new;
    use crate::policy::{gavel_policy_compile, gavel_policy_errors};
    use crate::program::{gavel_env_compile, gavel_program_eval, gavel_program_statics};
    use crate::resource::{
        GavelDecode, GavelValidate, gavel_crd_decode, gavel_crd_prepare, gavel_crd_validate,
    };
    use crate::schema_rules::{gavel_rules_check, gavel_rules_compile, gavel_rules_validate};
    use crate::value::{gavel_value_json, gavel_value_new};

    fn message(error: *mut GavelError) -> Option<String> {
        let error = NonNull::new(error)?;
        // SAFETY: the error comes from `Box::into_raw`, and nothing else uses it.
        let error = unsafe { Box::from_raw(error.as_ptr()) };
        Some(error.message().to_owned())
    }

    #[test]
    #[expect(
        clippy::multiple_unsafe_ops_per_block,
        reason = "all calls are sound for the same reason"
    )]
    fn functions_without_memory_for_their_result_fail_before_they_read_their_handles() {
        let explain = GavelExplain {
            explain: false,
            trace: false,
        };
        let decode = GavelDecode {
            from_storage: false,
            keep_unknown: false,
            no_defaults: false,
        };
        let validate = GavelValidate {
            skip_metadata: false,
            status: false,
            force_rules: false,
        };
        let declared = GavelDeclarations {
            params: false,
            authorizer: false,
            patch_types: false,
        };
        let mut condition = null_mut();
        // SAFETY: every function accepts null, and `condition` is memory for a handle.
        let errors = unsafe {
            [
                gavel_env_new(null(), 0, null_mut()),
                gavel_env_compile(null(), null(), 0, null_mut()),
                gavel_program_statics(null(), null_mut()),
                gavel_program_eval(null(), null(), 0, null(), null_mut()),
                gavel_value_new(null(), 0, null_mut()),
                gavel_value_json(null(), null_mut()),
                gavel_definition_validate(null(), null(), null(), 0, null_mut()),
                gavel_crd_compile(null(), null(), 0, null_mut()),
                gavel_crd_storage_version(null(), null_mut()),
                gavel_crd_decode(null(), null(), decode, null_mut(), null_mut()),
                gavel_crd_prepare(null(), null(), 0, null(), null(), false, null_mut()),
                gavel_crd_validate(
                    null(),
                    null(),
                    0,
                    null(),
                    null(),
                    validate,
                    null(),
                    null_mut(),
                ),
                gavel_rules_compile(null(), null(), 0, null_mut()),
                gavel_rules_check(null(), null(), 0, null_mut()),
                gavel_rules_validate(null(), null(), 0, null(), null(), false, null(), null_mut()),
                gavel_index_new(null(), 0, null_mut()),
                gavel_index_decide(null(), null(), 0, null(), 0, explain, null(), null_mut()),
                gavel_index_mutate(null(), null(), 0, null(), 0, null(), null_mut()),
                gavel_policy_compile(null(), null(), 0, null_mut()),
                gavel_policy_errors(null(), null_mut()),
                gavel_conditions_new(null(), 0, null_mut()),
                gavel_conditions_variable(null(), null(), 0, null(), 0, declared, null_mut()),
                gavel_conditions_compile(
                    null(),
                    null(),
                    0,
                    declared,
                    &raw mut condition,
                    null_mut(),
                ),
                gavel_conditions_eval(null(), null(), 0, null(), 0, null(), null_mut(), null_mut()),
            ]
        };
        for (n, error) in errors.into_iter().enumerate() {
            let expected = "the pointer to the memory for a result is null";
            assert_eq!(message(error).as_deref(), Some(expected), "function {n}");
        }
    }

    #[test]
    fn a_null_pointer_is_no_bytes() {
        // SAFETY: null is allowed.
        let none = unsafe { bytes(null(), 0) };
        // SAFETY: null is allowed.
        let three = unsafe { bytes(null(), 3) };
        assert_eq!(none.unwrap(), b"");
        assert_eq!(
            three.unwrap_err().message(),
            "the pointer to 3 bytes is null"
        );
    }
}
