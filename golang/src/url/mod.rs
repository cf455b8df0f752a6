//! URLs as Go reads and writes them (`net/url`).

use std::borrow::Cow;
use std::fmt;

use super::quote::quote;

mod escape;
mod parse;

use escape::{Part, decode, encoded};
use parse::{Mode, is_port, parse};

/// Go refuses longer queries.
const MAX_PAIRS: usize = 10_000;

/// A URL.
#[derive(Debug, Clone, Default)]
pub struct Url {
    /// In lower case; empty where there is none.
    scheme: String,
    /// With the port, decoded.
    host: Vec<u8>,
    escaped_path: String,
    raw_query: String,
    /// Encoded; `name` or `name:password`.
    user: Option<String>,
    /// Decoded.
    fragment: Vec<u8>,
    /// The whole URL as Go writes it, by which URLs are compared.
    text: String,
}

/// Why a text is not a URL, worded by Go.
#[derive(Debug, Clone)]
pub struct UrlError {
    text: String,
    fault: UrlFault,
}

/// What is wrong with a text.
#[derive(Debug, Clone)]
enum UrlFault {
    Known(&'static str),
    /// A `%` without two digits, or with two that are not allowed there.
    Escape(Vec<u8>),
    HostCharacter(u8),
    /// What follows the host, quoted.
    Port(String),
    /// Why the host is not an address.
    Host(String),
}

impl Url {
    /// Whether the text may be asked for as it is (`url.ParseRequestURI`).
    pub fn check_request_uri(text: &str) -> Result<(), UrlError> {
        match parse(text, Mode::Request) {
            Ok(_) => Ok(()),
            Err(fault) => Err(UrlError::new(text, fault)),
        }
    }

    /// Reads a URL that may be asked for, and then its fragment (`url.ParseRequestURI`, then `url.Parse`).
    pub fn parse(text: &str) -> Result<Url, UrlError> {
        let url = parse(text, Mode::Request).map_err(|fault| UrlError::new(text, fault))?;
        // A reference is another URL where it has a fragment, or a host without a scheme.
        match text.contains('#') || text.starts_with("//") {
            true => Url::parse_reference(text),
            false => Ok(url),
        }
    }

    /// Reads a URL, which may be relative and may have a fragment (`url.Parse`).
    pub fn parse_reference(text: &str) -> Result<Url, UrlError> {
        let (base, fragment) = text.split_once('#').unwrap_or((text, ""));
        let mut url = parse(base, Mode::Reference).map_err(|fault| UrlError::new(base, fault))?;
        if !fragment.is_empty() {
            let new_error = |fault| UrlError::new(text, fault);
            url.fragment = decode(fragment, Part::Fragment).map_err(new_error)?;
            let fragment = encoded(fragment, Part::Fragment).map_err(new_error)?;
            url.text.push('#');
            url.text.push_str(&fragment);
        }
        Ok(url)
    }

    /// The scheme in lower case, empty where there is none.
    pub fn scheme(&self) -> &str {
        &self.scheme
    }

    /// The host with its port.
    pub fn host(&self) -> Cow<'_, str> {
        text_of(&self.host)
    }

    /// The host without port and brackets.
    pub fn hostname(&self) -> Cow<'_, str> {
        let (host, _) = self.host_and_port();
        let bare = host
            .strip_prefix(b"[")
            .and_then(|host| host.strip_suffix(b"]"));
        text_of(bare.unwrap_or(host))
    }

    /// The digits of the port, empty where there is none.
    pub fn port(&self) -> Cow<'_, str> {
        text_of(self.host_and_port().1)
    }

    fn host_and_port(&self) -> (&[u8], &[u8]) {
        let colon = self.host.iter().rposition(|byte| *byte == b':');
        let (host, port) = self.host.split_at(colon.unwrap_or(self.host.len()));
        match port.split_first() {
            Some((_, digits)) if is_port(port) => (host, digits),
            _ => (&self.host, b""),
        }
    }

    /// The path, encoded.
    pub fn escaped_path(&self) -> &str {
        &self.escaped_path
    }

    /// The user and password, encoded, where there is a user.
    pub fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }

    /// The query as it was written.
    pub fn raw_query(&self) -> &str {
        &self.raw_query
    }

    /// What follows `#`, decoded.
    pub fn fragment(&self) -> Cow<'_, str> {
        text_of(&self.fragment)
    }

    /// The keys and values of the query in their order. What is badly encoded is left out.
    pub fn query(&self) -> impl Iterator<Item = (String, String)> {
        let pairs = self.raw_query.split('&');
        let most = match pairs.clone().count() <= MAX_PAIRS {
            true => MAX_PAIRS,
            false => 0,
        };
        let pairs = pairs
            .take(most)
            .filter(|pair| !pair.is_empty() && !pair.contains(';'));
        pairs.filter_map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let decode = |text: &str| {
                decode(text, Part::Query)
                    .ok()
                    .map(|bytes| text_of(&bytes).into_owned())
            };
            Some((decode(key)?, decode(value)?))
        })
    }

    /// The URL as Go writes it.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl UrlError {
    fn new(text: &str, fault: UrlFault) -> Self {
        UrlError {
            text: text.to_owned(),
            fault,
        }
    }
}

impl fmt::Display for UrlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "parse {}: ", quote(&self.text))?;
        match &self.fault {
            UrlFault::Known(message) => f.write_str(message),
            UrlFault::Escape(bytes) => write!(f, "invalid URL escape {}", quote(bytes)),
            UrlFault::HostCharacter(byte) => {
                write!(f, "invalid character {} in host name", quote([*byte]))
            }
            UrlFault::Port(port) => write!(f, "invalid port {port} after host"),
            UrlFault::Host(why) => write!(f, "invalid host: {why}"),
        }
    }
}

impl std::error::Error for UrlError {}

/// Bytes as text. Go's texts may hold any bytes, of which each that is not part of a character counts as one.
fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    Cow::Owned(text)
}

#[cfg(test)]
mod tests;
