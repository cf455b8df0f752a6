//! Compiles the example in C and the program of the guide with the committed header, and runs them. Compiles the header as C++. Without a
//! compiler, the tests are skipped with a message.
#![cfg(test)]

use std::path::Path;
use std::process::Command;

#[test]
fn a_host_in_c_gets_the_answers_of_kubernetes() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/embed.c");
    check("embed", &source, "ok\n");
}

#[test]
fn the_program_of_the_guide_prints_what_the_guide_says() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/embed-c.md");
    let guide = std::fs::read_to_string(guide).unwrap();
    let (_, rest) = guide.split_once("```c\n").unwrap();
    let (program, rest) = rest.split_once("```\n").unwrap();
    let (_, rest) = rest.split_once("prints `").unwrap();
    let (output, _) = rest.split_once('`').unwrap();
    let source = Path::new(env!("CARGO_TARGET_TMPDIR")).join("guide.c");
    std::fs::write(&source, program).unwrap();
    check("guide", &source, &format!("{output}\n"));
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
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    if Command::new(&compiler).arg("--version").output().is_err() {
        println!("skipped: there is no C compiler {compiler}");
        return;
    }
    // Cargo writes the libraries of a profile to the directory of its tests.
    let test = std::env::current_exe().unwrap();
    let libraries = test.parent().unwrap();
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let compiled = Command::new(&compiler)
        .args(["-Wall", "-Wextra", "-Werror", "-I"])
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("include"))
        .arg("-o")
        .arg(&program)
        .arg(source)
        .arg(libraries.join("libgavel_capi.a"))
        .args(["-lm", "-ldl", "-lpthread"])
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{stderr}");
    let ran = Command::new(&program).output().unwrap();
    let stderr = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{stderr}");
    assert_eq!(String::from_utf8_lossy(&ran.stdout), expected);
}
