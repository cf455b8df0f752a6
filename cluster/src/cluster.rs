//! A cluster that is followed.

use std::sync::{Arc, Mutex};

use gavel_state::{Live, Published};
use kube::Client;
use tokio::sync::watch;

use crate::access::Access;
use crate::asked::Asked;
use crate::client::{ConnectError, connect};
use crate::follow::follow;
use crate::options::{Authorizing, Options};

/// A cluster that is followed until this value is dropped.
#[derive(Debug)]
pub struct Cluster {
    asked: Arc<Asked>,
    published: watch::Receiver<Option<Published>>,
}

impl Cluster {
    /// Begins to follow a cluster. If the API server is unreachable, waits for it.
    ///
    /// # Errors
    ///
    /// The kubeconfig cannot be used.
    pub async fn follow(options: Options) -> Result<Self, ConnectError> {
        let client = connect(&options.target).await?;
        let access = match options.authorizing {
            Authorizing::Review(cache) => Some(Access::new(client.clone(), cache)),
            Authorizing::Rbac => None,
        };
        let asked = Arc::new(Asked {
            client,
            access,
            contact: Arc::default(),
            awaited: Mutex::default(),
        });
        let (publisher, published) = watch::channel(None);
        let unheard = publisher.clone();
        let following = follow(options, Arc::clone(&asked), publisher);
        tokio::spawn(async move {
            tokio::select! {
                () = unheard.closed() => {}
                ended = following => if let Err(error) = ended {
                    tracing::error!(error, "the cluster is not followed");
                }
            }
        });
        Ok(Cluster { asked, published })
    }

    /// The states that decide requests; `None` until everything has been listed once.
    pub fn published(&self) -> watch::Receiver<Option<Published>> {
        self.published.clone()
    }

    /// The client.
    pub(crate) fn client(&self) -> &Client {
        &self.asked.client
    }

    /// The source that answers questions while a request waits.
    pub fn live(&self) -> Arc<dyn Live> {
        Arc::clone(&self.asked) as Arc<dyn Live>
    }
}
