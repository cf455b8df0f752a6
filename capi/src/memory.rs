//! Unsafe code that all exported functions share: reads borrowed bytes and handles, and writes results.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

use crate::stack;

/// Reads bytes that a host passes. A null pointer means no bytes.
///
/// # Safety
///
/// `data` must be null or point to `len` bytes that nothing changes while the result lives.
pub(crate) unsafe fn bytes<'a>(data: *const u8, len: usize) -> &'a [u8] {
    if data.is_null() || len == 0 {
        return &[];
    }
    // SAFETY: the caller vouches for pointer and length, and null was handled above.
    unsafe { std::slice::from_raw_parts(data, len) }
}

/// Reads the contents of an optional handle. `None` if the handle is null.
///
/// # Safety
///
/// `handle` must be null or a handle of this library that was not freed. No thread may free it while the result lives.
pub(crate) unsafe fn optional<'a, T>(handle: *const T) -> Option<&'a T> {
    // SAFETY: the caller vouches for the handle; null becomes `None`.
    unsafe { handle.as_ref() }
}

/// Reads the contents of a list of handles. A null handle becomes `None`. A null list is an empty list.
///
/// # Safety
///
/// `handles` must be null or point to `len` handles. Each must meet the requirements of [`optional`].
pub(crate) unsafe fn optional_handles<'a, T>(
    handles: *const *const T,
    len: usize,
) -> Vec<Option<&'a T>> {
    if handles.is_null() {
        return Vec::new();
    }
    // SAFETY: the caller vouches for pointer and length.
    let all = unsafe { std::slice::from_raw_parts(handles, len) };
    let found = all.iter().map(|one| {
        // SAFETY: the caller vouches for each handle.
        unsafe { one.as_ref() }
    });
    found.collect()
}

/// Writes a result to the memory that the host provides.
///
/// # Safety
///
/// `out` must point to memory for a `T`. The old content of this memory is not dropped.
pub(crate) unsafe fn write<T>(out: NonNull<T>, value: T) {
    // SAFETY: the caller vouches for the memory.
    unsafe { out.write(value) };
}

/// Moves a value to a new handle, and writes the handle to the memory that the host provides. Any thread of the host can use the handle, and
/// any thread can free it.
///
/// # Safety
///
/// The requirements of [`write`].
pub(crate) unsafe fn write_handle<T: Send + Sync>(out: NonNull<*mut T>, value: T) {
    // SAFETY: the caller vouches for the memory.
    unsafe { out.write(Box::into_raw(Box::new(value))) };
}

/// Frees a handle with enough stack; null is ignored. A panic in a destructor is caught.
///
/// # Safety
///
/// `handle` must be null or come from this library, and nothing may use it any more.
pub(crate) unsafe fn free<T>(handle: *mut T) {
    if handle.is_null() {
        return;
    }
    let drop_it = || {
        // SAFETY: `write_handle` created the handle with `Box::into_raw`, and the caller gives up the handle.
        drop(unsafe { Box::from_raw(handle) });
    };
    // The panic cannot be reported, because freeing has no result.
    let _ = stack::run(stack::OTHER, || catch_unwind(AssertUnwindSafe(drop_it)));
}

/// Borrowed bytes of a handle. They live as long as the handle.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct GavelSlice {
    /// The first byte; null if there are none.
    pub data: *const u8,
    /// The number of bytes.
    pub len: usize,
}

impl From<&[u8]> for GavelSlice {
    fn from(bytes: &[u8]) -> Self {
        GavelSlice {
            data: match bytes.is_empty() {
                true => std::ptr::null(),
                false => bytes.as_ptr(),
            },
            len: bytes.len(),
        }
    }
}

/// Bytes that the host owns and frees with `gavel_bytes_free`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct GavelBytes {
    /// The first byte; null if there are none.
    pub data: *mut u8,
    /// The number of bytes.
    pub len: usize,
}

impl GavelBytes {
    /// No bytes.
    pub(crate) const NONE: GavelBytes = GavelBytes {
        data: std::ptr::null_mut(),
        len: 0,
    };
}

impl From<Vec<u8>> for GavelBytes {
    fn from(bytes: Vec<u8>) -> Self {
        if bytes.is_empty() {
            return GavelBytes::NONE;
        }
        let len = bytes.len();
        let data = Box::into_raw(bytes.into_boxed_slice()).cast::<u8>();
        GavelBytes { data, len }
    }
}

/// Frees bytes that a function returned. Freeing no bytes does nothing.
///
/// # Safety
///
/// The bytes must come from this library unchanged, and must not have been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gavel_bytes_free(bytes: GavelBytes) {
    if bytes.data.is_null() {
        return;
    }
    let whole = std::ptr::slice_from_raw_parts_mut(bytes.data, bytes.len);
    // SAFETY: `GavelBytes::from` took pointer and length from a boxed slice, and the caller gives up the bytes.
    drop(unsafe { Box::from_raw(whole) });
}

#[cfg(test)]
mod tests {
    use crate::stack::tests::{fill_stack, on_stack};

    struct Deep;

    impl Drop for Deep {
        fn drop(&mut self) {
            fill_stack(512);
        }
    }

    #[test]
    fn handles_are_freed_with_enough_stack() {
        let free = || {
            // SAFETY: the handle comes from `Box::into_raw`, and nothing else uses it.
            unsafe { super::free(Box::into_raw(Box::new(Deep))) };
        };
        on_stack(128 << 10, free);
    }
}
