//! Reading JSON into typed objects (`sigs.k8s.io/json`'s decoder): wrong types are noted and reading goes on, fields that
//! come twice are read into the same place, unknown ones are skipped.

use std::collections::HashSet;

use super::scan::is_space;
use super::{ApiStruct, ApiValue, Decoded, StrictFault, StrictFaultKind};

/// A reader of a text that is known to be JSON.
#[derive(Debug)]
pub struct Decoder<'t> {
    text: &'t str,
    at: usize,
    package: &'static str,
    ignores_case: bool,
    /// The path to the value that is read, as strict faults print it.
    path: String,
    /// The fields on the way to the value, those of embedded structs too.
    fields: Vec<&'static str>,
    /// The innermost struct.
    holder: &'static str,
    error: Option<String>,
    strict: Vec<StrictFault>,
    seen: HashSet<StrictFault>,
}

/// Reading ended at once: a value that reads itself failed. Holds why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Aborted(pub String);

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Token {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number.
    Number,
    /// A text.
    String,
    /// A list.
    Array,
    /// An object.
    Object,
}

impl Token {
    /// What Go's messages call it.
    pub const fn name(self) -> &'static str {
        match self {
            Token::Null => "null",
            Token::Bool => "bool",
            Token::Number => "number",
            Token::String => "string",
            Token::Array => "array",
            Token::Object => "object",
        }
    }
}

/// How many faults a strict reader keeps.
const MOST_STRICT: usize = 100;

impl<'t> Decoder<'t> {
    pub(super) fn new(text: &'t str, package: &'static str) -> Self {
        Decoder {
            text,
            at: 0,
            package,
            ignores_case: false,
            path: String::new(),
            fields: Vec::new(),
            holder: "",
            error: None,
            strict: Vec::new(),
            seen: HashSet::new(),
        }
    }

    pub(super) fn ignoring_case(self) -> Self {
        Decoder {
            ignores_case: true,
            ..self
        }
    }

    pub(super) fn read<T: ApiValue + Default>(mut self) -> Result<Decoded<T>, String> {
        let mut object = T::default();
        let Ok(()) = object
            .decode(&mut self, "")
            .map_err(|Aborted(error)| self.error = Some(error))
        else {
            return Err(self.error.unwrap_or_default());
        };
        match self.error {
            Some(error) => Err(error),
            None => Ok(Decoded {
                object,
                strict: self.strict,
            }),
        }
    }

    /// What the next value is.
    pub fn peek(&mut self) -> Token {
        self.skip_spaces();
        match self.byte() {
            Some(b'{') => Token::Object,
            Some(b'[') => Token::Array,
            Some(b'"') => Token::String,
            Some(b't' | b'f') => Token::Bool,
            Some(b'n') | None => Token::Null,
            Some(_) => Token::Number,
        }
    }

    /// Skips a value. Its text.
    pub fn skip(&mut self) -> &'t str {
        self.skip_spaces();
        let start = self.at;
        let mut depth = 0usize;
        loop {
            match self.byte() {
                Some(b'{' | b'[') => depth = depth.saturating_add(1),
                Some(b'}' | b']') => depth = depth.saturating_sub(1),
                Some(b'"') => self.skip_string(),
                Some(byte) if is_word(byte) => {
                    while self.byte().is_some_and(is_word) {
                        self.advance();
                    }
                    if depth == 0 {
                        break;
                    }
                    continue;
                }
                Some(_) => {}
                None => break,
            }
            self.advance();
            if depth == 0 {
                break;
            }
        }
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// Reads a text.
    pub fn string(&mut self) -> String {
        unescaped(self.skip())
    }

    /// Reads a list, element by element. `each` reads one.
    ///
    /// # Errors
    ///
    /// Those of `each`.
    pub fn elements(
        &mut self,
        mut each: impl FnMut(&mut Self, usize) -> Result<(), Aborted>,
    ) -> Result<(), Aborted> {
        self.skip_spaces();
        self.advance();
        let length = self.path.len();
        for n in 0.. {
            if self.ends_with(b']') {
                break;
            }
            self.path.push_str(&format!("[{n}]"));
            each(self, n)?;
            self.path.truncate(length);
        }
        Ok(())
    }

    /// Reads an object, key by key. `each` reads the value of one.
    ///
    /// # Errors
    ///
    /// Those of `each`.
    pub fn members(
        &mut self,
        mut each: impl FnMut(&mut Self, String) -> Result<(), Aborted>,
    ) -> Result<(), Aborted> {
        self.skip_spaces();
        self.advance();
        let length = self.path.len();
        while !self.ends_with(b'}') {
            let key = self.string();
            self.skip_spaces();
            self.advance();
            each(self, key)?;
            self.path.truncate(length);
        }
        Ok(())
    }

    /// Reads an object into a struct.
    ///
    /// # Errors
    ///
    /// Those of a value that reads itself.
    pub fn object(&mut self, object: &mut dyn ApiStruct) -> Result<(), Aborted> {
        let holder = self.holder;
        let depth = self.fields.len();
        let mut read = HashSet::new();
        let name = object
            .go_name()
            .rsplit_once('.')
            .map_or("", |(_, name)| name);
        self.members(|decoder, key| {
            let mut found = object.member(&key);
            if found.is_none() && decoder.ignores_case {
                found = object
                    .member_names()
                    .into_iter()
                    .find(|name| folds_to(&key, name))
                    .and_then(|name| object.member(name));
            }
            let Some(member) = found else {
                decoder.note(StrictFaultKind::Unknown, &key);
                decoder.skip();
                return Ok(());
            };
            if !read.insert(member.name) {
                decoder.note(StrictFaultKind::Duplicate, member.name);
            }
            decoder.holder = name;
            decoder.fields.extend(member.embedded.iter().rev());
            decoder.fields.push(member.name);
            decoder.enter(member.name);
            member.value.decode(decoder, member.named)?;
            decoder.fields.truncate(depth);
            decoder.holder = holder;
            Ok(())
        })
    }

    /// Notes a key of a map that came before.
    pub fn duplicate_key(&mut self, key: &str) {
        self.note(StrictFaultKind::Duplicate, key);
    }

    /// Goes on to the value of a key of a map.
    pub fn enter(&mut self, key: &str) {
        if !self.path.is_empty() {
            self.path.push('.');
        }
        self.path.push_str(key);
    }

    /// Skips a value that its field cannot take: null says nothing, what is of another type is noted.
    pub fn pass_over(&mut self, go_type: String) {
        let value = self.peek();
        self.skip();
        if value != Token::Null {
            self.refuse(value.name(), &go_type);
        }
    }

    /// Notes that a value does not go into its field.
    pub fn refuse(&mut self, value: &str, go_type: &str) {
        if self.error.is_none() {
            self.error = Some(self.type_error(value, go_type));
        }
    }

    /// Notes any other fault of a value.
    pub fn fault(&mut self, message: String) {
        self.error.get_or_insert(message);
    }

    /// The message of a value that does not go into its field.
    pub fn type_error(&self, value: &str, go_type: &str) -> String {
        let Decoder { holder, fields, .. } = self;
        match fields.is_empty() {
            true => format!("json: cannot unmarshal {value} into Go value of type {go_type}"),
            false => {
                let fields = fields.join(".");
                format!(
                    "json: cannot unmarshal {value} into Go struct field {holder}.{fields} of type {go_type}"
                )
            }
        }
    }

    /// The name of a type with its package. What begins with a point is of the package of the object's version.
    pub fn qualified(&self, name: &str) -> String {
        match name.strip_prefix('.') {
            Some(name) => format!("{}.{name}", self.package),
            None => name.to_owned(),
        }
    }

    fn note(&mut self, kind: StrictFaultKind, name: &str) {
        if self.strict.len() >= MOST_STRICT {
            return;
        }
        let separator = if self.path.is_empty() { "" } else { "." };
        let field = format!("{}{separator}{name}", self.path);
        let fault = StrictFault { kind, field };
        if self.seen.insert(fault.clone()) {
            self.strict.push(fault);
        }
    }

    /// Steps over a comma, or the end of a list or object, and says whether it was the end.
    fn ends_with(&mut self, end: u8) -> bool {
        self.skip_spaces();
        if self.byte() == Some(b',') {
            self.advance();
            self.skip_spaces();
        }
        match self.byte() {
            Some(byte) if byte != end => false,
            _ => {
                self.advance();
                true
            }
        }
    }

    /// From a quote to the one that ends the text.
    fn skip_string(&mut self) {
        self.advance();
        while let Some(byte) = self.byte().filter(|byte| *byte != b'"') {
            if byte == b'\\' {
                self.advance();
            }
            self.advance();
        }
    }

    fn skip_spaces(&mut self) {
        while self.byte().is_some_and(is_space) {
            self.advance();
        }
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn advance(&mut self) {
        self.at = self.at.saturating_add(1);
    }
}

/// Whether a byte is of a number, `true`, `false` or `null`.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')
}

/// Whether two texts are the same in Go's eyes but for case: `K` and the Kelvin sign are, and `s` and `ſ`.
fn folds_to(text: &str, name: &str) -> bool {
    let fold = |c: char| match c {
        '\u{212a}' => 'k',
        '\u{17f}' => 's',
        c => c.to_ascii_lowercase(),
    };
    text.chars().map(fold).eq(name.chars().map(fold))
}

/// The text that a JSON literal writes. Halves of surrogate pairs become U+FFFD.
fn unescaped(literal: &str) -> String {
    let inner = literal
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'))
        .unwrap_or_default();
    let mut out = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some((plain, after)) = rest.split_once('\\') {
        out.push_str(plain);
        let mut chars = after.chars();
        let c = match chars.next() {
            Some('u') => {
                let (c, after) = escaped_character(chars.as_str());
                out.push(c);
                rest = after;
                continue;
            }
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some(c) => c,
            None => break,
        };
        out.push(c);
        rest = chars.as_str();
    }
    out.push_str(rest);
    out
}

/// A character of four hexadecimal digits, or of two times four, and what follows it.
fn escaped_character(text: &str) -> (char, &str) {
    let (unit, rest) = code_unit(text);
    if let 0xd800..0xdc00 = unit {
        let low = rest
            .strip_prefix("\\u")
            .map(code_unit)
            .filter(|(low, _)| (0xdc00..0xe000).contains(low));
        if let Some((low, rest)) = low {
            let high = unit.saturating_sub(0xd800) << 10;
            let code = high
                .saturating_add(low.saturating_sub(0xdc00))
                .saturating_add(0x10000);
            return (
                char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER),
                rest,
            );
        }
    }
    (
        char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER),
        rest,
    )
}

fn code_unit(text: &str) -> (u32, &str) {
    let (digits, rest) = text.split_at_checked(4).unwrap_or((text, ""));
    (u32::from_str_radix(digits, 16).unwrap_or(0xfffd), rest)
}
