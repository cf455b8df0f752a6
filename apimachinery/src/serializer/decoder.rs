//! Decodes JSON into typed objects (`sigs.k8s.io/json`'s decoder). Values of a wrong type are recorded, and decoding continues. The second
//! value of a duplicate field is decoded into the first value. Unknown fields are skipped.

use std::borrow::Cow;
use std::collections::HashSet;

use super::input::{Input, Token};
use super::{
    ApiStruct, ApiValue, DecodeError, Decoded, StrictFault, StrictFaultKind, type_mismatch,
};

/// Decodes one JSON document and collects its errors.
#[derive(Debug)]
pub struct Decoder<'t> {
    input: Input<'t>,
    package: &'static str,
    ignores_case: bool,
    /// The path to the current value, as errors of strict decoding print it.
    path: String,
    /// The names of the fields on the path to the value, including the names of embedded structs.
    fields: Vec<&'static str>,
    /// The name of the innermost struct that contains the value.
    holder: &'static str,
    error: Option<DecodeError>,
    strict: Vec<StrictFault>,
    seen: HashSet<StrictFault>,
}

/// The error of a value whose type has its own decoder. The error ends the decoding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Aborted(pub String);

/// The limit of errors that a strict decoder collects.
const MOST_STRICT: usize = 100;

impl<'t> Decoder<'t> {
    pub(super) fn new(input: Input<'t>, package: &'static str) -> Self {
        Decoder {
            input,
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

    pub(super) fn read<T: ApiValue + Default>(mut self) -> Result<Decoded<T>, DecodeError> {
        let mut object = T::default();
        let ended = object.decode(&mut self, "");
        // The path still leads to the value that ended the decoding.
        ended.map_err(|Aborted(message)| DecodeError::new(self.path, message))?;
        match self.error {
            Some(error) => Err(error),
            None => Ok(Decoded {
                object,
                strict: self.strict,
            }),
        }
    }

    /// The type of the next value.
    pub fn peek(&mut self) -> Token {
        self.input.peek()
    }

    /// Skips a value and returns its text.
    pub fn skip(&mut self) -> Cow<'t, str> {
        self.input.skip()
    }

    /// Reads a string.
    pub fn string(&mut self) -> String {
        self.input.string()
    }

    /// Reads a list. `each` reads one element.
    ///
    /// # Errors
    ///
    /// The errors of `each`.
    pub fn elements(
        &mut self,
        mut each: impl FnMut(&mut Self, usize) -> Result<(), Aborted>,
    ) -> Result<(), Aborted> {
        let length = self.path.len();
        let mut rest = self.input.enter();
        for n in 0.. {
            if !self.input.next_element(&mut rest) {
                break;
            }
            self.path.push_str(&format!("[{n}]"));
            each(self, n)?;
            self.path.truncate(length);
        }
        Ok(())
    }

    /// Reads an object. `each` reads the value of one key.
    ///
    /// # Errors
    ///
    /// The errors of `each`.
    pub fn members(
        &mut self,
        mut each: impl FnMut(&mut Self, String) -> Result<(), Aborted>,
    ) -> Result<(), Aborted> {
        let length = self.path.len();
        let mut rest = self.input.enter();
        while let Some(key) = self.input.next_key(&mut rest) {
            each(self, key)?;
            self.path.truncate(length);
        }
        Ok(())
    }

    /// Reads an object into a struct.
    ///
    /// # Errors
    ///
    /// The decoder of a value's type returns an error. Values of a wrong type do not end the decoding; the decoder records the first of
    /// them.
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
                decoder.input.pass();
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

    /// Records a duplicate key of a map.
    pub fn duplicate_key(&mut self, key: &str) {
        self.note(StrictFaultKind::Duplicate, key);
    }

    /// Adds the key of a map to the path.
    pub fn enter(&mut self, key: &str) {
        if !self.path.is_empty() {
            self.path.push('.');
        }
        self.path.push_str(key);
    }

    /// Skips a value that does not fit its field. Null is ignored; any other type is recorded as an error.
    pub fn pass_over(&mut self, go_type: String) {
        let value = self.peek();
        self.input.pass();
        if value != Token::Null {
            self.refuse(value.name(), &go_type);
        }
    }

    /// Records that a value does not fit its field, unless an earlier error is recorded.
    pub fn refuse(&mut self, value: &str, go_type: &str) {
        if self.error.is_none() {
            self.fault(self.type_error(value, go_type));
        }
    }

    /// Records an error of a value, unless an earlier error is recorded.
    pub fn fault(&mut self, message: String) {
        self.error
            .get_or_insert_with(|| DecodeError::new(&*self.path, message));
    }

    /// The message for a value that does not fit its field.
    pub fn type_error(&self, value: &str, go_type: &str) -> String {
        type_mismatch(value, self.holder, &self.fields.join("."), go_type)
    }

    /// The name of a type with its package. A name with a leading dot belongs to the package of the object's version.
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
}

/// Whether two texts are equal under Go's case folding, in which `K` equals the Kelvin sign, and `s` equals `ſ`.
fn folds_to(text: &str, name: &str) -> bool {
    let fold = |c: char| match c {
        '\u{212a}' => 'k',
        '\u{17f}' => 's',
        c => c.to_ascii_lowercase(),
    };
    text.chars().map(fold).eq(name.chars().map(fold))
}
