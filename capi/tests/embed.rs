//! Compiles the example in C and the program of the guide with the committed header, and runs them. Compiles the header as C++. Without a
//! compiler, the tests are skipped with a message.
#![cfg(test)]

use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn a_host_in_c_gets_the_answers_of_kubernetes() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/embed.c");
    check("embed", &source, "ok\n");
}

#[test]
fn the_program_of_the_guide_prints_what_the_guide_says() {
    let (source, expected) = guide("guide.c");
    check("guide", &source, &expected);
}

#[test]
#[cfg(target_os = "linux")]
fn programs_load_the_shared_library_of_their_abi() {
    let (source, expected) = guide("shared.c");
    let Some(program) = compiled("shared", &source, "libgavel_capi.so") else {
        return;
    };
    let run = || {
        Command::new(&program)
            .env("LD_LIBRARY_PATH", env!("CARGO_TARGET_TMPDIR"))
            .output()
            .unwrap()
    };
    let name = format!("libgavel_capi.so.{}", gavel_capi::abi::GAVEL_ABI_MAJOR);
    let installed = Path::new(env!("CARGO_TARGET_TMPDIR")).join(&name);
    let _ = std::fs::remove_file(&installed);
    let missing = String::from_utf8_lossy(&run().stderr).into_owned();
    assert!(missing.contains(&format!("{name}:")), "{missing}");
    std::os::unix::fs::symlink(libraries().join("libgavel_capi.so"), &installed).unwrap();
    assert_eq!(String::from_utf8_lossy(&run().stdout), expected);
}

/// The program of the guide, written to a file of this name, and the output that the guide promises.
fn guide(name: &str) -> (PathBuf, String) {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/embed-c.md");
    let guide = std::fs::read_to_string(guide).unwrap();
    let (_, rest) = guide.split_once("```c\n").unwrap();
    let (program, rest) = rest.split_once("```\n").unwrap();
    let (_, rest) = rest.split_once("prints `").unwrap();
    let (output, _) = rest.split_once('`').unwrap();
    let source = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&source, program).unwrap();
    (source, format!("{output}\n"))
}

#[test]
fn hosts_in_cpp_can_include_the_header() {
    let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".to_owned());
    if Command::new(&compiler).arg("--version").output().is_err() {
        println!("skipped: there is no C++ compiler {compiler}");
        return;
    }
    let source = Path::new(env!("CARGO_TARGET_TMPDIR")).join("header.cc");
    std::fs::write(&source, "#include \"gavel.h\"\n").unwrap();
    let checked = Command::new(&compiler)
        .args(["-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I"])
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("include"))
        .arg(&source)
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&checked.stderr);
    assert!(checked.status.success(), "{stderr}");
}

/// Compiles a program with the command of the guide, runs the program, and compares its output.
fn check(name: &str, source: &Path, expected: &str) {
    let Some(program) = compiled(name, source, "libgavel_capi.a") else {
        return;
    };
    let ran = Command::new(&program).output().unwrap();
    let stderr = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{stderr}");
    assert_eq!(String::from_utf8_lossy(&ran.stdout), expected);
}

/// Cargo writes the libraries of a profile to the directory of its tests.
fn libraries() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.parent().unwrap().to_owned()
}

/// Compiles a program with a library. `None` if there is no compiler.
fn compiled(name: &str, source: &Path, library: &str) -> Option<PathBuf> {
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    if Command::new(&compiler).arg("--version").output().is_err() {
        println!("skipped: there is no C compiler {compiler}");
        return None;
    }
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let compiled = Command::new(&compiler)
        .args(["-Wall", "-Wextra", "-Werror", "-I"])
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("include"))
        .arg("-o")
        .arg(&program)
        .arg(source)
        .arg(libraries().join(library))
        .args(["-lm", "-ldl", "-lpthread"])
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{stderr}");
    Some(program)
}
