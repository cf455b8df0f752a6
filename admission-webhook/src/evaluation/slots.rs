//! Slots for long evaluations, and for requests that wait for one. No user and no policy can hold more than half of them, rounded up.

use std::sync::{Arc, Mutex, MutexGuard};

use tokio::sync::Notify;

use super::Flow;

/// A bounded number of slots.
#[derive(Debug)]
pub(super) struct Slots {
    /// The flows that hold a slot, at most `total` of them.
    held: Mutex<Vec<Flow>>,
    total: usize,
    freed: Notify,
}

impl Slots {
    /// Makes `total` slots, but at least two, so that one flow leaves a slot to the others.
    pub(super) fn new(total: usize) -> Self {
        Slots {
            held: Mutex::default(),
            total: total.max(2),
            freed: Notify::new(),
        }
    }

    /// Waits for a slot that the flow can hold.
    pub(super) async fn acquire(self: &Arc<Self>, flow: Flow) -> Slot {
        loop {
            let freed = self.freed.notified();
            if let Some(slot) = self.try_acquire(flow) {
                return slot;
            }
            freed.await;
        }
    }

    /// Takes a slot that the flow can hold; `None` if there is none now.
    pub(super) fn try_acquire(self: &Arc<Self>, flow: Flow) -> Option<Slot> {
        let mut held = self.held();
        let share = self.total.div_ceil(2);
        let count = |is_same: fn(Flow, Flow) -> bool| {
            held.iter().filter(|other| is_same(flow, **other)).count()
        };
        let may_hold = held.len() < self.total
            && count(|one, other| one.user == other.user) < share
            && count(|one, other| one.policy == other.policy) < share;
        may_hold.then(|| {
            held.push(flow);
            let slots = Arc::clone(self);
            Slot { slots, flow }
        })
    }

    fn release(&self, flow: Flow) {
        let mut held = self.held();
        if let Some(position) = held.iter().position(|other| *other == flow) {
            held.swap_remove(position);
        }
        drop(held);
        self.freed.notify_waiters();
    }

    /// Locks the list. Poisoning is ignored: a panic while the lock is held cannot leave the list in an invalid state.
    fn held(&self) -> MutexGuard<'_, Vec<Flow>> {
        self.held
            .lock()
            .unwrap_or_else(|broken| broken.into_inner())
    }
}

/// A slot, held until it is dropped.
#[derive(Debug)]
pub(super) struct Slot {
    slots: Arc<Slots>,
    flow: Flow,
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.slots.release(self.flow);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn no_user_and_no_policy_holds_all_slots() {
        let slots = Arc::new(Slots::new(2));
        let mallory = slots.acquire(Flow::new("mallory", "slow")).await;
        assert!(slots.try_acquire(Flow::new("mallory", "other")).is_none());
        assert!(slots.try_acquire(Flow::new("alice", "slow")).is_none());
        let alice = slots.acquire(Flow::new("alice", "other")).await;
        assert!(slots.try_acquire(Flow::new("bob", "third")).is_none());
        drop(mallory);
        let waiting = slots.acquire(Flow::new("mallory", "slow")).await;
        drop((alice, waiting));
        assert!(slots.held().is_empty());
    }
}
