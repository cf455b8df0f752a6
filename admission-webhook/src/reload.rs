//! Reads manifests and certificates again when they change.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::{JoinError, JoinHandle, spawn_blocking};
use tokio::time::timeout;

use crate::config::PolicySource;
use crate::http::App;
use crate::policies::{Rejected, Reload};
use crate::telemetry::Metrics;
use crate::tls::Tls;
use crate::watch::Changes;

/// Reads certificates again whenever their files change. While only the certificate or only the key has changed, the two do not match: this
/// is reported, and the old pair stays in use.
pub(crate) async fn certificates(tls: Arc<Tls>, metrics: Arc<Metrics>) {
    let mut changes = Changes::of(tls.files(), false).await;
    // The files may have changed before they were watched.
    let mut seen = tls.first_hash();
    loop {
        let (tls, metrics) = (Arc::clone(&tls), Arc::clone(&metrics));
        let read = move || {
            let now = tls.hash();
            if now != seen {
                certify(&tls, &metrics);
            }
            now
        };
        seen = spawn_blocking(read).await.unwrap_or(seen);
        changes.next().await;
    }
}

/// Puts the certificate of a [`Certifier`] in use whenever it is renewed. Returns `None` if no certifier is configured.
pub(crate) fn kept(
    tls: &Arc<Tls>,
    metrics: &Arc<Metrics>,
) -> Option<impl Future<Output = ()> + use<>> {
    let (mut kept, tls, metrics) = (tls.kept()?, Arc::clone(tls), Arc::clone(metrics));
    Some(async move {
        while kept.changed().await.is_ok() {
            let (tls, metrics) = (Arc::clone(&tls), Arc::clone(&metrics));
            let _ = spawn_blocking(move || certify(&tls, &metrics)).await;
        }
    })
}

fn certify(tls: &Tls, metrics: &Metrics) {
    match tls.reload() {
        Ok(()) => {
            if let Some(seconds) = tls.expires() {
                metrics.certificate_expires(seconds);
            }
            tracing::info!("certificates reloaded");
        }
        Err(error) => {
            tracing::error!(%error, "certificates not reloaded; the old ones are offered");
        }
    }
}

/// Reads manifests again whenever they change. Returns `None` if the policies do not come from files.
pub(crate) async fn policies(
    source: &PolicySource,
    app: &Arc<App>,
) -> Option<impl Future<Output = ()> + use<>> {
    let PolicySource::Manifests {
        paths, recursive, ..
    } = source
    else {
        return None;
    };
    let changes = Changes::of(paths.clone(), *recursive).await;
    Some(manifests(changes, Arc::clone(app)))
}

/// Puts in force every state that a live source publishes. Returns `None` if the policies do not come from a live source.
pub(crate) fn live(
    source: &PolicySource,
    app: &Arc<App>,
) -> Option<impl Future<Output = ()> + use<>> {
    let PolicySource::Live(source) = source else {
        return None;
    };
    let (mut published, app) = (source.published.clone(), Arc::clone(app));
    Some(async move {
        let mut reported = Vec::new();
        while published.changed().await.is_ok() {
            let Some(now) = published.borrow_and_update().clone() else {
                continue;
            };
            if !app.policies.is_synced() {
                let counts = now.state.counts();
                tracing::info!(?counts, "synced");
            }
            let problems = Rejected::of(&now.state).map(|(_, rejected)| rejected);
            let problems: Vec<Rejected> = problems.collect();
            app.policies.take(now, &app.metrics);
            if problems != reported {
                problems.iter().for_each(Rejected::log);
                reported.clone_from(&problems);
                app.health.set_problems(problems);
            }
        }
    })
}

/// How long reading manifests can take before `/readyz` reports it.
const SLOW: Duration = Duration::from_secs(10);

async fn manifests(mut changes: Changes, app: Arc<App>) {
    loop {
        changes.next().await;
        let reading = Arc::clone(&app);
        // Compiling takes time, so it runs on another thread, and requests are decided meanwhile.
        let read = spawn_blocking(move || reading.policies.reload(&reading.metrics));
        match warn_when_slow(read, &app, SLOW).await {
            Ok(Reload::Unchanged) => {}
            Ok(Reload::Done(problems)) => done(&app, problems),
            Err(error) => {
                let problem = format!("manifests cannot be read: {error}");
                let in_force = true;
                done(&app, vec![Rejected { problem, in_force }]);
            }
        }
        app.metrics.synced();
    }
}

/// Waits for `reading`. If this takes longer than `slow`, reports it in the log and in `/readyz?verbose`.
async fn warn_when_slow<T>(
    mut reading: JoinHandle<T>,
    app: &App,
    slow: Duration,
) -> Result<T, JoinError> {
    if let Ok(read) = timeout(slow, &mut reading).await {
        return read;
    }
    let seconds = slow.as_secs();
    tracing::warn!("reading manifests takes more than {seconds} s; the last good state is served");
    app.health.set_slow(true);
    let read = reading.await;
    app.health.set_slow(false);
    read
}

fn done(app: &App, problems: Vec<Rejected>) {
    app.metrics.reloaded(problems.is_empty());
    problems.iter().for_each(Rejected::log);
    if problems.is_empty() {
        tracing::info!("manifests reloaded");
    }
    app.health.set_problems(problems);
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use axum::body::{Body, to_bytes};
    use axum::http::Request;
    use gavel_libraries::Server;
    use gavel_state::{Event, Object, Origin, Published, Store};
    use serde_json::json;
    use tokio::sync::{oneshot, watch};
    use tower::Service;

    use super::*;
    use crate::config::{Limits, LiveSource};
    use crate::http::answers::tests::Silent;
    use crate::http::routes::{Paths, router};
    use crate::policies::Policies;
    use crate::tls::{Identity, TlsSettings};

    async fn readyz(app: &Arc<App>) -> String {
        let request = Request::get("/readyz?verbose").body(Body::empty()).unwrap();
        let answer = router(Arc::clone(app), Paths::Health).call(request).await;
        let answer = answer.unwrap();
        assert_eq!(answer.status(), 200);
        let text = to_bytes(answer.into_body(), 1 << 16).await.unwrap();
        String::from_utf8(text.to_vec()).unwrap()
    }

    /// Writes a new certificate and its key into a folder.
    fn write(folder: &Path) {
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        std::fs::write(folder.join("tls.crt"), made.cert.pem()).unwrap();
        std::fs::write(folder.join("tls.key"), made.signing_key.serialize_pem()).unwrap();
    }

    /// Offers a new certificate from files in a folder.
    fn offer(folder: &Path) -> Arc<Tls> {
        write(folder);
        let (certificate, key) = (folder.join("tls.crt"), folder.join("tls.key"));
        let settings = TlsSettings {
            identity: Identity::Files { certificate, key },
            client_ca: None,
        };
        Arc::new(Tls::new(settings).unwrap())
    }

    #[tokio::test]
    async fn certificates_that_change_before_they_are_watched_are_loaded() {
        let folder = tempfile::tempdir().unwrap();
        let tls = offer(folder.path());
        let first = tls.current();
        write(folder.path());
        let watching = tokio::spawn(certificates(Arc::clone(&tls), Arc::new(Metrics::new())));
        while Arc::ptr_eq(&tls.current(), &first) {
            tokio::task::yield_now().await;
        }
        watching.abort();
    }

    /// A file on a file system that does not answer, such as a FIFO without a writer.
    #[cfg(unix)]
    #[test]
    fn requests_are_decided_while_a_file_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let tls = offer(folder.path());
        let fifo = folder.path().join("tls.crt");
        std::fs::remove_file(&fifo).unwrap();
        let made = std::process::Command::new("mkfifo").arg(&fifo).status();
        assert!(made.unwrap().success());
        let (send, decided) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let mut runtime = tokio::runtime::Builder::new_current_thread();
            let runtime = runtime.enable_all().build().unwrap();
            runtime.block_on(async {
                tokio::spawn(certificates(tls, Arc::new(Metrics::new())));
                // The other task has begun to read the file by then.
                tokio::time::sleep(Duration::from_millis(200)).await;
                send.send(()).unwrap();
            });
        });
        let decided = decided.recv_timeout(Duration::from_secs(20));
        assert_eq!(decided, Ok(()));
    }

    #[tokio::test]
    async fn an_invalid_object_of_a_cluster_is_reported_with_what_is_in_force() {
        let (publisher, published) = watch::channel(None);
        let live = Arc::new(Silent);
        let source = PolicySource::Live(LiveSource { published, live });
        let metrics = Arc::new(Metrics::new());
        let policies = Policies::load(source.clone(), Server::default(), &metrics).unwrap();
        let app = Arc::new(App::new(policies, metrics, &Limits::default()));
        let watching = tokio::spawn(super::live(&source, &app).unwrap());
        let mut store = Store::live(Server::default()).unwrap();
        for (actions, expected) in [
            (json!(["Never"]), "warn: not in force: "),
            (json!(["Deny"]), "[+]policies ok\n[+]shutdown"),
            (json!(["Never"]), "warn: the last good version is served: "),
        ] {
            let binding = json!({
                "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding",
                "metadata": {"name": "b"}, "spec": {"policyName": "p", "validationActions": actions},
            });
            let object = Object::sent(Origin::new("bindings"), &binding);
            store.handle(Event::Applied(object));
            let (state, shadow) = (Arc::new(store.publish()), None);
            publisher.send_replace(Some(Published { state, shadow }));
            while !app.policies.is_synced() || !readyz(&app).await.contains(expected) {
                tokio::task::yield_now().await;
            }
        }
        watching.abort();
        // The manifests are never stale, because there are none.
        let samples = app.metrics.encode().unwrap();
        assert!(samples.contains("gavel_manifest_last_sync_timestamp_seconds 0.0\n"));
    }

    #[tokio::test]
    async fn slow_reading_is_reported_until_it_ends() {
        let metrics = Arc::new(Metrics::new());
        let policies = Policies::load(PolicySource::Demo, Server::default(), &metrics).unwrap();
        let app = Arc::new(App::new(policies, metrics, &Limits::default()));
        let slow = "warn: reading manifests takes long; the last good state is served";
        assert!(!readyz(&app).await.contains(slow));
        let (end, ended) = oneshot::channel();
        let (reading, reader) = (tokio::spawn(ended), Arc::clone(&app));
        let waiting = tokio::spawn(async move {
            warn_when_slow(reading, &reader, Duration::from_millis(1)).await
        });
        while !readyz(&app).await.contains(slow) {
            tokio::task::yield_now().await;
        }
        end.send("read").unwrap();
        assert_eq!(waiting.await.unwrap().unwrap(), Ok("read"));
        assert!(!readyz(&app).await.contains(slow));
    }
}
