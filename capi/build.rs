//! Gives the shared library a name with the major version of its ABI, so that programs do not load a library with another ABI.

/// `GAVEL_ABI_MAJOR`. A test compares the two.
const ABI_MAJOR: u32 = 1;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libgavel_capi.so.{ABI_MAJOR}");
    }
}
