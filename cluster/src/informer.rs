//! The objects of one kind, listed and watched. kube's watcher resumes an interrupted watch, lists the objects again if resuming is no
//! longer possible (410), and uses bookmarks.

use std::sync::Arc;

use futures::StreamExt;
use gavel_state::{Event, Object, Origin};
use kube::Client;
use kube::api::{Api, DynamicObject};
use kube::core::ApiResource;
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, InitialListStrategy, watcher};
use serde_json::{Value as Json, json};
use tokio::sync::mpsc;

use crate::access::message;
use crate::contact::{Contact, heard_by};
use crate::kinds;

/// An event about an object of a kind.
#[derive(Debug)]
pub(crate) struct KindEvent {
    /// The name of the kind, as returned by [`name`]: `configmaps`, `widgets.example.com/v1`.
    pub(crate) kind: String,
    pub(crate) event: Event,
}

/// Watches the objects of a kind.
pub(crate) struct Informer {
    pub(crate) client: Client,
    pub(crate) resource: ApiResource,
    /// Converts objects before they are used.
    pub(crate) convert: fn(Json) -> Json,
    pub(crate) contact: Arc<Contact>,
    pub(crate) sender: mpsc::Sender<KindEvent>,
}

/// The name of a kind in origins and messages: `configmaps`, `widgets.example.com/v1`. A kind in lower case is another kind, because the
/// `kind` of params is the one of the `paramKind`: `configmaps (configmap)`.
pub(crate) fn name(resource: &ApiResource) -> String {
    let ApiResource {
        group,
        version,
        plural,
        kind,
        ..
    } = resource;
    let name = match group.as_str() {
        "" => plural.clone(),
        group => format!("{plural}.{group}/{version}"),
    };
    match kind.contains(|letter: char| letter.is_ascii_uppercase()) {
        true => name,
        false => format!("{name} ({kind})"),
    }
}

impl Informer {
    /// Sends the existing objects and every change, until the receiver is dropped.
    pub(crate) async fn run(self) {
        // A streaming list holds one object in memory at a time; older servers do not support it.
        let streaming = watcher::Config::default().streaming_lists();
        if self.follow(streaming).await == Ended::Unsupported {
            self.follow(watcher::Config::default()).await;
        }
    }

    async fn follow(&self, config: watcher::Config) -> Ended {
        let name = name(&self.resource);
        let origin = Origin::new(&name);
        let is_streaming = config.initial_list_strategy == InitialListStrategy::StreamingList;
        let client = heard_by(&self.client, &self.contact, &name);
        let api: Api<DynamicObject> = Api::all_with(client, &self.resource);
        let mut events = watcher(api, config).default_backoff().boxed();
        let mut first = Vec::new();
        while let Some(event) = events.next().await {
            let event = match event {
                Err(error) if is_streaming && code(&error) == Some(422) => {
                    return Ended::Unsupported;
                }
                Err(error) => {
                    failed(&self.contact, &name, error);
                    continue;
                }
                Ok(watcher::Event::Init) => {
                    first.clear();
                    continue;
                }
                Ok(watcher::Event::InitApply(object)) => {
                    first.push(self.object(&origin, object));
                    continue;
                }
                Ok(watcher::Event::InitDone) => {
                    Event::ReplacedAll(origin.clone(), std::mem::take(&mut first))
                }
                Ok(watcher::Event::Apply(object)) => Event::Applied(self.object(&origin, object)),
                Ok(watcher::Event::Delete(object)) => {
                    let object = self.object(&origin, object);
                    let Ok(key) = object.key() else { continue };
                    Event::Deleted(origin.clone(), key)
                }
            };
            let kind = name.clone();
            if self.sender.send(KindEvent { kind, event }).await.is_err() {
                break;
            }
        }
        Ended::Unheard
    }

    fn object(&self, origin: &Origin, mut object: DynamicObject) -> Object {
        if kinds::is_built_in(&self.resource) {
            object.metadata.managed_fields = None;
        }
        let mut object = serde_json::to_value(object).unwrap_or_default();
        if let Some(fields) = object.as_object_mut() {
            // The items of a list have no `apiVersion` and no `kind`.
            fields.insert("apiVersion".to_owned(), json!(self.resource.api_version));
            fields.insert("kind".to_owned(), json!(self.resource.kind));
        }
        Object::sent(origin.clone(), &(self.convert)(object))
    }
}

/// Why a watch has ended.
#[derive(Debug, PartialEq, Eq)]
enum Ended {
    /// The receiver was dropped.
    Unheard,
    /// The server does not support streaming lists.
    Unsupported,
}

/// Records a failure of a watch. After the status 404 (the API server does not serve the kind), the API server counts as reachable, and
/// Gavel keeps the objects of the kind, as an API server would.
pub(crate) fn failed(contact: &Contact, name: &str, error: watcher::Error) {
    match code(&error) {
        Some(404) => contact.unserved(name),
        // 410: the watcher lists the objects again immediately.
        Some(410) => {}
        _ => contact.failed(name, &reason(error)),
    }
}

/// The status code of the API server's answer.
fn code(error: &watcher::Error) -> Option<u16> {
    match error {
        watcher::Error::InitialListFailed(kube::Error::Api(status))
        | watcher::Error::WatchStartFailed(kube::Error::Api(status))
        | watcher::Error::WatchFailed(kube::Error::Api(status))
        | watcher::Error::WatchError(status) => Some(status.code),
        _ => None,
    }
}

/// The message of an error. If the API server answered, this is the server's own message.
fn reason(error: watcher::Error) -> String {
    match error {
        watcher::Error::InitialListFailed(error)
        | watcher::Error::WatchStartFailed(error)
        | watcher::Error::WatchFailed(error) => message(error),
        watcher::Error::WatchError(status) => status.message,
        error => error.to_string(),
    }
}
