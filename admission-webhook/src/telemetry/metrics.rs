//! Metrics: those of policies under the names and labels of the API server (apiserver
//! `pkg/admission/plugin/policy/validating/metrics`), those of HTTP and of the manifests under our own.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use axum::http::Method;
use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use super::process::Process;

/// All metrics.
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
    objects: Family<KindLabels, Gauge>,
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

/// The labels of a check of a policy.
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

/// The bounds of histograms, in seconds.
const SECONDS: [f64; 16] = [
    1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 1e-2, 2.5e-2, 5e-2, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
];

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut registry = Registry::default();
        let checks = Family::default();
        registry.register(
            "apiserver_validating_admission_policy_check",
            "Validation admission policy check total, labeled by policy and further identified by binding and enforcement action taken",
            checks.clone(),
        );
        let check_seconds: Family<_, _, fn() -> Histogram> =
            Family::new_with_constructor(|| Histogram::new([5e-7, 1e-3, 1e-2, 0.1, 1.0]));
        registry.register_with_unit(
            "apiserver_validating_admission_policy_check_duration",
            "Validation admission latency for individual validation expressions in seconds, labeled by policy and further including binding and enforcement action taken",
            Unit::Seconds,
            check_seconds.clone(),
        );
        let failed_open = Family::default();
        registry.register(
            "gavel_admission_fail_open",
            "Requests that a policy could not decide and let through because its failurePolicy is Ignore",
            failed_open.clone(),
        );
        let requests = Family::default();
        registry.register("gavel_http_requests", "Requests answered", requests.clone());
        let request_seconds: Family<_, _, fn() -> Histogram> =
            Family::new_with_constructor(|| Histogram::new(SECONDS));
        registry.register_with_unit(
            "gavel_http_request_duration",
            "From the end of a request's head to its answer",
            Unit::Seconds,
            request_seconds.clone(),
        );
        let connections = Gauge::default();
        registry.register("gavel_connections", "Open connections", connections.clone());
        let handshakes_failed = Counter::default();
        registry.register(
            "gavel_tls_handshakes_failed",
            "TLS handshakes that failed or took too long",
            handshakes_failed.clone(),
        );
        let waiting = Gauge::default();
        registry.register(
            "gavel_evaluations_waiting",
            "Requests that wait for a thread to be decided on",
            waiting.clone(),
        );
        let wait_seconds = Histogram::new(SECONDS);
        registry.register_with_unit(
            "gavel_evaluation_wait",
            "How long requests waited for a thread to be decided on",
            Unit::Seconds,
            wait_seconds.clone(),
        );
        let reloads = Family::default();
        registry.register(
            "gavel_manifest_reloads",
            "Times that changed manifests were read, by outcome",
            reloads.clone(),
        );
        let last_reload = Gauge::default();
        registry.register_with_unit(
            "gavel_manifest_last_reload_timestamp",
            "When manifests were last read successfully, since the epoch",
            Unit::Seconds,
            last_reload.clone(),
        );
        let objects = Family::default();
        registry.register(
            "gavel_objects",
            "Objects that are served by kind",
            objects.clone(),
        );
        registry.register_collector(Box::new(Process));
        Metrics {
            registry,
            checks,
            check_seconds,
            failed_open,
            requests,
            request_seconds,
            connections,
            handshakes_failed,
            waiting,
            wait_seconds,
            reloads,
            last_reload,
            objects,
        }
    }

    /// All metrics as text.
    pub(crate) fn encode(&self) -> Result<String, fmt::Error> {
        let mut out = String::new();
        text::encode(&mut out, &self.registry)?;
        Ok(out)
    }

    /// A policy refused, warned, noted or let something through that it could not decide.
    pub(crate) fn check(&self, labels: &CheckLabels, took: Duration) {
        self.checks.get_or_create(labels).inc();
        self.check_seconds
            .get_or_create(labels)
            .observe(took.as_secs_f64());
    }

    /// A policy could not decide and does not count.
    pub(crate) fn failed_open(&self, policy: &str) {
        let labels = PolicyLabels {
            policy: policy.to_owned(),
        };
        self.failed_open.get_or_create(&labels).inc();
    }

    /// A request was answered.
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
            // Any text is a method.
            _ => "other",
        };
        let labels = RequestLabels { path, method, code };
        self.requests.get_or_create(&labels).inc();
        self.request_seconds
            .get_or_create(&PathLabels { path })
            .observe(took.as_secs_f64());
    }

    /// A connection is open, until what is returned is dropped.
    pub(crate) fn connection(self: &Arc<Self>) -> OpenConnection {
        self.connections.inc();
        OpenConnection(Arc::clone(self))
    }

    /// A TLS handshake failed.
    pub(crate) fn handshake_failed(&self) {
        self.handshakes_failed.inc();
    }

    /// A request waits for a thread, until what is returned is dropped.
    pub(crate) fn queued(&self) -> Queued<'_> {
        self.waiting.inc();
        Queued(&self.waiting)
    }

    /// A request has waited for a thread.
    pub(crate) fn waited(&self, time: Duration) {
        self.wait_seconds.observe(time.as_secs_f64());
    }

    /// Manifests were read.
    pub(crate) fn reloaded(&self, successfully: bool) {
        let status = match successfully {
            true => "success",
            false => "failure",
        };
        self.reloads.get_or_create(&ReloadLabels { status }).inc();
        if successfully {
            let now = std::time::SystemTime::now();
            let since_epoch = now
                .duration_since(std::time::UNIX_EPOCH)
                .unwrap_or_default();
            self.last_reload.set(since_epoch.as_secs_f64());
        }
    }

    /// How many objects of a kind are served.
    pub(crate) fn set_objects(&self, kind: &'static str, count: usize) {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        self.objects.get_or_create(&KindLabels { kind }).set(count);
    }
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
