//! URLs as Go reads and writes them (`net/url`).

use std::borrow::Cow;
use std::fmt;

use memchr::{memchr, memchr_iter, memrchr};

use super::quote::quote;
use super::utf8;

mod escape;
mod parse;

use escape::{Part, decode, is_plain, written};
use parse::{Mode, is_number, parse};

/// The maximum number of pairs in a query; Go rejects longer queries.
const MAX_PAIRS: usize = 10_000;

/// A URL: its text, and the positions of its parts.
#[derive(Debug, Clone, Default)]
pub struct Url {
    /// The whole URL as Go writes it. Two URLs are equal if these texts are equal.
    text: String,
    /// The scheme in lower case; empty if absent.
    scheme: Span,
    /// `name` or `name:password`.
    user: Option<Span>,
    /// The host with the port.
    host: Span,
    path: Span,
    query: Span,
    fragment: Span,
}

/// The start and the end of a part in a text, in bytes.
type Span = (usize, usize);

/// Why a text is not a URL, in Go's words.
#[derive(Debug, Clone)]
pub struct UrlError {
    text: String,
    fault: UrlFault,
}

/// The problem of a text that is not a URL.
#[derive(Debug, Clone)]
enum UrlFault {
    Known(&'static str),
    /// A `%` without two hexadecimal digits, or an escape that is not allowed in its part of the URL.
    Escape(Vec<u8>),
    HostCharacter(u8),
    /// An invalid port: the text after the host, quoted.
    Port(String),
    /// The reason why the host is not an address.
    Host(String),
}

impl Url {
    /// Checks that the text is valid as the URL of an HTTP request (`url.ParseRequestURI`).
    ///
    /// # Errors
    ///
    /// The text is not a valid request URL.
    pub fn check_request_uri(text: &str) -> Result<(), UrlError> {
        match parse(text, Mode::Request) {
            Ok(_) => Ok(()),
            Err(fault) => Err(UrlError::new(text, fault)),
        }
    }

    /// Checks that the text is valid as the URL of an HTTP request, then reads it as a URL that may have a fragment (`url.ParseRequestURI`,
    /// then `url.Parse`).
    ///
    /// # Errors
    ///
    /// The text is not a valid request URL.
    pub fn parse(text: &str) -> Result<Url, UrlError> {
        let url = parse(text, Mode::Request).map_err(|fault| UrlError::new(text, fault))?;
        // `url.Parse` returns a different URL only for texts with a fragment, or with a host but no scheme.
        match memchr(b'#', text.as_bytes()).is_some() || text.starts_with("//") {
            true => Url::parse_reference(text),
            false => Ok(url),
        }
    }

    /// Reads a URL, which may be relative and may have a fragment (`url.Parse`).
    ///
    /// # Errors
    ///
    /// The text is not a URL.
    pub fn parse_reference(text: &str) -> Result<Url, UrlError> {
        let (base, fragment) = split_once(text, b'#').unwrap_or((text, ""));
        let mut url = parse(base, Mode::Reference).map_err(|fault| UrlError::new(base, fault))?;
        if !fragment.is_empty() {
            url.text.push('#');
            let fragment = written(fragment, Part::Fragment, &mut url.text);
            url.fragment = fragment.map_err(|fault| UrlError::new(text, fault))?;
        }
        Ok(url)
    }

    /// The scheme in lower case; empty if absent.
    pub fn scheme(&self) -> &str {
        self.part(self.scheme)
    }

    /// The host with its port.
    pub fn host(&self) -> Cow<'_, str> {
        decoded_part(self.part(self.host))
    }

    /// The host without port and brackets.
    pub fn hostname(&self) -> Cow<'_, str> {
        let (host, _) = self.host_and_port();
        let bare = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'));
        decoded_part(bare.unwrap_or(host))
    }

    /// The digits of the port; empty if absent.
    pub fn port(&self) -> &str {
        self.host_and_port().1
    }

    fn host_and_port(&self) -> (&str, &str) {
        let host = self.part(self.host);
        match rsplit_once(host, b':') {
            Some((host, port)) if is_number(port) => (host, port),
            _ => (host, ""),
        }
    }

    /// The path, encoded.
    pub fn escaped_path(&self) -> &str {
        self.part(self.path)
    }

    /// The user and password, encoded, if there is a user.
    pub fn user(&self) -> Option<&str> {
        self.user.map(|user| self.part(user))
    }

    /// The query as it was written.
    pub fn raw_query(&self) -> &str {
        self.part(self.query)
    }

    /// The decoded text after `#`.
    pub fn fragment(&self) -> Cow<'_, str> {
        decoded_part(self.part(self.fragment))
    }

    fn part(&self, (start, end): Span) -> &str {
        self.text.get(start..end).unwrap_or_default()
    }

    /// The keys and values of the query in their order. A pair with an invalid escape in its key or value is left out.
    pub fn query(&self) -> impl Iterator<Item = (Cow<'_, str>, Cow<'_, str>)> {
        let query = self.raw_query();
        let is_too_long =
            query.len() >= MAX_PAIRS && memchr_iter(b'&', query.as_bytes()).count() >= MAX_PAIRS;
        let pairs = QueryPairs(match is_too_long {
            true => "",
            false => query,
        });
        pairs.filter_map(|pair| match pair.is_plain {
            true => Some((Cow::Borrowed(pair.key), Cow::Borrowed(pair.value))),
            false => Some((
                decoded(pair.key, Part::Query)?,
                decoded(pair.value, Part::Query)?,
            )),
        })
    }

    /// The URL as Go writes it.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

/// The pairs of the rest of a query. Pairs with a semicolon are left out.
struct QueryPairs<'t>(&'t str);

/// A key and a value of a query, encoded.
struct QueryPair<'t> {
    key: &'t str,
    value: &'t str,
    /// Whether decoding leaves both unchanged.
    is_plain: bool,
}

impl<'t> Iterator for QueryPairs<'t> {
    type Item = QueryPair<'t>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.0.is_empty() {
            // Pairs are short, so one loop finds all separators faster than a search for each.
            let (mut equals, mut has_semicolon, mut is_plain) = (None, false, true);
            let mut end = None;
            for (at, byte) in self.0.bytes().enumerate() {
                match byte {
                    // Most bytes are letters.
                    b'>'.. => {}
                    b'&' => {
                        end = Some(at);
                        break;
                    }
                    b'=' if equals.is_none() => equals = Some(at),
                    b';' => has_semicolon = true,
                    b'%' | b'+' => is_plain = false,
                    _ => {}
                }
            }
            let (pair, rest) = match end {
                Some(end) => split_around(self.0, end)?,
                None => (self.0, ""),
            };
            self.0 = rest;
            if !has_semicolon && !pair.is_empty() {
                let split = equals.and_then(|at| split_around(pair, at));
                let (key, value) = split.unwrap_or((pair, ""));
                return Some(QueryPair {
                    key,
                    value,
                    is_plain,
                });
            }
        }
        None
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

/// The texts before and after the first `separator`, an ASCII character; `None` if there is no separator.
fn split_once(text: &str, separator: u8) -> Option<(&str, &str)> {
    split_around(text, memchr(separator, text.as_bytes())?)
}

/// The texts before and after the last `separator`, an ASCII character; `None` if there is no separator.
fn rsplit_once(text: &str, separator: u8) -> Option<(&str, &str)> {
    split_around(text, memrchr(separator, text.as_bytes())?)
}

fn split_around(text: &str, at: usize) -> Option<(&str, &str)> {
    Some((text.get(..at)?, text.get(at.saturating_add(1)..)?))
}

/// A part of a URL's text, decoded; the part is known to have valid escapes.
fn decoded_part(part: &str) -> Cow<'_, str> {
    decoded(part, Part::Path).unwrap_or(Cow::Borrowed(part))
}

/// A part of a URL, decoded; `None` if an escape is invalid. Invalid UTF-8 is replaced.
fn decoded(text: &str, part: Part) -> Option<Cow<'_, str>> {
    if is_plain(text, part) {
        return Some(Cow::Borrowed(text));
    }
    let bytes = decode(text, part).ok()?;
    Some(Cow::Owned(utf8::lossy(&bytes)))
}

#[cfg(test)]
mod tests;
