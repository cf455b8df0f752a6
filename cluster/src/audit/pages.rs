//! The objects of a resource, page by page.

use kube::Client;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::object::Audited;

/// The pages of a resource.
pub(super) struct Pages {
    client: Client,
    path: String,
    api_version: String,
    kind: String,
    limit: u32,
    /// The token of the next page; `None` after the last page.
    next: Option<String>,
}

#[derive(Deserialize)]
struct List {
    #[serde(default)]
    metadata: ListMetadata,
    #[serde(default)]
    items: Vec<Json>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ListMetadata {
    r#continue: String,
    remaining_item_count: Option<u64>,
}

/// A page of objects.
pub(super) struct Page {
    pub(super) objects: Vec<Json>,
    /// The number of remaining objects, if the server reports it.
    pub(super) remaining: Option<u64>,
}

impl Pages {
    /// The pages of a resource, each of at most `limit` objects.
    pub(super) fn new(client: Client, resource: &Audited, limit: u32) -> Self {
        let api_version = resource.kind.api_version();
        let root = if resource.kind.group.is_empty() {
            "api"
        } else {
            "apis"
        };
        Pages {
            client,
            path: format!("/{root}/{api_version}/{}", resource.plural),
            api_version,
            kind: resource.kind.kind.to_string(),
            limit,
            next: Some(String::new()),
        }
    }

    /// The next page; `None` after the last one.
    ///
    /// # Errors
    ///
    /// The API server does not return the page.
    pub(super) async fn next(&mut self) -> kube::Result<Option<Page>> {
        let Some(token) = self.next.take() else {
            return Ok(None);
        };
        let list = match self.list(&token).await {
            // The token has expired, because reading took too long. The remaining objects are read in their current state.
            Err(kube::Error::Api(status)) if status.code == 410 && !token.is_empty() => {
                let token = status
                    .metadata
                    .as_ref()
                    .and_then(|metadata| metadata.continue_.clone());
                match token {
                    Some(token) => self.list(&token).await?,
                    None => return Err(kube::Error::Api(status)),
                }
            }
            listed => listed?,
        };
        let ListMetadata {
            r#continue,
            remaining_item_count,
        } = list.metadata;
        self.next = Some(r#continue).filter(|token| !token.is_empty());
        let mut objects = list.items;
        for object in &mut objects {
            if let Some(fields) = object.as_object_mut() {
                // The items of a list have no `apiVersion` and no `kind`.
                fields.insert("apiVersion".to_owned(), json!(self.api_version));
                fields.insert("kind".to_owned(), json!(self.kind));
            }
        }
        Ok(Some(Page {
            objects,
            remaining: remaining_item_count,
        }))
    }

    async fn list(&self, token: &str) -> kube::Result<List> {
        let params = kube::api::ListParams {
            limit: Some(self.limit),
            continue_token: Some(token.to_owned()).filter(|token| !token.is_empty()),
            ..Default::default()
        };
        let request = kube::core::Request::new(&self.path).list(&params);
        let request = request.map_err(kube::Error::BuildRequest)?;
        self.client.request(request).await
    }
}
