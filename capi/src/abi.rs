//! The version of the ABI.

/// The major version. It increases when a change requires programs to be adapted.
pub const GAVEL_ABI_MAJOR: u32 = 1;
/// The minor version. It increases when functions or options are added.
pub const GAVEL_ABI_MINOR: u32 = 1;

/// Returns the version of the ABI: the major version in the upper 16 bits, the minor version in the lower 16 bits. A host must not use a
/// library whose major version differs from `GAVEL_ABI_MAJOR` in the header that the host was compiled with.
#[unsafe(no_mangle)]
pub extern "C" fn gavel_abi_version() -> u32 {
    (GAVEL_ABI_MAJOR << 16) | GAVEL_ABI_MINOR
}
