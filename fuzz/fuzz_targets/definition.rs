//! Fuzzes custom resources. The input is `{"crd": …, "object": …, "oldObject": …}` with any JSON as values. The definition is read,
//! validated and compiled. The object is decoded and validated. Both happen in bounded time and without a panic.
//!
//! The target also checks that valid definitions compile, and that a second validation of an object has the same result.
#![no_main]

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use gavel_crd::CompiledCrd;
use gavel_crd::decode::Source;
use gavel_crd::definition::Definition;
use gavel_crd::resource::{DecodeOptions, ValidateOptions};
use gavel_crd::rule::RuleEnvs;
use gavel_fuzz::{cross_json, mutate_json};
use gavel_libraries::KubeVersion;
use libfuzzer_sys::{fuzz_crossover, fuzz_mutator, fuzz_target};
use serde_json::Value as Json;

/// The cost budget of all rules of an object, in cost units. It is lower than usual, so that runs are short.
const BUDGET: i64 = 200_000;

static ENVIRONMENTS: LazyLock<RuleEnvs> =
    LazyLock::new(|| RuleEnvs::new(KubeVersion::default().into()).expect("environments"));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate_json(data, size, max_size, seed)
});

fuzz_crossover!(|first: &[u8], second: &[u8], out: &mut [u8], seed: u32| {
    cross_json(first, second, out, seed)
});

fuzz_target!(|text: &[u8]| {
    let Ok(input) = serde_json::from_slice::<Json>(text) else {
        return;
    };
    let part = |key: &str| input.get(key).filter(|part| !part.is_null());
    let Some(Ok(definition)) = part("crd").map(Definition::read) else {
        return;
    };
    let errors = definition.validate(&ENVIRONMENTS);
    assert!(errors.iter().all(|error| !error.to_string().is_empty()));
    let _ = definition.validate_update(&definition, &ENVIRONMENTS);
    let crd = match CompiledCrd::compile(&definition) {
        Ok(crd) => crd,
        Err(error) => return assert!(!errors.is_empty(), "{error}"),
    };
    let version = definition
        .storage_version()
        .map_or("", |version| &version.name);
    let read = |key: &str, source| {
        let options = DecodeOptions {
            source,
            ..DecodeOptions::default()
        };
        crd.decode(part(key)?.clone(), options).ok()
    };
    let Some(object) = read("object", Source::Request) else {
        return;
    };
    let old = read("oldObject", Source::Storage).map(|decoded| decoded.object);
    for old in [None, Some(&object.object), old.as_ref()] {
        for status in [false, true] {
            check_stored(&crd, version, &object.object, old, status);
        }
        let mut prepared = object.object.clone();
        let _ = crd.prepare(version, &mut prepared, old, false);
    }
});

fn check_stored(crd: &CompiledCrd, version: &str, object: &Json, old: Option<&Json>, status: bool) {
    let deadline = Instant::now() + Duration::from_secs(1);
    let interrupt = || Instant::now() > deadline;
    let options = ValidateOptions {
        budget: BUDGET,
        status,
        interrupt: Some(&interrupt),
        ..ValidateOptions::default()
    };
    let look = || crd.validate_with(version, object, old, &options);
    let (first, second) = (look(), look());
    if Instant::now() < deadline {
        assert_eq!(first, second, "not the same twice");
    }
}
