//! The open connections, limited in number. To open one more, the server closes the least active connection of the client that has the most
//! connections.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::activity::Activity;

/// The interval at which the server, at the connection limit, asks a connection to close, until one has closed.
const ASK_AGAIN: Duration = Duration::from_millis(20);

/// The open connections of the server, whose number is limited.
#[derive(Debug)]
pub(super) struct Connections {
    room: Arc<Semaphore>,
    open: Mutex<BTreeMap<u64, Admitted>>,
}

/// The client and the activity of an open connection.
#[derive(Debug)]
struct Admitted {
    client: IpAddr,
    activity: Arc<Activity>,
}

/// The entry of an open connection in [`Connections`]. Dropping it removes the entry.
#[derive(Debug)]
pub(super) struct Open {
    connections: Arc<Connections>,
    pub(super) activity: Arc<Activity>,
    id: u64,
    _room: Option<OwnedSemaphorePermit>,
}

impl Connections {
    /// Allows at most `limit` connections.
    pub(super) fn new(limit: usize) -> Self {
        Connections {
            room: Arc::new(Semaphore::new(limit.clamp(1, Semaphore::MAX_PERMITS))),
            open: Mutex::default(),
        }
    }

    /// Registers an accepted connection. At the limit, closes the least active connection of the client with the most connections, and
    /// waits until a connection has ended.
    pub(super) async fn admit(self: &Arc<Self>, client: IpAddr) -> Open {
        let room = loop {
            let room = Arc::clone(&self.room);
            if let Ok(room) = Arc::clone(&room).try_acquire_owned() {
                break Some(room);
            }
            self.close_one();
            if let Ok(room) = timeout(ASK_AGAIN, room.acquire_owned()).await {
                break room.ok();
            }
        };
        let activity = Arc::new(Activity::new());
        let mut open = self.open();
        let id = open
            .last_key_value()
            .map_or(0, |(last, _)| last.wrapping_add(1));
        let admitted = Admitted {
            client: network(client),
            activity: Arc::clone(&activity),
        };
        open.insert(id, admitted);
        drop(open);
        Open {
            connections: Arc::clone(self),
            activity,
            id,
            _room: room,
        }
    }

    /// Closes the least active connection of the client with the most connections, so that a client with many connections cannot shut out
    /// clients with few.
    fn close_one(&self) {
        let open = self.open();
        let mut counts: HashMap<IpAddr, usize> = HashMap::new();
        for known in open.values() {
            let count = counts.entry(known.client).or_default();
            *count = count.saturating_add(1);
        }
        let ranked = open.values().filter_map(|known| {
            let (phase, since) = known.activity.rank()?;
            let count = counts.get(&known.client).copied();
            Some(((Reverse(count), phase, since), known))
        });
        if let Some((_, known)) = ranked.min_by_key(|(rank, _)| *rank) {
            known.activity.close();
        }
    }

    /// Locks the map. Poisoning is ignored: a panic while the lock is held cannot leave an incomplete entry.
    fn open(&self) -> MutexGuard<'_, BTreeMap<u64, Admitted>> {
        self.open
            .lock()
            .unwrap_or_else(|broken| broken.into_inner())
    }
}

/// The identity of a client: its IPv4 address, or the /64 network of its IPv6 address, because one client usually has a whole /64 network.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6((address.to_bits() >> 64 << 64).into()),
        address => address,
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.connections.open().remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_of_one_network_are_one() {
        let same = |one: &str, other: &str| {
            network(one.parse().unwrap()) == network(other.parse().unwrap())
        };
        assert!(same("2001:db8::1", "2001:db8::ffff:1"));
        assert!(!same("2001:db8::1", "2001:db8:0:1::1"));
        assert!(same("192.0.2.1", "::ffff:192.0.2.1"));
        assert!(!same("192.0.2.1", "192.0.2.2"));
    }

    /// Exactly one connection is closed, and it belongs to the client with the most connections.
    #[tokio::test]
    async fn the_client_with_most_connections_makes_room() {
        let many: IpAddr = "192.0.2.1".parse().unwrap();
        for begins in [false, true] {
            let connections = Arc::new(Connections::new(4));
            let mut open = Vec::new();
            for _ in 0..3 {
                let connection = connections.admit(many).await;
                if begins {
                    connection.activity.begin();
                }
                open.push(connection);
            }
            let few = connections.admit("192.0.2.2".parse().unwrap()).await;
            connections.close_one();
            let closings = open
                .iter()
                .map(|each| timeout(ASK_AGAIN, each.activity.must_close()));
            let mut closed = 0;
            for closing in closings {
                closed += usize::from(closing.await.is_ok());
            }
            assert_eq!(closed, 1);
            assert!(timeout(ASK_AGAIN, few.activity.must_close()).await.is_err());
        }
    }
}
