//! A cache of an authorizer's decisions (apiserver `pkg/admission/plugin/authorizer/caching_authorizer.go`).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::{Authorizer, AuthorizerAttributes, AuthorizerRequest, Decision};

/// Caches the decisions of another authorizer, so that the other authorizer decides each request only once. Decisions never expire, so
/// create one cache for each admission request.
#[derive(Debug)]
pub struct CachingAuthorizer {
    authorizer: Arc<dyn Authorizer>,
    decisions: Mutex<HashMap<AuthorizerAttributes, Decision>>,
}

impl CachingAuthorizer {
    /// Creates an empty cache for the decisions of `authorizer`.
    pub fn new(authorizer: Arc<dyn Authorizer>) -> Self {
        CachingAuthorizer {
            authorizer,
            decisions: Mutex::default(),
        }
    }
}

impl Authorizer for CachingAuthorizer {
    fn authorize(&self, attributes: &AuthorizerAttributes) -> Decision {
        let key = key(attributes);
        let mut decisions = self
            .decisions
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        decisions
            .entry(key)
            .or_insert_with(|| self.authorizer.authorize(attributes))
            .clone()
    }
}

/// The request as a cache key. Requests have equal keys if they differ only in the order of groups or of extra values: the key sorts both.
/// A selector that cannot be parsed is dropped, because it restricts nothing.
fn key(attributes: &AuthorizerAttributes) -> AuthorizerAttributes {
    let mut key = attributes.clone();
    let user = Arc::make_mut(&mut key.user);
    user.groups.sort();
    let extra = user.extra.values_mut().flatten();
    extra.for_each(|values| values.sort());
    if let AuthorizerRequest::Resource(resource) = &mut key.request {
        if resource.field_selector.is_err() {
            resource.field_selector = Ok(Vec::new());
        }
        if resource.label_selector.is_err() {
            resource.label_selector = Ok(Vec::new());
        }
    }
    key
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::authorizer::{ResourceAttributes, SelectorError, UserInfo};

    #[derive(Debug, Default)]
    struct Counting(AtomicUsize);

    impl Authorizer for Counting {
        fn authorize(&self, _: &AuthorizerAttributes) -> Decision {
            self.0.fetch_add(1, Ordering::Relaxed);
            Decision::default()
        }
    }

    #[test]
    fn each_question_is_asked_once() {
        let counting = Arc::new(Counting::default());
        let caching = CachingAuthorizer::new(Arc::clone(&counting) as Arc<dyn Authorizer>);
        let check = |groups: &[&str], verb: &str, selector: Option<&str>, expected: usize| {
            let resource = ResourceAttributes {
                label_selector: selector
                    .map_or(Ok(Vec::new()), |text| Err(SelectorError(text.to_owned()))),
                ..ResourceAttributes::default()
            };
            caching.authorize(&AuthorizerAttributes {
                user: Arc::new(UserInfo {
                    groups: groups.iter().map(|&group| group.to_owned()).collect(),
                    ..UserInfo::default()
                }),
                verb: verb.to_owned(),
                request: AuthorizerRequest::Resource(resource),
            });
            assert_eq!(counting.0.load(Ordering::Relaxed), expected);
        };
        check(&["a", "b"], "get", None, 1);
        check(&["a", "b"], "get", None, 1);
        check(&["b", "a"], "get", None, 1);
        check(&["a", "b"], "get", Some("unreadable"), 1);
        check(&["a", "b"], "list", None, 2);
        check(&["a"], "list", None, 3);
    }
}
