//! Fuzzes admission. The input is `{"objects": […], "request": …}` with any JSON as values. The objects (policies, bindings, params and
//! namespaces) are added to an index. The request is read and decided, in bounded time and without a panic.
//!
//! The target also checks that a request in a parsed document and the same request read into an arena get the same decision. After all
//! policies are deleted, the request must be allowed.
#![no_main]

use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use gavel_engine::value::{Arena, Value};
use gavel_fuzz::{cross_json, mutate_json};
use gavel_libraries::authorizer::{Authorizer, Rbac};
use gavel_libraries::{EnvSet, KubeVersion, Server};
use gavel_policy::api::Resource;
use gavel_policy::validation::Validator;
use gavel_policy::{AdmissionRequest, Options, PolicyIndex, Snapshot, dispatch};
use libfuzzer_sys::{fuzz_crossover, fuzz_mutator, fuzz_target};
use serde_json::Value as Json;

/// The cost budget of a policy's validations, in cost units. It is lower than usual, so that runs are short.
const BUDGET: i64 = 200_000;

/// The time limit of a decision.
const TIME: Duration = Duration::from_secs(1);

static ENVIRONMENTS: LazyLock<EnvSet> =
    LazyLock::new(|| EnvSet::new(KubeVersion::default().into()).expect("environments"));

thread_local! {
    static VALIDATOR: Validator = Validator::new(Server::default().compatible()).expect("environments");
}

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate_json(data, size, max_size, seed)
});

fuzz_crossover!(|first: &[u8], second: &[u8], out: &mut [u8], seed: u32| {
    cross_json(first, second, out, seed)
});

fuzz_target!(|text: &[u8]| {
    let Ok(Json::Object(mut input)) = serde_json::from_slice(text) else {
        return;
    };
    let objects = match input.remove("objects") {
        Some(Json::Array(objects)) => objects,
        _ => Vec::new(),
    };
    let mut index = PolicyIndex::new(&ENVIRONMENTS);
    for object in &objects {
        is_validated(&object.to_string());
        if index.apply(object.clone()).is_err() {
            index.apply_param(object.clone());
        }
    }
    let document = input.remove("request").unwrap_or_default();
    let (text, arena) = (document.to_string(), Arena::new());
    let read = gavel_schema::read_value(text.as_bytes(), &arena).expect("what was written");
    let requests = [Value::from(&document), read].map(|each| AdmissionRequest::read(each, &arena));
    let requests = match requests {
        [Ok(viewed), Ok(read)] => [viewed, read],
        [Err(viewed), Err(read)] => return assert_eq!(viewed, read),
        requests => panic!("one is read, one is not: {requests:?}"),
    };
    let authorizer: Arc<dyn Authorizer> = match Rbac::from_manifests(&objects) {
        Ok(rbac) => Arc::new(rbac),
        Err(_) => Arc::new(Rbac::default()),
    };
    is_decided(&index.snapshot(), &requests, &authorizer);
    for object in &objects {
        index.delete(object);
    }
    let [request, _] = &requests;
    let forgotten = dispatch(&index.snapshot(), request, &Options::default());
    assert!(forgotten.allowed(), "{forgotten:?}");
});

fn is_decided(
    snapshot: &Snapshot,
    requests: &[AdmissionRequest<'_>; 2],
    authorizer: &Arc<dyn Authorizer>,
) {
    let start = Instant::now();
    let interrupt = || start.elapsed() > TIME;
    let options = Options {
        interrupt: Some(&interrupt),
        cost_budget: Some(BUDGET),
        authorizer: Some(authorizer),
        ..Options::default()
    };
    let decide = |request| dispatch(snapshot, request, &options);
    let [first, second] = requests.each_ref().map(decide);
    let took = start.elapsed();
    if took < TIME {
        assert_eq!(first, second, "not the same twice");
    }
    assert!(took < TIME * 5, "the deadline does not hold");
}

/// Validates an object, and checks that the object is the same after it is written and decoded again. Objects with unknown fields are not
/// written, because they can change: the decoder reads the type even from a field in the wrong case, such as `apiversion`, but then drops
/// this field as unknown.
fn is_validated(text: &str) {
    let Ok(decoded) = Resource::decode(text) else {
        return;
    };
    let object = decoded.object;
    let report = VALIDATOR.with(|validator| {
        validator.update(&object, &object, None);
        validator.create(&object, None)
    });
    assert!(
        report
            .errors
            .iter()
            .all(|error| !error.to_string().is_empty())
    );
    if !decoded.strict.is_empty() {
        return;
    }
    let written = object.to_json();
    let again = Resource::decode(&written).expect("what was written");
    assert_eq!(again.object.to_json(), written);
}
