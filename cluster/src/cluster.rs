//! A live cluster, whose objects are watched.

use std::sync::{Arc, Mutex};

use gavel_state::{Live, Published};
use kube::Client;
use tokio::sync::watch;

use crate::access::Access;
use crate::api_server::ApiServer;
use crate::client::{ConnectError, config, connect};
use crate::follow::follow;
use crate::options::{Authorizing, Options};

/// A cluster that is followed until this value is dropped.
#[derive(Debug)]
pub struct Cluster {
    address: String,
    api_server: Arc<ApiServer>,
    published: watch::Receiver<Option<Published>>,
}

impl Cluster {
    /// Begins to follow a cluster. If the API server is unreachable, waits for it.
    ///
    /// # Errors
    ///
    /// The kubeconfig cannot be used.
    pub async fn follow(options: Options) -> Result<Self, ConnectError> {
        let config = config(&options.target).await?;
        let address = config.cluster_url.to_string();
        let client = connect(config)?;
        let access = match options.authorizing {
            Authorizing::Review(cache) => Some(Access::new(client.clone(), cache)),
            Authorizing::Rbac => None,
        };
        let api_server = Arc::new(ApiServer {
            client,
            access,
            contact: Arc::default(),
            awaited: Mutex::default(),
        });
        let (publisher, published) = watch::channel(None);
        let unheard = publisher.clone();
        let following = follow(options, Arc::clone(&api_server), publisher);
        tokio::spawn(async move {
            tokio::select! {
                () = unheard.closed() => {}
                ended = following => if let Err(error) = ended {
                    tracing::error!(error, "following the cluster failed");
                }
            }
        });
        Ok(Cluster {
            address,
            api_server,
            published,
        })
    }

    /// The states by which requests are decided; `None` until all kinds have been listed once.
    pub fn published(&self) -> watch::Receiver<Option<Published>> {
        self.published.clone()
    }

    /// The URL of the API server.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The client of the API server.
    pub(crate) fn client(&self) -> &Client {
        &self.api_server.client
    }

    /// The source that answers questions while a request waits.
    pub fn live(&self) -> Arc<dyn Live> {
        Arc::clone(&self.api_server) as Arc<dyn Live>
    }
}
