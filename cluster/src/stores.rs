//! The stores of a followed cluster: one for Gavel's own policies, and one for the built-in policies.

use std::collections::BTreeSet;
use std::sync::Arc;

use gavel_libraries::Server;
use gavel_state::{Event, Published, Store};

/// The stores of a followed cluster.
pub(crate) struct Stores {
    own: Store,
    shadow: Option<Store>,
}

impl Stores {
    /// Empty stores for an API server of this version.
    pub(crate) fn new(server: Server, native: bool) -> Result<Self, String> {
        Ok(Stores {
            own: Store::live(server)?,
            shadow: native.then(|| Store::live(server)).transpose()?,
        })
    }

    pub(crate) fn handle(&mut self, event: Event, to: Destination) {
        if let Some(shadow) = &mut self.shadow
            && to != Destination::Own
        {
            shadow.handle(event.clone());
        }
        if to != Destination::Shadow {
            self.own.handle(event);
        }
    }

    pub(crate) fn publish(&mut self) -> Published {
        Published {
            state: Arc::new(self.own.publish()),
            shadow: self
                .shadow
                .as_mut()
                .map(|shadow| Arc::new(shadow.publish())),
        }
    }

    pub(crate) fn param_kinds(&self) -> BTreeSet<(String, String)> {
        let mut kinds = self.own.param_kinds();
        kinds.extend(self.shadow.iter().flat_map(Store::param_kinds));
        kinds
    }
}

/// The stores that objects of a kind belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Destination {
    Own,
    Shadow,
    Both,
}
