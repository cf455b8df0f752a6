//! Metrics. The metrics of policies have the names and labels of the API server (apiserver
//! `pkg/admission/plugin/policy/validating/metrics`); the metrics of HTTP and of the manifests have their own names.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::http::Method;
use gavel_state::State;
use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Metric, Registry, Unit};

use super::process::Process;

#[cfg(test)]
mod reference;

/// The metrics that the server counts and that `/metrics` shows.
pub(crate) struct Metrics {
    registry: Registry,
    checks: Family<CheckLabels, Counter>,
    check_seconds: Family<CheckLabels, Histogram, fn() -> Histogram>,
    failed_open: Family<PolicyLabels, Counter>,
    requests: Family<RequestLabels, Counter>,
    request_seconds: Family<PathLabels, Histogram, fn() -> Histogram>,
    connections: Gauge,
    handshakes_failed: Counter,
    waiting: Gauge,
    wait_seconds: Histogram,
    reloads: Family<ReloadLabels, Counter>,
    last_reload: Gauge<f64, AtomicU64>,
    last_sync: Gauge<f64, AtomicU64>,
    objects: Family<KindLabels, Gauge>,
    compile_errors: Family<PolicyKindLabels, Gauge>,
    rejected: Family<RejectedLabels, Gauge>,
    unseen: Gauge,
    differences: Family<PolicyLabels, Counter>,
    source_age: Gauge,
    certificate_expiry: Gauge,
    /// The policies and bindings of the last state: pairs of the policy's name and the binding's name, which is empty for the policy itself.
    served: Mutex<BTreeSet<(String, String)>>,
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

/// The labels under which one result of a policy is counted.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct CheckLabels {
    pub(crate) policy: String,
    pub(crate) policy_binding: String,
    pub(crate) error_type: &'static str,
    pub(crate) enforcement_action: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PolicyLabels {
    policy: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PolicyKindLabels {
    kind: &'static str,
    policy: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    path: &'static str,
    method: &'static str,
    code: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PathLabels {
    path: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReloadLabels {
    status: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct KindLabels {
    kind: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RejectedLabels {
    kind: String,
    in_force: bool,
}

/// The upper bounds of the buckets, in seconds, of all histograms but `check_seconds`.
const SECONDS: [f64; 16] = [
    1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 1e-2, 2.5e-2, 5e-2, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
];

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut registry = Registry::default();
        let build = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        registry.register("gavel_build", "The version of Gavel", build);
        registry.register_collector(Box::new(Process));
        let seconds: fn() -> Histogram = || Histogram::new(SECONDS);
        let check_seconds: fn() -> Histogram = || Histogram::new([5e-7, 1e-3, 1e-2, 0.1, 1.0]);
        let mut add = Adding(&mut registry);
        Metrics {
            checks: add.family(
                "apiserver_validating_admission_policy_check",
                "Validation admission policy check total, labeled by policy and further identified by binding and enforcement action taken",
            ),
            check_seconds: add.seconds(
                "apiserver_validating_admission_policy_check_duration",
                "Validation admission latency for individual validation expressions in seconds, labeled by policy and further including binding and enforcement action taken",
                Family::new_with_constructor(check_seconds),
            ),
            failed_open: add.family(
                "gavel_admission_fail_open",
                "Requests admitted because a policy with failurePolicy Ignore failed",
            ),
            requests: add.family("gavel_http_requests", "Answered requests"),
            request_seconds: add.seconds(
                "gavel_http_request_duration",
                "Time from the arrival of a request's head to the answer",
                Family::new_with_constructor(seconds),
            ),
            connections: add.family("gavel_connections", "Open connections"),
            handshakes_failed: add.family(
                "gavel_tls_handshakes_failed",
                "TLS handshakes that failed or took too long",
            ),
            waiting: add.family(
                "gavel_evaluations_waiting",
                "Requests that wait for an evaluation thread",
            ),
            wait_seconds: add.seconds(
                "gavel_evaluation_wait",
                "How long requests waited for an evaluation thread",
                seconds(),
            ),
            reloads: add.family(
                "gavel_manifest_reloads",
                "Attempts to read changed manifests, by outcome",
            ),
            last_reload: add.seconds(
                "gavel_manifest_last_reload_timestamp",
                "Time at which manifests were last read successfully",
                Gauge::default(),
            ),
            last_sync: add.seconds(
                "gavel_manifest_last_sync_timestamp",
                "Time at which Gavel last finished checking the manifests for changes; 0 with --cluster",
                Gauge::default(),
            ),
            objects: add.family("gavel_objects", "Objects in force, by kind"),
            compile_errors: add.family(
                "gavel_policy_compile_errors",
                "Compile errors of the newest version of a policy. If there are any, the last good version stays in force; without one, the policy is not in force",
            ),
            rejected: add.family(
                "gavel_rejected_objects",
                "Objects whose newest version is invalid, by kind, and whether an earlier version is in force",
            ),
            unseen: add.family(
                "gavel_policies_unseen",
                "Objects that policies read but that no manifest contains; /readyz?verbose lists them",
            ),
            source_age: add.seconds(
                "gavel_source_age",
                "Time since the oldest current failure of a watch or of another request to the API server began; 0 if nothing fails",
                Gauge::default(),
            ),
            differences: add.family(
                "gavel_native_differences",
                "Requests that the API server admitted although Gavel, evaluating the same built-in policy, would deny them",
            ),
            certificate_expiry: add.seconds(
                "gavel_tls_certificate_expiry_timestamp",
                "Time at which the server's certificate expires; 0 without TLS",
                Gauge::default(),
            ),
            registry,
            served: Mutex::default(),
        }
        .at_zero()
    }

    /// Creates the counters whose labels are known in advance, with the value 0.
    fn at_zero(self) -> Self {
        for code in [200, 400, 429, 500] {
            let (path, method) = ("/validate", "POST");
            drop(
                self.requests
                    .get_or_create(&RequestLabels { path, method, code }),
            );
        }
        for status in ["success", "failure"] {
            drop(self.reloads.get_or_create(&ReloadLabels { status }));
        }
        self
    }

    /// Records a new state: the numbers of its objects by kind, of its rejected objects and of its compile errors. Creates counters with the
    /// value 0 for new policies and bindings, and removes those of policies and bindings that are gone.
    pub(crate) fn serve(&self, state: &State) {
        let counts = state.counts();
        for (kind, count) in [
            ("ValidatingAdmissionPolicy", counts.policies),
            ("ValidatingAdmissionPolicyBinding", counts.bindings),
            ("MutatingAdmissionPolicy", counts.mutating_policies),
            ("MutatingAdmissionPolicyBinding", counts.mutating_bindings),
            ("CustomResourceDefinition", counts.definitions),
            ("Namespace", counts.namespaces),
            ("params", counts.params),
        ] {
            self.objects
                .get_or_create(&KindLabels { kind })
                .set(gauge(count));
        }
        self.unseen.set(gauge(state.unseen().len()));
        self.compile_errors.clear();
        for ((sort, policy), errors) in state.compile_errors() {
            let (kind, policy) = (sort.kind(), policy.clone());
            drop(self.failed_open.get_or_create(&PolicyLabels {
                policy: policy.clone(),
            }));
            self.compile_errors
                .get_or_create(&PolicyKindLabels { kind, policy })
                .set(gauge(*errors));
        }
        self.forget_gone(state);
        self.rejected.clear();
        for rejection in state.rejections() {
            let (kind, in_force) = (rejection.kind.clone(), rejection.in_force);
            self.rejected
                .get_or_create(&RejectedLabels { kind, in_force })
                .inc();
        }
        for (policy, binding) in state.bound() {
            for action in state.actions(binding) {
                drop(self.checks.get_or_create(&CheckLabels {
                    policy: policy.to_owned(),
                    policy_binding: binding.to_owned(),
                    error_type: "invalid_error",
                    enforcement_action: enforcement(action),
                }));
            }
        }
    }

    /// Removes the counters of policies and bindings that the state no longer has.
    fn forget_gone(&self, state: &State) {
        let policies = state.compile_errors().keys();
        let policies = policies.map(|(_, policy)| (policy.clone(), String::new()));
        let bound = state.bound();
        let bound = bound.map(|(policy, binding)| (policy.to_owned(), binding.to_owned()));
        let now: BTreeSet<(String, String)> = policies.chain(bound).collect();
        let mut served = self.served.lock().unwrap_or_else(PoisonError::into_inner);
        for (policy, binding) in served.difference(&now) {
            if binding.is_empty() {
                let policy = policy.clone();
                self.failed_open.remove(&PolicyLabels { policy });
            }
            for error_type in ERROR_TYPES {
                for enforcement_action in ENFORCEMENT_ACTIONS {
                    let labels = CheckLabels {
                        policy: policy.clone(),
                        policy_binding: binding.clone(),
                        error_type,
                        enforcement_action,
                    };
                    self.checks.remove(&labels);
                    self.check_seconds.remove(&labels);
                }
            }
        }
        *served = now;
    }

    /// Records for how long a watch of the live source, or another request to it, has failed. `None` means that nothing fails.
    pub(crate) fn source_age(&self, age: Option<Duration>) {
        let seconds = age.unwrap_or_default().as_secs();
        self.source_age
            .set(i64::try_from(seconds).unwrap_or(i64::MAX));
    }

    /// Counts a request that the API server admitted although Gavel, evaluating the API server's built-in policies, would deny it by
    /// `policy`.
    pub(crate) fn differs(&self, policy: &str) {
        let policy = policy.to_owned();
        self.differences
            .get_or_create(&PolicyLabels { policy })
            .inc();
    }

    /// Records when the serving certificate expires, in seconds since the epoch.
    pub(crate) fn certificate_expires(&self, seconds: i64) {
        self.certificate_expiry.set(seconds);
    }

    /// Records that manifests have just been checked for changes.
    pub(crate) fn synced(&self) {
        self.last_sync.set(since_epoch());
    }

    /// All metrics as text.
    pub(crate) fn encode(&self) -> Result<String, fmt::Error> {
        let mut out = String::new();
        text::encode(&mut out, &self.registry)?;
        Ok(out)
    }

    /// Counts a false validation for one action of the binding (deny, warn, audit), or a failure of a validation or of an audit annotation.
    pub(crate) fn check(&self, labels: &CheckLabels, took: Duration) {
        self.checks.get_or_create(labels).inc();
        self.check_seconds
            .get_or_create(labels)
            .observe(took.as_secs_f64());
    }

    /// Counts a policy that failed and was ignored because of its `failurePolicy`.
    pub(crate) fn failed_open(&self, policy: &str) {
        let labels = PolicyLabels {
            policy: policy.to_owned(),
        };
        self.failed_open.get_or_create(&labels).inc();
    }

    /// Counts a request that was answered.
    pub(crate) fn http_request(
        &self,
        path: &'static str,
        method: &Method,
        code: u16,
        took: Duration,
    ) {
        let method = match *method {
            Method::GET => "GET",
            Method::POST => "POST",
            // Clients may send any text as the method.
            _ => "other",
        };
        let labels = RequestLabels { path, method, code };
        self.requests.get_or_create(&labels).inc();
        self.request_seconds
            .get_or_create(&PathLabels { path })
            .observe(took.as_secs_f64());
    }

    /// Counts a connection until the returned guard is dropped.
    pub(crate) fn connection(self: &Arc<Self>) -> OpenConnection {
        self.connections.inc();
        OpenConnection(Arc::clone(self))
    }

    /// Counts a failed TLS handshake.
    pub(crate) fn handshake_failed(&self) {
        self.handshakes_failed.inc();
    }

    /// Counts a waiting request until the returned guard is dropped.
    pub(crate) fn queued(&self) -> Queued<'_> {
        self.waiting.inc();
        Queued(&self.waiting)
    }

    /// Records how long a request has waited for a thread.
    pub(crate) fn waited(&self, time: Duration) {
        self.wait_seconds.observe(time.as_secs_f64());
    }

    /// Counts an attempt to read manifests, by its outcome.
    pub(crate) fn reloaded(&self, successfully: bool) {
        let status = match successfully {
            true => "success",
            false => "failure",
        };
        self.reloads.get_or_create(&ReloadLabels { status }).inc();
        if successfully {
            self.last_reload.set(since_epoch());
        }
    }
}

/// Registers metrics with their names and help texts in a registry.
struct Adding<'r>(&'r mut Registry);

impl Adding<'_> {
    fn family<M: Metric + Clone + Default>(&mut self, name: &str, help: &str) -> M {
        let metric = M::default();
        self.0.register(name, help, metric.clone());
        metric
    }

    fn seconds<M: Metric + Clone>(&mut self, name: &str, help: &str, metric: M) -> M {
        self.0
            .register_with_unit(name, help, Unit::Seconds, metric.clone());
        metric
    }
}

/// The values of the label `error_type`.
const ERROR_TYPES: [&str; 3] = ["compile_error", "invalid_error", "out_of_budget"];
/// The values of the label `enforcement_action`.
const ENFORCEMENT_ACTIONS: [&str; 4] = ["allow", "audit", "deny", "warn"];

/// The name that the API server's metrics give to an action of a binding.
pub(crate) fn enforcement(action: &str) -> &'static str {
    match action {
        "Warn" => "warn",
        "Audit" => "audit",
        _ => "deny",
    }
}

fn gauge(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn since_epoch() -> f64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default().as_secs_f64()
}

/// A request that waits for a thread.
#[derive(Debug)]
pub(crate) struct Queued<'m>(&'m Gauge);

impl Drop for Queued<'_> {
    fn drop(&mut self) {
        self.0.dec();
    }
}

/// A connection that is open.
#[derive(Debug)]
pub(crate) struct OpenConnection(Arc<Metrics>);

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0.connections.dec();
    }
}
