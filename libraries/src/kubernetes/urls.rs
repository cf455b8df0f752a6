//! URLs (apiserver `pkg/cel/library/urls.go`).

use std::borrow::Cow;

use gavel_engine::body;
use gavel_engine::cost::Cost;
use gavel_engine::cost::formulas;
use gavel_engine::decl::{CallContext, Form, Overload, Reads, row};
use gavel_engine::error::EvalError;
use gavel_engine::value::{Map, Value};
use gavel_golang::url::Url;
use smallvec::SmallVec;

use super::values::url::UrlValue;

/// The functions of URLs.
#[rustfmt::skip] // One row per line.
pub const URLS: &[Overload] = &[
    row("url", "string_to_url", "(string) -> kubernetes.URL", body!(url), "url('http://h/a b') == url('http://h/a%20b')").form(Form::Parse).cost(PARSE),
    row("getScheme", "url_get_scheme", "kubernetes.URL.() -> string", body!(scheme), "url('https://example.com/').getScheme() == 'https'").cost(GET).reads(Reads::All),
    row("getHost", "url_get_host", "kubernetes.URL.() -> string", body!(host), "url('https://example.com:80/').getHost() == 'example.com:80'").cost(GET).reads(Reads::All),
    row("getHostname", "url_get_hostname", "kubernetes.URL.() -> string", body!(hostname), "url('https://[::1]:80/').getHostname() == '::1'").cost(GET).reads(Reads::All),
    row("getPort", "url_get_port", "kubernetes.URL.() -> string", body!(port), "url('https://example.com:80/').getPort() == '80'").cost(GET).reads(Reads::All),
    row("getEscapedPath", "url_get_escaped_path", "kubernetes.URL.() -> string", body!(escaped_path), "url('https://h/with space/').getEscapedPath() == '/with%20space/'").cost(GET).reads(Reads::All),
    row("getQuery", "url_get_query", "kubernetes.URL.() -> map(string, list(string))", body!(query), "url('/?k=a&k=b').getQuery() == {'k': ['a', 'b']}").cost(GET).reads(Reads::All),
    row("isURL", "is_url_string", "(string) -> bool", body!(is_url), "isURL('/absolute') && !isURL('relative')"),
];

/// The cost of reading a text. The size of a URL is the length of its text.
const PARSE: Cost = formulas::COPY.of_name();
const GET: Cost = Cost::ONE.of_name();

fn url<'a>(call: &CallContext<'a>, text: &str) -> Result<Value<'a>, EvalError> {
    match Url::parse(text) {
        Ok(url) => Ok(call.arena.opaque(UrlValue(url))),
        Err(error) => Err(EvalError::new(format!(
            "URL parse error during conversion from string: {error}"
        ))),
    }
}

fn is_url(text: &str) -> bool {
    Url::check_request_uri(text).is_ok()
}

fn scheme(UrlValue(url): &UrlValue) -> &str {
    url.scheme()
}

fn host<'a>(call: &CallContext<'a>, UrlValue(url): &'a UrlValue) -> Result<&'a str, EvalError> {
    call.work(url.as_str().len())?;
    Ok(text(url.host(), call))
}

fn hostname<'a>(call: &CallContext<'a>, UrlValue(url): &'a UrlValue) -> Result<&'a str, EvalError> {
    call.work(url.as_str().len())?;
    Ok(text(url.hostname(), call))
}

fn port<'a>(call: &CallContext<'a>, UrlValue(url): &'a UrlValue) -> Result<&'a str, EvalError> {
    call.work(url.as_str().len())?;
    Ok(url.port())
}

fn escaped_path(UrlValue(url): &UrlValue) -> &str {
    url.escaped_path()
}

/// The values of the query, grouped by key; the values of a key keep their order.
fn query<'a>(call: &CallContext<'a>, UrlValue(url): &'a UrlValue) -> Value<'a> {
    let pairs = url.query();
    let pairs = pairs.map(|(key, value)| (text(key, call), text(value, call)));
    let mut pairs: SmallVec<[_; 4]> = pairs.collect();
    pairs.sort_by_key(|(key, _)| *key);
    let groups = pairs.chunk_by(|(left, _), (right, _)| left == right);
    let entries = groups.filter_map(|group| {
        let (key, _) = group.first()?;
        let values = group.iter().map(|(_, value)| Value::from(*value));
        let values = call.arena.bump().alloc_slice_fill_iter(values);
        Some((*key, Value::from(&*values)))
    });
    Map::of_texts(entries, call.arena).into()
}

/// The text of a part of a URL, as long-lived as the arena. The text is copied into the arena only if it had to be decoded.
fn text<'a>(text: Cow<'a, str>, call: &CallContext<'a>) -> &'a str {
    match text {
        Cow::Borrowed(text) => text,
        Cow::Owned(text) => call.arena.bump().alloc_str(&text),
    }
}
