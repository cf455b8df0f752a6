//! Watches files and folders for changes.

use std::path::{Path, PathBuf};
use std::time::Duration;

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;

/// How long files must be unchanged before they are read, so that several changes are read together.
const QUIET: Duration = Duration::from_millis(100);

/// The longest wait until files stop changing. After it, the files are read even if they still change.
const IMPATIENT: Duration = Duration::from_millis(500);

/// How often files are also polled: some file systems (network file systems, replaced mounts) send no notifications.
const POLL: Duration = Duration::from_secs(10);

/// Notifies when files below some paths may have changed.
#[derive(Debug)]
pub(crate) struct Changes {
    events: mpsc::Receiver<()>,
    /// `None` if files cannot be watched.
    folders: Option<Folders>,
}

/// The watched folders.
#[derive(Debug)]
struct Folders {
    watcher: RecommendedWatcher,
    folders: Vec<(PathBuf, RecursiveMode)>,
}

impl Changes {
    /// Watches folders, with all folders below them if `recursive`. A file is watched through its folder, because files are usually changed
    /// by replacing them.
    pub(crate) async fn of(paths: Vec<PathBuf>, recursive: bool) -> Self {
        let (notify, events) = mpsc::channel(1);
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            let is_read = event.is_ok_and(|event| matches!(event.kind, EventKind::Access(_)));
            if !is_read {
                // If a notification is waiting already, it covers this event too.
                let _ = notify.try_send(());
            }
        });
        let watch = move |watcher| {
            let folders = paths.iter().map(|path| watched(path, recursive)).collect();
            let mut folders = Folders { watcher, folders };
            folders.watch(|folder, error| {
                tracing::warn!(%error, folder = %folder.display(), "the folder cannot be watched, so it is read every {} s", POLL.as_secs());
            });
            folders
        };
        let folders = match watcher {
            Ok(watcher) => spawn_blocking(move || watch(watcher)).await.ok(),
            Err(error) => {
                tracing::warn!(%error, "files cannot be watched, so they are read every {} s", POLL.as_secs());
                None
            }
        };
        Changes { events, folders }
    }

    /// Returns when files may have changed and have then been unchanged for [`QUIET`], or when it is time to poll.
    pub(crate) async fn next(&mut self) {
        self.wait().await;
        if let Some(mut folders) = self.folders.take() {
            let watch = move || {
                // A folder may have been replaced by another. Errors are reported when the folder is read.
                folders.watch(|_, _| {});
                folders
            };
            self.folders = spawn_blocking(watch).await.ok();
        }
    }

    async fn wait(&mut self) {
        match tokio::time::timeout(POLL, self.events.recv()).await {
            Err(_) => return,
            // Without a watcher there are no notifications, only the poll.
            Ok(None) => return tokio::time::sleep(POLL).await,
            Ok(Some(())) => {}
        }
        let quiet = async {
            while let Ok(Some(())) = tokio::time::timeout(QUIET, self.events.recv()).await {}
        };
        let _ = tokio::time::timeout(IMPATIENT, quiet).await;
    }
}

impl Folders {
    /// Watches the folders, with all folders that are below them now. This reads the folders.
    fn watch(&mut self, failed: impl Fn(&Path, notify::Error)) {
        for (folder, mode) in &self.folders {
            if let Err(error) = self.watcher.watch(folder, *mode) {
                failed(folder, error);
            }
        }
    }
}

fn watched(path: &Path, recursive: bool) -> (PathBuf, RecursiveMode) {
    if path.is_dir() {
        let mode = match recursive {
            true => RecursiveMode::Recursive,
            false => RecursiveMode::NonRecursive,
        };
        return (path.to_owned(), mode);
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    };
    (folder, RecursiveMode::NonRecursive)
}
