//! From text to a URL (Go's `net/url`, `parse`).

use super::escape::{Part, decode, encode, encoded};
use super::{Url, UrlFault};
use crate::netip::parse_address;
use crate::quote::quote;

/// How a text is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// As in a request for it: `//host` is a path, `#` an ordinary character.
    Request,
    /// As a reference without its fragment.
    Reference,
}

/// Reads a URL without a fragment.
pub(super) fn parse(text: &str, mode: Mode) -> Result<Url, UrlFault> {
    if text.bytes().any(|byte| byte.is_ascii_control()) {
        return Err(UrlFault::Known("net/url: invalid control character in URL"));
    }
    if text.is_empty() && mode == Mode::Request {
        return Err(UrlFault::Known("empty url"));
    }
    let mut url = Url::default();
    if text == "*" {
        url.escaped_path = text.to_owned();
        url.text = text.to_owned();
        return Ok(url);
    }
    let (scheme, rest) = split_scheme(text)?;
    url.scheme = scheme.to_ascii_lowercase();
    let (rest, query) = match rest.split_once('?') {
        Some((rest, query)) => (rest, Some(query)),
        None => (rest, None),
    };
    query.unwrap_or_default().clone_into(&mut url.raw_query);
    if !url.scheme.is_empty() {
        url.text = format!("{}:", url.scheme);
    }
    if !rest.starts_with('/') && !url.scheme.is_empty() {
        url.text.push_str(rest);
    } else if !rest.starts_with('/') && mode == Mode::Request {
        return Err(UrlFault::Known("invalid URI for request"));
    } else if rest
        .split('/')
        .next()
        .is_some_and(|segment| segment.contains(':'))
    {
        let message = "first path segment in URL cannot contain colon";
        return Err(UrlFault::Known(message));
    } else {
        parse_hierarchy(&mut url, rest, mode)?;
    }
    if let Some(query) = query {
        url.text.push('?');
        url.text.push_str(query);
    }
    Ok(url)
}

/// Reads `//user@host/path` or a path.
fn parse_hierarchy(url: &mut Url, rest: &str, mode: Mode) -> Result<(), UrlFault> {
    let has_authority =
        !url.scheme.is_empty() || (mode == Mode::Reference && !rest.starts_with("///"));
    let path = match rest.strip_prefix("//").filter(|_| has_authority) {
        Some(rest) => {
            let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            let (user, host) = parse_authority(&url.scheme, authority)?;
            url.host = host;
            if !url.host.is_empty()
                || user.is_some()
                || (!url.scheme.is_empty() && !path.is_empty())
            {
                url.text.push_str("//");
            }
            if let Some(user) = &user {
                url.text.push_str(user);
                url.text.push('@');
            }
            url.user = user;
            url.text.push_str(&encode(&url.host, Part::Host));
            path
        }
        None => rest,
    };
    url.escaped_path = encoded(path, Part::Path)?;
    url.text.push_str(&url.escaped_path);
    Ok(())
}

/// What is before the first `:`, if it is a scheme, and what is after it.
fn split_scheme(text: &str) -> Result<(&str, &str), UrlFault> {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')));
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

/// The user, encoded, and the host, decoded.
fn parse_authority(scheme: &str, authority: &str) -> Result<(Option<String>, Vec<u8>), UrlFault> {
    let Some((user, host)) = authority.rsplit_once('@') else {
        return Ok((None, parse_host(scheme, authority)?));
    };
    let host = parse_host(scheme, host)?;
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&byte);
    if !user.bytes().all(allowed) {
        return Err(UrlFault::Known("net/url: invalid userinfo"));
    }
    let anew = |text: &str| Ok(encode(&decode(text, Part::User)?, Part::User));
    let user = match user.split_once(':') {
        Some((name, password)) => format!("{}:{}", anew(name)?, anew(password)?),
        None => anew(user)?,
    };
    Ok((Some(user), host))
}

fn parse_host(scheme: &str, host: &str) -> Result<Vec<u8>, UrlFault> {
    match host.rfind('[') {
        Some(0) => return parse_ip_literal(host),
        Some(_) => return Err(UrlFault::Known("invalid IP-literal")),
        None => {}
    }
    // A colon too many is part of the host, except where that is surely wrong.
    let colon = match scheme {
        "http" | "https" => host.find(':'),
        _ => host.rfind(':'),
    };
    if let Some(port) = colon.and_then(|colon| host.get(colon..)) {
        check_port(port)?;
    }
    decode(host, Part::Host)
}

/// Reads `[::1%25eth0]:80`.
fn parse_ip_literal(host: &str) -> Result<Vec<u8>, UrlFault> {
    let inner = host
        .strip_prefix('[')
        .and_then(|rest| rest.rsplit_once(']'));
    let (address, port) = inner.ok_or(UrlFault::Known("missing ']' in host"))?;
    check_port(port)?;
    let zone = address.find("%25").unwrap_or(address.len());
    let (address, zone) = address.split_at(zone);
    let mut address = decode(address, Part::Host)?;
    address.extend(decode(zone, Part::Zone)?);
    match parse_address(&address) {
        Err(error) => return Err(UrlFault::Host(error.to_string())),
        Ok(parsed) if parsed.address.is_ipv4() => {
            return Err(UrlFault::Known("invalid IP-literal"));
        }
        Ok(_) => {}
    }
    Ok([b"[", address.as_slice(), b"]", port.as_bytes()].concat())
}

fn check_port(port: &str) -> Result<(), UrlFault> {
    match is_port(port.as_bytes()) {
        true => Ok(()),
        false => Err(UrlFault::Port(quote(port))),
    }
}

/// Whether this is nothing or a colon with digits.
pub(super) fn is_port(port: &[u8]) -> bool {
    match port {
        [] => true,
        [b':', digits @ ..] => digits.iter().all(u8::is_ascii_digit),
        _ => false,
    }
}
