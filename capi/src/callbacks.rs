//! Callbacks: the host's authorizer, and look-ups of namespaces and params that the index does not have.

use std::io;
use std::sync::Arc;

use gavel_apimachinery::json;
use gavel_engine::value::{Json, Value};
use gavel_golang::utf8;
use gavel_libraries::authorizer::{Authorizer, AuthorizerAttributes, Decision, Verdict};
use gavel_policy::GroupVersionKind;
use gavel_protocol::asked_attributes;

use crate::error::{Failure, GavelError, GavelErrorKind, caught};
use crate::flat;
use crate::memory;
use crate::stack;

/// The verdict of an authorizer.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GavelVerdict {
    /// No opinion.
    NoOpinion = 0,
    /// The request is allowed.
    Allow = 1,
    /// The request is denied.
    Deny = 2,
}

/// Receives the host's answer in a callback. The reply is valid until the callback returns.
#[derive(Debug, Default)]
pub struct GavelReply {
    decision: Decision,
    value: Option<Json>,
    failure: Option<Failure>,
}

impl GavelReply {
    /// The object in the host's answer. `None` if the host gave no object.
    fn object(self) -> Result<Option<Json>, Failure> {
        self.failure.map_or(Ok(self.value), Err)
    }
}

/// Authorizes an action of a user. `attributes` is a JSON object: `verb`, `user` (the name), `resourceRequest`, and `path` or `apiGroup`,
/// `apiVersion`, `resource`, `subresource`, `namespace`, `name`, `fieldSelector`, `labelSelector`. `authorizer` is the number that the host
/// gave to the authorizer in the flat encoding. It is 0 for the authorizer of an admission request.
pub type GavelAuthorize = Option<
    unsafe extern "C" fn(
        context: usize,
        authorizer: u64,
        attributes: *const u8,
        attributes_len: usize,
        reply: *mut GavelReply,
    ),
>;

/// Looks up a namespace. The host answers with `gavel_reply_value` or `gavel_reply_failure`. If the namespace does not exist, the host
/// calls neither function.
pub type GavelFindNamespace = Option<
    unsafe extern "C" fn(context: usize, name: *const u8, name_len: usize, reply: *mut GavelReply),
>;

/// Looks up a param by kind and name for a policy of the index. It is not called for policies that the host passes to a call. The host
/// answers with `gavel_reply_value` or `gavel_reply_failure`. If the object does not exist, the host calls neither function. The namespace
/// is empty for requests without a namespace, and for kinds that the index knows to be cluster-scoped.
pub type GavelFindParam = Option<
    unsafe extern "C" fn(
        context: usize,
        api_version: *const u8,
        api_version_len: usize,
        kind: *const u8,
        kind_len: usize,
        param_namespace: *const u8,
        param_namespace_len: usize,
        name: *const u8,
        name_len: usize,
        reply: *mut GavelReply,
    ),
>;

/// Converts an object of a request, given as JSON text, to a kind. The host answers with `gavel_reply_value`, or with `gavel_reply_failure`,
/// whose message becomes the reason why the policy could not be evaluated. If the two kinds differ only in `apiVersion` and `kind`, the
/// host calls neither function. `context` is the context of the call's `GavelCallbacks`, or 0 if the call has no options. The rules of
/// `GavelCallbacks` apply.
pub type GavelConvert = Option<
    unsafe extern "C" fn(
        context: usize,
        object: *const u8,
        object_len: usize,
        api_version: *const u8,
        api_version_len: usize,
        kind: *const u8,
        kind_len: usize,
        reply: *mut GavelReply,
    ),
>;

/// Functions of the host. The library calls them on the thread that called the library, possibly on many threads at once. If this thread has
/// too little stack for the call, the library calls them on another thread, while this thread waits. The functions must not unwind.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct GavelCallbacks {
    /// A value that is passed to each function unchanged.
    pub context: usize,
    /// The authorizer. If it is null, the variable `authorizer` answers "no opinion" to every check.
    pub authorize: GavelAuthorize,
    /// Looks up namespaces that the index does not contain; may be null.
    pub find_namespace: GavelFindNamespace,
    /// Looks up params that the index does not contain; may be null.
    pub find_param: GavelFindParam,
}

impl GavelCallbacks {
    /// No callbacks.
    pub(crate) const NONE: GavelCallbacks = GavelCallbacks {
        context: 0,
        authorize: None,
        find_namespace: None,
        find_param: None,
    };

    /// The host's authorizer. `None` if the host has no authorizer.
    pub(crate) fn authorizer(&self, number: u64) -> Option<Arc<dyn Authorizer>> {
        self.authorize?;
        Some(Arc::new(HostAuthorizer {
            callbacks: *self,
            number,
        }))
    }

    /// Looks up a namespace with the host's callback. `None` if the namespace does not exist, or if the host has no callback.
    pub(crate) fn namespace(&self, name: &str) -> Result<Option<Json>, Failure> {
        let Some(find) = self.find_namespace else {
            return Ok(None);
        };
        let reply = stack::call_back(|| {
            let mut reply = GavelReply::default();
            // SAFETY: the host vouches for its function; text and reply live as long as the call.
            unsafe { find(self.context, name.as_ptr(), name.len(), &raw mut reply) };
            reply
        });
        reply.map_err(not_called)?.object()
    }

    /// Looks up a param with the host's callback. `None` if the param does not exist, or if the host has no callback.
    pub(crate) fn param(
        &self,
        kind: [&str; 2],
        namespace: &str,
        name: &str,
    ) -> Result<Option<Json>, Failure> {
        let Some(find) = self.find_param else {
            return Ok(None);
        };
        let [version, kind] = kind;
        let reply = stack::call_back(|| {
            let mut reply = GavelReply::default();
            // SAFETY: the host vouches for its function; texts and reply live as long as the call.
            unsafe {
                find(
                    self.context,
                    version.as_ptr(),
                    version.len(),
                    kind.as_ptr(),
                    kind.len(),
                    namespace.as_ptr(),
                    namespace.len(),
                    name.as_ptr(),
                    name.len(),
                    &raw mut reply,
                );
            }
            reply
        });
        reply.map_err(not_called)?.object()
    }
}

/// Converts an object to a kind with the host's function. `None` if the host does not convert it.
pub(crate) fn converted(
    convert: GavelConvert,
    context: usize,
    object: Value<'_>,
    kind: &GroupVersionKind,
) -> Result<Option<Json>, String> {
    let Some(convert) = convert else {
        return Ok(None);
    };
    let object = object.to_json().ok_or("the object is not JSON")?;
    let (text, version) = (json::to_string(&object), kind.api_version());
    let reply = stack::call_back(|| {
        let mut reply = GavelReply::default();
        // SAFETY: the host vouches for its function; texts and reply live as long as the call.
        unsafe {
            convert(
                context,
                text.as_ptr(),
                text.len(),
                version.as_ptr(),
                version.len(),
                kind.kind.as_ptr(),
                kind.kind.len(),
                &raw mut reply,
            );
        }
        reply
    });
    let converted = reply.map_err(not_called).and_then(GavelReply::object);
    converted.map_err(|failure| failure.message().to_owned())
}

/// The error of a callback that could not be called.
fn not_called(error: io::Error) -> Failure {
    let message = format!("cannot run the callback on a thread: {error}");
    GavelError::new(GavelErrorKind::MemoryLimit, message)
}

/// An authorizer of the host.
#[derive(Debug)]
struct HostAuthorizer {
    callbacks: GavelCallbacks,
    number: u64,
}

impl Authorizer for HostAuthorizer {
    fn authorize(&self, attributes: &AuthorizerAttributes) -> Decision {
        let Some(authorize) = self.callbacks.authorize else {
            return Decision::default();
        };
        let attributes_json = Json::Object(asked_attributes(attributes)).to_string();
        let context = self.callbacks.context;
        let reply = stack::call_back(|| {
            let mut reply = GavelReply::default();
            // SAFETY: the host vouches for its function; text and reply live as long as the call.
            unsafe {
                authorize(
                    context,
                    self.number,
                    attributes_json.as_ptr(),
                    attributes_json.len(),
                    &raw mut reply,
                );
            }
            reply
        });
        match reply {
            Ok(reply) => reply.decision,
            Err(error) => Decision {
                error: Some(not_called(error).message().to_owned()),
                ..Decision::default()
            },
        }
    }
}

/// Answers a call of `GavelAuthorize`. `reason` and `error` are texts that may be empty; each byte that is not part of valid UTF-8 becomes
/// U+FFFD.
///
/// # Safety
///
/// `reply` must belong to the running callback, `verdict` must be one of the three verdicts, and `reason` and `error` must point to as many
/// bytes as their lengths say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gavel_reply_decision(
    reply: *mut GavelReply,
    verdict: GavelVerdict,
    reason: *const u8,
    reason_len: usize,
    error: *const u8,
    error_len: usize,
) {
    // SAFETY: the caller vouches for the reply, which no other thread uses.
    let Some(reply) = (unsafe { reply.as_mut() }) else {
        return;
    };
    // SAFETY: the caller vouches for the text.
    let reason = unsafe { memory::bytes(reason, reason_len) };
    // SAFETY: the caller vouches for the text.
    let error = unsafe { memory::bytes(error, error_len) };
    reply.decision = Decision {
        verdict: match verdict {
            GavelVerdict::NoOpinion => Verdict::NoOpinion,
            GavelVerdict::Allow => Verdict::Allow,
            GavelVerdict::Deny => Verdict::Deny,
        },
        reason: utf8::lossy(reason),
        error: (!error.is_empty()).then(|| utf8::lossy(error)),
    };
}

/// Answers a look-up with an object in the flat encoding. If the object cannot be decoded, the function that the host called fails.
///
/// # Safety
///
/// `reply` must belong to the running callback, and `data` must point to `len` bytes, in which all handles are valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gavel_reply_value(reply: *mut GavelReply, data: *const u8, len: usize) {
    // SAFETY: the caller vouches for the reply, which no other thread uses.
    let Some(reply) = (unsafe { reply.as_mut() }) else {
        return;
    };
    // SAFETY: the caller vouches for the bytes.
    let bytes = unsafe { memory::bytes(data, len) };
    // SAFETY: the caller vouches for the handles within the bytes.
    match caught(stack::OTHER, || unsafe { flat::read_json(bytes) }) {
        Ok(value) => reply.value = Some(value),
        Err(failure) => reply.failure = Some(failure.within("an object of the host")),
    }
}

/// Answers that a look-up failed. The function that the host called fails with this message.
///
/// # Safety
///
/// `reply` must belong to the running callback, and `message` must point to `message_len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gavel_reply_failure(
    reply: *mut GavelReply,
    message: *const u8,
    message_len: usize,
) {
    // SAFETY: the caller vouches for the reply, which no other thread uses.
    let Some(reply) = (unsafe { reply.as_mut() }) else {
        return;
    };
    // SAFETY: the caller vouches for the text.
    let message = unsafe { memory::bytes(message, message_len) };
    let failure = GavelError::new(GavelErrorKind::Argument, utf8::lossy(message));
    reply.failure = Some(failure);
}
