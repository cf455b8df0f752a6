//! Parses URLs (Go's `net/url`, `parse`).

use std::borrow::Cow;

use memchr::{memchr, memrchr};

use super::escape::{Part, decode, encode, is_plain, written};
use super::{Span, Url, UrlFault, rsplit_once, split_once};
use crate::netip::parse_address;
use crate::quote::quote;

/// The rules for reading a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// The URL of an HTTP request: `//host` is a path, `#` an ordinary character.
    Request,
    /// A reference without its fragment.
    Reference,
}

/// Reads a URL without a fragment.
pub(super) fn parse(text: &str, mode: Mode) -> Result<Url, UrlFault> {
    let has_control = text
        .bytes()
        .fold(false, |found, byte| found | byte.is_ascii_control());
    if has_control {
        return Err(UrlFault::Known("net/url: invalid control character in URL"));
    }
    if text.is_empty() && mode == Mode::Request {
        return Err(UrlFault::Known("empty url"));
    }
    let mut url = Url {
        text: String::with_capacity(text.len()),
        ..Url::default()
    };
    if text == "*" {
        url.path = push(text, &mut url.text);
        return Ok(url);
    }
    let (scheme, rest) = split_scheme(text)?;
    let (rest, query) = match split_once(rest, b'?') {
        Some((rest, query)) => (rest, Some(query)),
        None => (rest, None),
    };
    if !scheme.is_empty() {
        url.scheme = push(scheme, &mut url.text);
        url.text.make_ascii_lowercase();
        url.text.push(':');
    }
    if !rest.starts_with('/') && !scheme.is_empty() {
        url.text.push_str(rest);
    } else if !rest.starts_with('/') && mode == Mode::Request {
        return Err(UrlFault::Known("invalid URI for request"));
    } else if rest.bytes().find(|byte| b"/:".contains(byte)) == Some(b':') {
        let message = "first path segment in URL cannot contain colon";
        return Err(UrlFault::Known(message));
    } else {
        parse_hierarchy(&mut url, rest, mode)?;
    }
    if let Some(query) = query {
        url.text.push('?');
        url.query = push(query, &mut url.text);
    }
    Ok(url)
}

/// Adds a part to the text, and returns its range.
fn push(part: &str, text: &mut String) -> Span {
    let start = text.len();
    text.push_str(part);
    (start, text.len())
}

/// Reads `//user@host/path` or a path.
fn parse_hierarchy(url: &mut Url, rest: &str, mode: Mode) -> Result<(), UrlFault> {
    let has_scheme = !url.text.is_empty();
    let has_authority = has_scheme || (mode == Mode::Reference && !rest.starts_with("///"));
    let path = match rest.strip_prefix("//").filter(|_| has_authority) {
        Some(rest) => {
            let (authority, path) =
                rest.split_at(memchr(b'/', rest.as_bytes()).unwrap_or(rest.len()));
            if !authority.is_empty() || (has_scheme && !path.is_empty()) {
                url.text.push_str("//");
            }
            parse_authority(url, authority)?;
            path
        }
        None => rest,
    };
    url.path = written(path, Part::Path, &mut url.text)?;
    Ok(())
}

/// Splits a text after its scheme, such as `https:`. The scheme is empty if the text has none.
fn split_scheme(text: &str) -> Result<(&str, &str), UrlFault> {
    let ends = |byte: u8| !(byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'));
    let end = text.bytes().position(ends);
    match end.and_then(|end| text.split_at_checked(end)) {
        Some(("", rest)) if rest.starts_with(':') => {
            Err(UrlFault::Known("missing protocol scheme"))
        }
        Some((scheme, rest)) if scheme.starts_with(|c: char| c.is_ascii_alphabetic()) => Ok(rest
            .strip_prefix(':')
            .map_or(("", text), |rest| (scheme, rest))),
        _ => Ok(("", text)),
    }
}

/// Reads `user@host`.
fn parse_authority(url: &mut Url, authority: &str) -> Result<(), UrlFault> {
    let (user, host) = match rsplit_once(authority, b'@') {
        Some((user, host)) => (Some(user), host),
        None => (None, authority),
    };
    let host = parse_host(url.scheme(), host)?;
    if let Some(user) = user {
        url.user = Some(parse_user(user, &mut url.text)?);
        url.text.push('@');
    }
    let start = url.text.len();
    match host {
        Host::Plain(host) => url.text.push_str(host),
        Host::Decoded(host) => encode(&host, Part::Host, &mut url.text),
    }
    url.host = (start, url.text.len());
    Ok(())
}

/// Adds `name:password` to the text.
fn parse_user(user: &str, text: &mut String) -> Result<Span, UrlFault> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&byte);
    if !user.bytes().all(allowed) {
        return Err(UrlFault::Known("net/url: invalid userinfo"));
    }
    let start = text.len();
    match user.split_once(':') {
        Some((name, password)) => {
            written(name, Part::User, text)?;
            text.push(':');
            written(password, Part::User, text)?;
        }
        None => {
            written(user, Part::User, text)?;
        }
    }
    Ok((start, text.len()))
}

/// A host with its port.
enum Host<'t> {
    /// A host that contains no escapes and needs none.
    Plain(&'t str),
    /// The bytes of any other host.
    Decoded(Cow<'t, [u8]>),
}

/// Reads the host.
fn parse_host<'t>(scheme: &str, host: &'t str) -> Result<Host<'t>, UrlFault> {
    match memrchr(b'[', host.as_bytes()) {
        Some(0) => return parse_ip_literal(host).map(Host::Decoded),
        Some(_) => return Err(UrlFault::Known("invalid IP-literal")),
        None => {}
    }
    // An additional colon is part of the host, except in HTTP URLs, where it is an error.
    let parts = match scheme {
        "http" | "https" => split_once(host, b':'),
        _ => rsplit_once(host, b':'),
    };
    if let Some((_, port)) = parts {
        check_port(port)?;
    }
    match is_plain(host, Part::Host) {
        true => Ok(Host::Plain(host)),
        false => decode(host, Part::Host).map(Host::Decoded),
    }
}

/// Reads `[::1%25eth0]:80`.
fn parse_ip_literal(host: &str) -> Result<Cow<'_, [u8]>, UrlFault> {
    let inner = host
        .strip_prefix('[')
        .and_then(|rest| rest.rsplit_once(']'));
    let (address, port) = inner.ok_or(UrlFault::Known("missing ']' in host"))?;
    match port.strip_prefix(':') {
        Some(digits) => check_port(digits)?,
        None if port.is_empty() => {}
        None => return Err(UrlFault::Port(quote(port))),
    }
    let zone = address.find("%25").unwrap_or(address.len());
    let (address, zone) = address.split_at(zone);
    let address = [decode(address, Part::Host)?, decode(zone, Part::Zone)?].concat();
    match parse_address(&address) {
        Err(error) => return Err(UrlFault::Host(error.to_string())),
        Ok(parsed) if parsed.address.is_ipv4() => {
            return Err(UrlFault::Known("invalid IP-literal"));
        }
        Ok(_) => {}
    }
    let host = [b"[", address.as_slice(), b"]", port.as_bytes()];
    Ok(Cow::Owned(host.concat()))
}

/// Rejects a port that is not a number.
fn check_port(port: &str) -> Result<(), UrlFault> {
    match is_number(port) {
        true => Ok(()),
        false => Err(UrlFault::Port(quote(format!(":{port}")))),
    }
}

/// Whether a text consists only of digits; it may be empty.
pub(super) fn is_number(port: &str) -> bool {
    port.bytes().all(|byte| byte.is_ascii_digit())
}
