//! Compiles the example in C with the committed header, and runs it. Without a C compiler, the test is skipped with a message.
#![cfg(test)]

use std::path::Path;
use std::process::Command;

#[test]
fn a_host_in_c_gets_the_answers_of_kubernetes() {
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    if Command::new(&compiler).arg("--version").output().is_err() {
        println!("skipped: there is no C compiler {compiler}");
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    // Cargo writes the libraries of a profile to the directory of its tests.
    let test = std::env::current_exe().unwrap();
    let libraries = test.parent().unwrap();
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("embed");
    let compiled = Command::new(&compiler)
        .args([
            "-std=gnu11",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-D_GNU_SOURCE",
            "-o",
        ])
        .arg(&program)
        .arg(root.join("examples/embed.c"))
        .arg(libraries.join("libgavel_capi.a"))
        .args(["-lm", "-ldl", "-lpthread"])
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{stderr}");
    let ran = Command::new(&program).output().unwrap();
    let stderr = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{stderr}");
    assert_eq!(ran.stdout, b"ok\n");
}
