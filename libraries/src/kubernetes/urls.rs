//! URLs (apiserver `pkg/cel/library/urls.go`).

use gavel_engine::cost::Cost;
use gavel_engine::cost::formulas::{nth, traversal};
use gavel_engine::decl::{CallContext, Overload};
use gavel_engine::error::EvalError;
use gavel_engine::value::{MapBuilder, Value};
use gavel_golang::url::Url;

use super::typed;
use super::values::url::UrlValue;

/// The functions.
#[rustfmt::skip] // A table: a row a line.
pub const URLS: &[Overload] = &[
    typed("url", "string_to_url", "(string) -> kubernetes.URL", url, PARSE, "url('http://h/a b') == url('http://h/a%20b')"),
    typed("getScheme", "url_get_scheme", "kubernetes.URL.() -> string", scheme, GET, "url('https://example.com/').getScheme() == 'https'"),
    typed("getHost", "url_get_host", "kubernetes.URL.() -> string", host, GET, "url('https://example.com:80/').getHost() == 'example.com:80'"),
    typed("getHostname", "url_get_hostname", "kubernetes.URL.() -> string", hostname, GET, "url('https://[::1]:80/').getHostname() == '::1'"),
    typed("getPort", "url_get_port", "kubernetes.URL.() -> string", port, GET, "url('https://example.com:80/').getPort() == '80'"),
    typed("getEscapedPath", "url_get_escaped_path", "kubernetes.URL.() -> string", escaped_path, GET, "url('https://h/with space/').getEscapedPath() == '/with%20space/'"),
    typed("getQuery", "url_get_query", "kubernetes.URL.() -> map(string, list(string))", query, GET, "url('/?k=a&k=b').getQuery() == {'k': ['a', 'b']}"),
    typed("isURL", "is_url_string", "(string) -> bool", is_url, Cost::ONE, "isURL('/absolute') && !isURL('relative')"),
];

/// The text is read; a URL is as long as its text.
const PARSE: Cost = Cost::sizes(|sizes| traversal(sizes).with_result(nth(sizes, 0))).of_name();
const GET: Cost = Cost::ONE.of_name();

fn url<'a>(call: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [Value::String(text)] = args else {
        return Err(EvalError::no_such_overload());
    };
    match Url::parse(text) {
        Ok(url) => Ok(call.arena.opaque(UrlValue(url))),
        Err(error) => Err(EvalError::new(format!(
            "URL parse error during conversion from string: {error}"
        ))),
    }
}

fn is_url<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    match args {
        [Value::String(text)] => Ok(Value::Bool(Url::check_request_uri(text).is_ok())),
        _ => Err(EvalError::no_such_overload()),
    }
}

fn scheme<'a>(call: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    Ok(call.arena.string(receiver(args)?.scheme()))
}

fn host<'a>(call: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    Ok(call.arena.string(&receiver(args)?.host()))
}

fn hostname<'a>(call: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    Ok(call.arena.string(&receiver(args)?.hostname()))
}

fn port<'a>(call: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    Ok(call.arena.string(&receiver(args)?.port()))
}

fn escaped_path<'a>(call: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    Ok(call.arena.string(receiver(args)?.escaped_path()))
}

/// The values by their keys, each key's in their order.
fn query<'a>(call: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let mut pairs: Vec<_> = receiver(args)?.query().collect();
    pairs.sort_by(|(left, _), (right, _)| left.cmp(right));
    let mut map = MapBuilder::new();
    for same_key in pairs.chunk_by(|(left, _), (right, _)| left == right) {
        let values: Vec<_> = same_key
            .iter()
            .map(|(_, value)| call.arena.string(value))
            .collect();
        if let [(key, _), ..] = same_key {
            map.insert(call.arena.string(key), call.arena.list(&values));
        }
    }
    Ok(map.build(call.arena))
}

fn receiver<'a>(args: &[Value<'a>]) -> Result<&'a Url, EvalError> {
    match args {
        [Value::Opaque(url)] => url.downcast_ref().map(|UrlValue(url)| url),
        _ => None,
    }
    .ok_or_else(EvalError::no_such_overload)
}
