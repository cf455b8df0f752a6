//! Mail addresses as Go's `net/mail` reads them: with a name and comments, or in a group of one address.

use super::address::parse_ip;
use super::encoding::is_base64;

/// Whether the text is exactly one mail address.
pub(super) fn is_email(text: &str) -> bool {
    let mut reader = AddressReader { rest: text };
    reader.address(Groups::Allowed) == Some(1)
        && reader.skip_comments().is_some()
        && reader.rest.is_empty()
}

/// A parser of mail addresses, with the unread rest of the text. Its methods return `None` where Go returns an error.
#[derive(Clone, Copy)]
struct AddressReader<'t> {
    rest: &'t str,
}

/// Whether a group `name: address, …;` is allowed. Groups cannot be nested.
#[derive(PartialEq, Eq)]
enum Groups {
    Allowed,
    Forbidden,
}

impl<'t> AddressReader<'t> {
    /// Reads an address or a group, and returns the number of addresses.
    fn address(&mut self, groups: Groups) -> Option<usize> {
        self.skip_space();
        if self.rest.is_empty() {
            return None;
        }
        if self.bare_address().is_some() {
            self.skip_space();
            if let Some(comment) = self.rest.strip_prefix('(') {
                self.rest = comment;
                let words = self.comment()?;
                let known = |word: &str| decoded(word) != EncodedWord::UnknownCharset;
                return words.split([' ', '\t']).all(known).then_some(1);
            }
            return Some(1);
        }
        if !self.rest.starts_with('<') {
            self.phrase()?;
        }
        self.skip_space();
        if groups == Groups::Allowed && self.consume(':') {
            return self.group();
        }
        if !self.consume('<') {
            return None;
        }
        self.bare_address()?;
        self.consume('>').then_some(1)
    }

    /// Reads the addresses after `name:`.
    fn group(&mut self) -> Option<usize> {
        let mut count: usize = 0;
        self.skip_space();
        if self.consume(';') {
            self.skip_comments()?;
            return Some(count);
        }
        loop {
            count = count.saturating_add(self.address(Groups::Forbidden)?);
            self.skip_comments()?;
            if self.consume(';') {
                self.skip_comments()?;
                return Some(count);
            }
            if !self.consume(',') {
                return None;
            }
        }
    }

    /// Reads `local@domain`. Returns `None` if the text begins with anything else.
    fn bare_address(&mut self) -> Option<()> {
        let mut ahead = *self;
        ahead.skip_space();
        match ahead.rest.starts_with('"') {
            true => ahead
                .quoted()
                .filter(|quoted| *quoted != Quoted::Empty)
                .map(drop)?,
            false => ahead.atom().filter(|atom| has_plain_dots(atom)).map(drop)?,
        }
        if !ahead.consume('@') {
            return None;
        }
        ahead.skip_space();
        match ahead.rest.starts_with('[') {
            true => ahead.literal()?,
            false => ahead.atom().filter(|atom| has_plain_dots(atom)).map(drop)?,
        }
        *self = ahead;
        Some(())
    }

    /// Reads one or more words of a name.
    fn phrase(&mut self) -> Option<()> {
        let mut found = false;
        loop {
            if found {
                self.skip_comments()?;
            }
            self.skip_space();
            if self.rest.is_empty() {
                break;
            }
            let word = match self.rest.starts_with('"') {
                true => self.quoted().map(drop),
                false => {
                    let atom = self.atom();
                    atom.filter(|atom| decoded(atom) != EncodedWord::UnknownCharset)
                        .map(drop)
                }
            };
            match word {
                Some(()) => found = true,
                None => break,
            }
        }
        found.then_some(())
    }

    /// Reads `"…"`.
    fn quoted(&mut self) -> Option<Quoted> {
        let mut quoted = Quoted::Empty;
        let mut characters = self.rest.strip_prefix('"')?.chars();
        loop {
            match characters.next()? {
                '"' => break,
                '\\' => {
                    let escaped = characters.next()?;
                    if !is_visible(escaped) && !is_blank(escaped) {
                        return None;
                    }
                }
                c if is_visible(c) || is_blank(c) => {}
                _ => return None,
            }
            quoted = Quoted::Text;
        }
        self.rest = characters.as_str();
        Some(quoted)
    }

    /// Reads one or more dots or characters of an atom (RFC 5322).
    fn atom(&mut self) -> Option<&'t str> {
        let end = self.rest.find(|c| c != '.' && !is_atom(c));
        let (atom, rest) = self.rest.split_at_checked(end.unwrap_or(self.rest.len()))?;
        self.rest = rest;
        (!atom.is_empty()).then_some(atom)
    }

    /// Reads an IP address in brackets: `[10.0.0.1]`.
    fn literal(&mut self) -> Option<()> {
        let (address, rest) = self.rest.strip_prefix('[')?.split_once(']')?;
        self.rest = rest;
        parse_ip(address).map(drop)
    }

    /// Skips spaces and comments. Returns `None` if a comment has no closing parenthesis.
    fn skip_comments(&mut self) -> Option<()> {
        self.skip_space();
        while self.consume('(') {
            self.comment()?;
            self.skip_space();
        }
        Some(())
    }

    /// Reads a comment after its opening parenthesis, including its closing parenthesis. Comments can be nested.
    fn comment(&mut self) -> Option<String> {
        let mut text = String::new();
        let mut depth: usize = 1;
        let mut characters = self.rest.chars();
        while depth > 0 {
            let mut c = characters.next()?;
            match c {
                '\\' => c = characters.next().unwrap_or(c),
                '(' => depth = depth.saturating_add(1),
                ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            text.push(c);
        }
        self.rest = characters.as_str();
        // Removes the closing parenthesis.
        text.pop();
        Some(text)
    }

    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start_matches(is_blank);
    }

    fn consume(&mut self, c: char) -> bool {
        let rest = self.rest.strip_prefix(c);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }
}

/// Whether a quoted text has any content.
#[derive(PartialEq, Eq)]
enum Quoted {
    Empty,
    Text,
}

/// Whether Go can decode a word. Encoded words look like `=?utf-8?q?text?=`.
#[derive(PartialEq, Eq)]
enum EncodedWord {
    /// The word is not a valid encoded word, or Go knows its charset.
    Fine,
    /// The word is encoded in a charset that Go does not know.
    UnknownCharset,
}

fn decoded(word: &str) -> EncodedWord {
    let parts: Vec<&str> = word.split('?').collect();
    match parts.as_slice() {
        ["=", charset, encoding, text, "="] if word.len() >= 8 && !charset.is_empty() => {
            let known = ["utf-8", "iso-8859-1", "us-ascii"];
            let readable = match *encoding {
                "b" | "B" => {
                    let text = text.replace(['\r', '\n'], "");
                    text.is_empty() || is_base64(&text)
                }
                "q" | "Q" => is_quoted_printable(text.as_bytes()),
                _ => false,
            };
            match readable
                && !known
                    .iter()
                    .any(|known| known.eq_ignore_ascii_case(charset))
            {
                true => EncodedWord::UnknownCharset,
                false => EncodedWord::Fine,
            }
        }
        _ => EncodedWord::Fine,
    }
}

fn is_quoted_printable(mut text: &[u8]) -> bool {
    while let [byte, rest @ ..] = text {
        text = match (byte, rest) {
            (b'=', [high, low, rest @ ..])
                if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() =>
            {
                rest
            }
            (b'=', _) => return false,
            (b' '..=b'~' | b'\n' | b'\r' | b'\t', _) => rest,
            _ => return false,
        };
    }
    true
}

/// Whether no dot is at the start, at the end or next to another dot.
fn has_plain_dots(atom: &str) -> bool {
    atom.split('.').all(|part| !part.is_empty())
}

fn is_atom(c: char) -> bool {
    is_visible(c) && !r#"()<>[]:;@\,"."#.contains(c)
}

fn is_visible(c: char) -> bool {
    matches!(c, '!'..='~') || !c.is_ascii()
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t')
}
