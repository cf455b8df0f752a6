//! The open connections, limited in number. To open one more, the server closes a connection that sends no request; if there is none, the
//! connection that has been sending its body, or taking its answer, for the longest time.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::activity::{Activity, Rank};

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

    /// Registers an accepted connection. At the limit, asks another connection to close, and waits until a connection has ended.
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

    /// Closes the connection with the lowest rank, if a connection has a rank. New connections rank below slow ones only if they are more
    /// than a quarter of all, so that clients who send slowly on many connections do not shut out new ones.
    ///
    /// Among silent, idle or new connections, the oldest of the client with most of them is closed. Among slow connections, the slowest is
    /// closed, however many its client has: the client with most requests is usually the API server, and its requests arrive fast.
    fn close_one(&self) {
        let open = self.open();
        let ranked = || {
            open.values().filter_map(|known| {
                let (rank, since) = known.activity.rank()?;
                Some((rank, since, known))
            })
        };
        let (mut new, mut counts) = (0_usize, HashMap::new());
        for (rank, _, known) in ranked() {
            new = new.saturating_add(usize::from(rank == Rank::New));
            if rank != Rank::Slow {
                let count: &mut usize = counts.entry((rank, known.client)).or_default();
                *count = count.saturating_add(1);
            }
        }
        let are_few = new <= open.len() / 4;
        let first = ranked().min_by_key(|(rank, since, known)| {
            let count = counts.get(&(*rank, known.client)).copied();
            (*rank == Rank::New && are_few, *rank, Reverse(count), *since)
        });
        if let Some((_, _, known)) = first {
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
    use crate::server::activity::PATIENCE;

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

    /// What a client does on a connection.
    #[derive(Debug, Clone, Copy, PartialEq)]
    enum Client {
        SendsNothing,
        SendsBody,
        TakesAnswer,
        Waits,
        IsIdle,
    }
    use Client::{IsIdle, SendsBody, SendsNothing, TakesAnswer, Waits};

    /// Opens groups of connections: how many seconds after the group before, of how many addresses, how many of each address, and what the
    /// clients do. Then makes room for others until no connection can be closed. Returns the groups of the closed connections, in order.
    async fn closed(groups: &[(u64, u8, usize, Client)]) -> Vec<usize> {
        let connections = Arc::new(Connections::new(usize::MAX));
        let mut open = Vec::new();
        for (group, (seconds, addresses, each, client)) in groups.iter().enumerate() {
            tokio::time::sleep(Duration::from_secs(*seconds)).await;
            for address in 0..*addresses {
                let address = IpAddr::from([192, 0, u8::try_from(group).unwrap(), address]);
                for _ in 0..*each {
                    let connection = connections.admit(address).await;
                    let activity = &connection.activity;
                    let request = (*client != SendsNothing).then(|| activity.begin());
                    match (client, request) {
                        (Waits, _) => activity.received(),
                        (TakesAnswer, _) => activity.answer(),
                        (IsIdle, Some(request)) => activity.end(request),
                        _ => {}
                    }
                    open.push((group, connection));
                }
            }
        }
        let mut closed = Vec::new();
        loop {
            connections.close_one();
            let mut one = None;
            for (position, (_, connection)) in open.iter().enumerate() {
                tokio::select! {
                    biased;
                    () = connection.activity.must_close() => assert_eq!(one.replace(position), None),
                    () = std::future::ready(()) => {}
                }
            }
            let Some(position) = one else {
                return closed;
            };
            closed.push(open.remove(position).0);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn connections_without_a_request_make_room_before_others() {
        for (groups, expected) in [
            // Silent connections from many addresses, while one client sends many reviews.
            (
                vec![(0, 1, 8, SendsBody), (0, 20, 3, SendsNothing)],
                vec![1; 60],
            ),
            (
                vec![
                    (0, 1, 2, IsIdle),
                    (0, 1, 1, SendsNothing),
                    (0, 1, 1, Waits),
                    (1, 1, 1, SendsNothing),
                    (0, 1, 1, SendsBody),
                ],
                vec![1, 0, 0, 3],
            ),
            // The client with most connections of a kind.
            (vec![(0, 1, 1, IsIdle), (1, 1, 3, IsIdle)], vec![1, 1, 0, 1]),
            (
                vec![
                    (0, 1, 1, SendsNothing),
                    (0, 1, 9, SendsBody),
                    (0, 1, 2, SendsNothing),
                ],
                vec![2, 0, 2],
            ),
            // Slow clients: the slowest, not the client with most connections.
            (
                vec![
                    (0, 3, 1, SendsBody),
                    (1, 1, 1, TakesAnswer),
                    (1, 1, 9, SendsBody),
                    (1, 1, 9, SendsBody),
                ],
                [vec![0; 3], vec![1], vec![2; 9]].concat(),
            ),
            // New connections make room before slow ones, unless they are at most a quarter of all.
            (
                vec![(0, 9, 1, SendsBody), (1, 1, 3, SendsNothing)],
                vec![0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0],
            ),
        ] {
            assert_eq!(closed(&groups).await, expected, "{groups:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_whose_request_arrives_stays_open() {
        let activity = Activity::new();
        activity.close();
        activity.begin();
        assert!(timeout(PATIENCE / 2, activity.must_close()).await.is_err());
        tokio::time::sleep(PATIENCE).await;
        activity.close();
        activity.must_close().await;
    }
}
