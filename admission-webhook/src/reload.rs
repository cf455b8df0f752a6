//! What is read again when it changes: manifests and certificates.

use std::path::PathBuf;
use std::sync::Arc;

use crate::config::PolicySource;
use crate::http::App;
use crate::policies::Reload;
use crate::tls::Tls;
use crate::watch::Changes;

/// Reads certificates again whenever their files change. What does not fit together (the one file is new, the other not
/// yet) is told, and the old ones are offered until it does.
pub(crate) async fn certificates(tls: Arc<Tls>) {
    let mut changes = Changes::of(tls.files(), false);
    let mut seen = contents(&tls);
    loop {
        changes.next().await;
        let now = contents(&tls);
        if now == seen {
            continue;
        }
        seen = now;
        match tls.reload() {
            Ok(()) => tracing::info!("certificates reloaded"),
            Err(error) => {
                tracing::error!(%error, "certificates not reloaded; the old ones are offered");
            }
        }
    }
}

/// The files as they are; None is a file that cannot be read.
fn contents(tls: &Tls) -> Vec<Option<Vec<u8>>> {
    let files = tls.files().into_iter();
    files.map(|file| std::fs::read(file).ok()).collect()
}

/// Reads manifests again whenever they change; None where they are built in.
pub(crate) fn policies(
    source: &PolicySource,
    app: &Arc<App>,
) -> Option<impl Future<Output = ()> + use<>> {
    let PolicySource::Manifests { paths, recursive } = source else {
        return None;
    };
    let changes = Changes::of(paths.iter().map(PathBuf::as_path), *recursive);
    Some(manifests(changes, Arc::clone(app)))
}

async fn manifests(mut changes: Changes, app: Arc<App>) {
    loop {
        changes.next().await;
        let reading = Arc::clone(&app);
        // Compiling takes its time; requests go on meanwhile.
        let read = tokio::task::spawn_blocking(move || reading.policies.reload(&reading.metrics));
        match read.await {
            Ok(Reload::Unchanged) => {}
            Ok(Reload::Done) => {
                app.metrics.reloaded(true);
                app.health.set_problems(Vec::new());
                tracing::info!("manifests reloaded");
            }
            Ok(Reload::Failed(problems)) => failed(&app, problems),
            Err(error) => failed(&app, vec![format!("they cannot be read: {error}")]),
        }
    }
}

fn failed(app: &App, problems: Vec<String>) {
    app.metrics.reloaded(false);
    for problem in &problems {
        tracing::error!(%problem, "manifests not reloaded; the last good state is served");
    }
    app.health.set_problems(problems);
}
