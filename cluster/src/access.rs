//! Authorization by the cluster: SubjectAccessReviews, cached as kube-apiserver's webhook authorizer caches them (apiserver
//! `plugin/pkg/authorizer/webhook/webhook.go`).

use std::hash::{BuildHasher, RandomState};
use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use gavel_libraries::authorizer::{
    AuthorizerAttributes, AuthorizerRequest, Decision, FieldRequirement, LabelOperator,
    LabelRequirement, ResourceAttributes, Verdict,
};
use kube::Client;
use kube::core::Request;
use lru::LruCache;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use crate::client::bytes;

/// The number of cached decisions.
const DECISIONS: NonZeroUsize = NonZeroUsize::new(8192).expect("8192 is not zero");
/// Decisions are cached only if their reason has at most this many bytes, so that the cache stays small.
const LONGEST_REASON: usize = 512;

/// How long decisions are cached.
#[derive(Debug, Clone, Copy)]
pub struct AuthorizerCache {
    /// How long decisions that allow are cached.
    pub authorized: Duration,
    /// How long all other decisions are cached.
    pub unauthorized: Duration,
}

impl Default for AuthorizerCache {
    fn default() -> Self {
        AuthorizerCache {
            authorized: Duration::from_secs(300),
            unauthorized: Duration::from_secs(30),
        }
    }
}

/// Asks the API server, and caches its decisions.
pub(crate) struct Access {
    client: Client,
    cache: AuthorizerCache,
    decisions: Decisions,
}

impl Access {
    pub(crate) fn new(client: Client, cache: AuthorizerCache) -> Self {
        Access {
            client,
            cache,
            decisions: Decisions::default(),
        }
    }

    /// The cached decision for a request, if there is one.
    pub(crate) fn known(&self, question: &AuthorizerAttributes) -> Option<Decision> {
        self.decisions.known(question)
    }

    /// Asks the API server for a decision.
    ///
    /// # Errors
    ///
    /// The API server is unreachable, or rejects the question.
    pub(crate) async fn ask(&self, question: &AuthorizerAttributes) -> kube::Result<Decision> {
        let decision = self.review(&spec(question)).await?.decision();
        self.keep(question, &decision);
        Ok(decision)
    }

    async fn review(&self, spec: &Json) -> kube::Result<Status> {
        let review = json!({
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": spec,
        });
        let request = Request::new("/apis/authorization.k8s.io/v1/subjectaccessreviews");
        let body = bytes(&review)?;
        let request = request.create(&kube::api::PostParams::default(), body);
        let request = request.map_err(kube::Error::BuildRequest)?;
        let answer: Review = self.client.request(request).await?;
        Ok(answer.status)
    }

    fn keep(&self, question: &AuthorizerAttributes, decision: &Decision) {
        let time = match decision.verdict {
            Verdict::Allow => self.cache.authorized,
            Verdict::Deny | Verdict::NoOpinion => self.cache.unauthorized,
        };
        self.decisions.keep(question, decision, time);
    }
}

/// Cached decisions. Questions contain texts of users, which can be long, so the cache holds only their hashes. The keys of the hashes are
/// random and secret, so that nobody can find two questions with the same hash.
struct Decisions {
    hashers: [RandomState; 2],
    /// The decision for the hash of each question, with the time at which it expires.
    kept: Mutex<LruCache<[u64; 2], (Instant, Decision)>>,
}

impl Default for Decisions {
    fn default() -> Self {
        Decisions {
            hashers: Default::default(),
            kept: Mutex::new(LruCache::new(DECISIONS)),
        }
    }
}

impl Decisions {
    fn known(&self, question: &AuthorizerAttributes) -> Option<Decision> {
        let hash = self.hash(question);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let (until, decision) = kept.get(&hash)?;
        match Instant::now() < *until {
            true => Some(decision.clone()),
            false => {
                kept.pop(&hash);
                None
            }
        }
    }

    /// Keeps a decision for this time, unless it is an error (`shouldCache`) or has a long reason.
    fn keep(&self, question: &AuthorizerAttributes, decision: &Decision, time: Duration) {
        if decision.error.is_some() || decision.reason.len() > LONGEST_REASON {
            return;
        }
        if let Some(until) = Instant::now().checked_add(time) {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.put(self.hash(question), (until, decision.clone()));
        }
    }

    fn hash(&self, question: &AuthorizerAttributes) -> [u64; 2] {
        self.hashers
            .each_ref()
            .map(|hasher| hasher.hash_one(question))
    }
}

/// The message of an error. If the API server answered, this is the server's own message.
pub(crate) fn message(error: kube::Error) -> String {
    match error {
        kube::Error::Api(status) => status.message,
        error => {
            let message = error.to_string();
            let mut message = message.replacen("ServiceError: ", "", 1);
            let mut cause = std::error::Error::source(&error);
            while let Some(error) = cause {
                let next = error.to_string();
                if !message.contains(&next) {
                    message = format!("{message}: {next}");
                }
                cause = error.source();
            }
            message
        }
    }
}

#[derive(Deserialize)]
struct Review {
    #[serde(default)]
    status: Status,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Status {
    allowed: bool,
    denied: bool,
    reason: String,
    evaluation_error: String,
}

impl Status {
    fn decision(self) -> Decision {
        let both = "webhook subject access review returned both allow and deny response";
        let (verdict, error) = match (self.denied, self.allowed) {
            (true, true) => (Verdict::Deny, Some(both.to_owned())),
            (true, false) => (Verdict::Deny, None),
            (false, true) => (Verdict::Allow, None),
            (false, false) => (Verdict::NoOpinion, None),
        };
        // This error comes from the API server's own authorizers. A check within the API server would return it too.
        let evaluation = Some(self.evaluation_error).filter(|error| !error.is_empty());
        Decision {
            verdict,
            reason: self.reason,
            error: error.or(evaluation),
        }
    }
}

/// The `spec` of a SubjectAccessReview. Empty fields are omitted.
fn spec(question: &AuthorizerAttributes) -> Json {
    let AuthorizerAttributes {
        user,
        verb,
        request,
    } = question;
    let mut spec =
        json!({"user": user.name, "uid": user.uid, "groups": user.groups, "extra": user.extra});
    let (field, value) = match request {
        AuthorizerRequest::Path(path) => {
            ("nonResourceAttributes", json!({"path": path, "verb": verb}))
        }
        AuthorizerRequest::Resource(resource) => {
            ("resourceAttributes", resource_attributes(verb, resource))
        }
    };
    if let Some(fields) = spec.as_object_mut() {
        fields.retain(|_, value| !is_empty(value));
        fields.insert(field.to_owned(), value);
    }
    spec
}

fn resource_attributes(verb: &str, resource: &ResourceAttributes) -> Json {
    let fields = resource.field_selector.iter().flatten();
    let fields: Vec<Json> = fields.map(field_requirement).collect();
    let labels = resource.label_selector.iter().flatten();
    let labels: Vec<Json> = labels.filter_map(label_requirement).collect();
    let mut attributes = json!({
        "namespace": resource.namespace, "verb": verb, "group": resource.api_group, "version": resource.api_version,
        "resource": resource.resource, "subresource": resource.subresource, "name": resource.name,
        "fieldSelector": if fields.is_empty() { json!({}) } else { json!({"requirements": fields}) },
        "labelSelector": if labels.is_empty() { json!({}) } else { json!({"requirements": labels}) },
    });
    if let Some(fields) = attributes.as_object_mut() {
        fields.retain(|_, value| !is_empty(value));
    }
    attributes
}

fn is_empty(value: &Json) -> bool {
    match value {
        Json::String(text) => text.is_empty(),
        Json::Array(list) => list.is_empty(),
        Json::Object(map) => map.is_empty(),
        _ => false,
    }
}

fn field_requirement(requirement: &FieldRequirement) -> Json {
    let operator = if requirement.equal { "In" } else { "NotIn" };
    json!({"key": requirement.field, "operator": operator, "values": [requirement.value]})
}

/// Converts a requirement to the form of a SubjectAccessReview. `None` if a review cannot express the requirement. Omitting such a
/// requirement is safe, because selectors only narrow a request.
fn label_requirement(requirement: &LabelRequirement) -> Option<Json> {
    let operator = match requirement.operator {
        LabelOperator::Exists => "Exists",
        LabelOperator::DoesNotExist => "DoesNotExist",
        LabelOperator::Equals | LabelOperator::DoubleEquals | LabelOperator::In => "In",
        LabelOperator::NotEquals | LabelOperator::NotIn => "NotIn",
        LabelOperator::GreaterThan | LabelOperator::LessThan => return None,
    };
    let (key, values) = (&requirement.key, &requirement.values);
    Some(match values.is_empty() {
        true => json!({"key": key, "operator": operator}),
        false => json!({"key": key, "operator": operator, "values": values}),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use gavel_libraries::authorizer::{UserInfo, parse_field_selector, parse_label_selector};

    use super::*;

    #[test]
    fn questions_are_written_as_upstream_writes_them() {
        let user = UserInfo::service_account("ns", "sa");
        let mut question = AuthorizerAttributes {
            user: Arc::new(user),
            verb: "list".to_owned(),
            request: AuthorizerRequest::Resource(ResourceAttributes {
                resource: "pods".to_owned(),
                namespace: "ns".to_owned(),
                field_selector: parse_field_selector("spec.nodeName=n1"),
                label_selector: parse_label_selector("app,tier!=x"),
                ..ResourceAttributes::default()
            }),
        };
        let expected = json!({
            "user": "system:serviceaccount:ns:sa",
            "groups": ["system:serviceaccounts", "system:serviceaccounts:ns"],
            "resourceAttributes": {
                "namespace": "ns", "verb": "list", "version": "*", "resource": "pods",
                "fieldSelector": {"requirements": [{"key": "spec.nodeName", "operator": "In", "values": ["n1"]}]},
                "labelSelector": {"requirements": [
                    {"key": "app", "operator": "Exists"},
                    {"key": "tier", "operator": "NotIn", "values": ["x"]},
                ]},
            },
        });
        assert_eq!(spec(&question), expected);
        question.request = AuthorizerRequest::Path("/healthz".to_owned());
        let expected = json!({"path": "/healthz", "verb": "list"});
        assert_eq!(spec(&question)["nonResourceAttributes"], expected);
    }

    #[test]
    fn decisions_are_kept_for_their_time_without_the_texts_of_questions() {
        let question = |group: &str| AuthorizerAttributes {
            user: Arc::new(UserInfo {
                groups: vec![group.to_owned(), "x".repeat(1 << 20)],
                ..UserInfo::default()
            }),
            verb: "list".to_owned(),
            request: AuthorizerRequest::Path("/".to_owned()),
        };
        let decision = |bytes: usize, error: Option<&str>| Decision {
            verdict: Verdict::Allow,
            reason: "r".repeat(bytes),
            error: error.map(str::to_owned),
        };
        let check = |decision: &Decision, seconds: u64, is_kept: bool| {
            let (decisions, asked) = (Decisions::default(), question("a"));
            decisions.keep(&asked, decision, Duration::from_secs(seconds));
            let known = decisions.known(&question("a"));
            assert_eq!(known.as_ref(), is_kept.then_some(decision));
            assert_eq!(decisions.known(&question("b")), None);
            assert_eq!(Arc::strong_count(&asked.user), 1);
        };
        check(&decision(LONGEST_REASON, None), 60, true);
        check(&decision(0, None), 0, false);
        check(&decision(0, Some("e")), 60, false);
        check(&decision(LONGEST_REASON + 1, None), 60, false);
    }

    #[test]
    fn an_answer_is_a_decision() {
        let check = |status: Json, verdict, error: Option<&str>| {
            let status: Status = serde_json::from_value(status).unwrap();
            let decision = status.decision();
            assert_eq!(decision.verdict, verdict);
            assert_eq!(decision.error.as_deref(), error);
        };
        check(json!({"allowed": true}), Verdict::Allow, None);
        check(json!({"allowed": false}), Verdict::NoOpinion, None);
        check(json!({"denied": true}), Verdict::Deny, None);
        let both = "webhook subject access review returned both allow and deny response";
        check(
            json!({"denied": true, "allowed": true}),
            Verdict::Deny,
            Some(both),
        );
        check(
            json!({"evaluationError": "e"}),
            Verdict::NoOpinion,
            Some("e"),
        );
    }
}
