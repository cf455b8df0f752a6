//! The connections that are open, with a bound: for one more, the longest idle one is closed.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::activity::Activity;

/// How often another connection is asked to close while none has made room.
const ASK_AGAIN: Duration = Duration::from_millis(20);

/// The open connections.
#[derive(Debug)]
pub(super) struct Connections {
    room: Arc<Semaphore>,
    open: Mutex<BTreeMap<u64, Arc<Activity>>>,
}

/// An open connection, until it is dropped.
#[derive(Debug)]
pub(super) struct Open {
    connections: Arc<Connections>,
    pub(super) activity: Arc<Activity>,
    id: u64,
    _room: Option<OwnedSemaphorePermit>,
}

impl Connections {
    /// At most `limit` connections.
    pub(super) fn new(limit: usize) -> Self {
        Connections {
            room: Arc::new(Semaphore::new(limit.clamp(1, Semaphore::MAX_PERMITS))),
            open: Mutex::default(),
        }
    }

    /// Makes room for a connection that has been accepted.
    pub(super) async fn admit(self: &Arc<Self>) -> Open {
        let room = loop {
            let room = Arc::clone(&self.room);
            if let Ok(room) = Arc::clone(&room).try_acquire_owned() {
                break Some(room);
            }
            self.close_longest_idle();
            if let Ok(room) = timeout(ASK_AGAIN, room.acquire_owned()).await {
                break room.ok();
            }
        };
        let activity = Arc::new(Activity::new());
        let mut open = self.open();
        let id = open
            .last_key_value()
            .map_or(0, |(last, _)| last.wrapping_add(1));
        open.insert(id, Arc::clone(&activity));
        drop(open);
        Open {
            connections: Arc::clone(self),
            activity,
            id,
            _room: room,
        }
    }

    fn close_longest_idle(&self) {
        let open = self.open();
        let ranked = open.values().filter_map(|each| Some((each.rank()?, each)));
        if let Some((_, longest)) = ranked.min_by_key(|(rank, _)| *rank) {
            longest.close();
        }
    }

    /// A lock that a panic has left holds whole entries all the same.
    fn open(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Activity>>> {
        self.open
            .lock()
            .unwrap_or_else(|broken| broken.into_inner())
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.connections.open().remove(&self.id);
    }
}
