//! The test that `docs/metrics.md` lists what `/metrics` serves.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use axum::http::Method;
use gavel_apimachinery::server::Server;
use gavel_state::{Event, Object, Origin, Store};
use serde_json::json;

use super::{CheckLabels, Metrics, PolicyKindLabels};

const HEAD: &str = "\
<!-- Generated from the output of `/metrics`. To regenerate: UPDATE_GOLDEN=1 cargo test -p gavel-admission-webhook --lib reference -->

# Metrics

`gavel serve` answers `GET /metrics` in the OpenMetrics text format, which Prometheus reads, at the address of `--health-listen` if it is
given. The metrics of policies have the names and labels of kube-apiserver, so that dashboards and alerts for built-in policies also work
for Gavel's.

- A histogram `NAME` has the series `NAME_bucket`, `NAME_sum` and `NAME_count`; the info `gavel_build` is the series `gavel_build_info`.
- `apiserver_validating_admission_policy_check_total` also counts requests that a policy denies because it cannot be evaluated: its kind of
  params does not exist, or no params are found and `parameterNotFoundAction` is `Deny`. kube-apiserver does not count these denials. They
  have the labels `error_type=\"invalid_error\"` and `enforcement_action=\"deny\"`, whatever the `validationActions` of the binding are, because
  they deny the request. `policy_binding` is empty if the policy fails before its bindings are matched.
- The series of a policy or binding are removed when it is deleted.
- Labels never contain text from requests, except known paths and methods.
- Timestamps are in seconds since 1970-01-01 UTC.
- `process_cpu_seconds_total`, `process_resident_memory_bytes`, `process_open_fds` and similar metrics have the same meaning as in
  Prometheus' client libraries. The operating system determines which of them exist.

[runbook.md](runbook.md) says which metrics have alerts, and how to respond to them. `gavel audit --metrics` writes metrics of its own:
[audit.md](audit.md#metrics).

| metric | type | labels | meaning |
|---|---|---|---|
";

/// Metrics that have at least one sample each.
fn filled() -> Metrics {
    let metrics = Metrics::new();
    let policy = PolicyKindLabels {
        kind: "ValidatingAdmissionPolicy",
        policy: "p".to_owned(),
    };
    let check = CheckLabels {
        policy: "p".to_owned(),
        policy_binding: "b".to_owned(),
        error_type: "no_error",
        enforcement_action: "deny",
    };
    let invalid = json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": "b"},
    });
    let mut store = Store::new(Server::default()).unwrap();
    store.handle(Event::Applied(Object::sent(
        Origin::new("cluster"),
        &invalid,
    )));
    metrics.serve(&store.publish());
    metrics.check(&check, Duration::ZERO);
    metrics.failed_open("p");
    metrics.differs("p");
    metrics.http_request("/validate", &Method::POST, 200, Duration::ZERO);
    drop(metrics.compile_errors.get_or_create(&policy));
    metrics
}

/// The rows of the page, in the order of the names.
fn rows(text: &str) -> BTreeSet<String> {
    let helps = text.lines().filter_map(|line| line.strip_prefix("# HELP "));
    let families = helps.map(|line| line.split_once(' ').unwrap());
    let families = families.filter(|(name, _)| !name.starts_with("process_"));
    families
        .map(|(name, help)| {
            let kind = format!("# TYPE {name} ");
            let kind = text
                .lines()
                .find_map(|line| line.strip_prefix(&kind))
                .unwrap();
            let labels = labels(text, name);
            let total = if kind == "counter" { "_total" } else { "" };
            format!("| `{name}{total}` | {kind} | {labels} | {help} |\n")
        })
        .collect()
}

/// The names of the labels of a metric, from its samples.
fn labels(text: &str, name: &str) -> String {
    let samples = text.lines().filter_map(|line| line.strip_prefix(name));
    let labels = samples.filter_map(|line| line.split_once('{')?.1.split_once('}'));
    let names = labels.flat_map(|(labels, _)| labels.split("\","));
    let names: BTreeSet<_> = names.filter_map(|label| label.split_once('=')).collect();
    let names = names
        .into_iter()
        .map(|(label, _)| label)
        .filter(|label| *label != "le");
    let names: BTreeSet<_> = names.map(|label| format!("`{label}`")).collect();
    names.into_iter().collect::<Vec<_>>().join(", ")
}

/// A metric with labels has no line in `/metrics` before it has a sample.
#[test]
fn every_metric_has_a_sample() {
    let text = filled().encode().unwrap();
    let calls = include_str!("mod.rs").split("add.").skip(1);
    for name in calls.filter_map(|call| call.split('"').nth(1)) {
        // The names of durations end with `_seconds`.
        let lines = [format!("# HELP {name} "), format!("# HELP {name}_seconds ")];
        assert!(
            lines.iter().any(|line| text.contains(line)),
            "{name} has no sample: count something in `filled`"
        );
    }
}

#[test]
fn rejected_objects_are_counted() {
    let text = filled().encode().unwrap();
    let sample =
        "gavel_rejected_objects{kind=\"ValidatingAdmissionPolicyBinding\",in_force=\"false\"} 1\n";
    assert!(text.contains(sample), "{text}");
}

#[test]
fn the_page_of_metrics_is_what_the_program_answers() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/metrics.md");
    let mut page = HEAD.to_owned();
    for row in rows(&filled().encode().unwrap()) {
        write!(page, "{row}").unwrap();
    }
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        written, page,
        "docs/metrics.md is stale; UPDATE_GOLDEN=1 writes it anew"
    );
}
