//! Tests that the committed header is the header that cbindgen generates from this crate. `UPDATE_GOLDEN=1` regenerates the committed
//! header.

use std::path::Path;

#[test]
fn the_header_is_up_to_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).unwrap();
    let bindings = cbindgen::Builder::new()
        .with_crate(root)
        .with_config(config)
        .generate()
        .unwrap();
    let mut made = Vec::new();
    bindings.write(&mut made);
    let made = String::from_utf8(made).unwrap();
    let header = root.join("include/gavel.h");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&header, &made).unwrap();
    }
    let committed = std::fs::read_to_string(&header).unwrap_or_default();
    assert!(
        made == committed,
        "include/gavel.h is not what the crate exports: run UPDATE_GOLDEN=1 cargo test -p gavel-capi --test header"
    );
}
