//! Parses JSON into an arena. Texts without escapes are borrowed, and no value has an allocation of its own.
//!
//! Parsing the request dominates the cost of a simple policy. This parser takes as long as `serde_json` takes to parse the same text and
//! discard the result (`cargo bench -p gavel-benches --bench json`). This parser leaves escaped texts and unusual numbers to `serde_json`.

#[cfg(test)]
mod tests;

use std::cmp::Ordering;

use memchr::memchr2;

use super::{Arena, Repr, Value};

/// The nesting limit. It is the same as that of `serde_json`.
const MAX_DEPTH: usize = 127;

/// The number of bytes that are examined together.
const WORD: usize = 8;

/// The bytes of the shortest element of a list, with its comma: `1,`.
const SHORTEST_ITEM: usize = 2;

/// The bytes of the shortest field of an object, with its comma: `"":1,`.
const SHORTEST_FIELD: usize = 5;

/// The number of bytes of a text that are searched word by word. The rest is searched by `memchr2`, which is faster but takes longer to
/// start.
const SHORT: usize = 32;

/// Parses JSON as Kubernetes does. Integers that fit in an `i64` are `int`, and all other numbers are `double`. If several fields have the
/// same name, the last field is used. `None` for a text that is not JSON, is nested more than 127 levels deep, or contains a number that is
/// too large for a double.
///
/// ```
/// use gavel_engine::value::{Arena, Value, read_json};
///
/// let arena = Arena::new();
/// let value = read_json(r#"{"b": [1, 2.5], "a": "x"}"#, &arena);
/// let object = value.and_then(Value::as_map).expect("an object");
/// let names: Vec<_> = object.iter().flatten().filter_map(|(name, _)| name.as_str()).collect();
/// assert_eq!(names, ["a", "b"]);
/// let twice = read_json(r#"{"a": 1, "a": 2}"#, &arena).and_then(Value::as_map).expect("an object");
/// assert_eq!(twice.len(), 1);
/// ```
pub fn read_json<'a>(text: &'a str, arena: &'a Arena) -> Option<Value<'a>> {
    let before = arena.allocated_bytes();
    let mut reader = Reader {
        text,
        at: 0,
        arena,
        fields: Vec::with_capacity(32),
        items: Vec::new(),
    };
    let first = reader.token()?;
    let value = reader.value(first, 0)?;
    arena.count_input(before);
    reader.token().is_none().then_some(value)
}

struct Reader<'a> {
    text: &'a str,
    /// The position of the next byte.
    at: usize,
    arena: &'a Arena,
    /// The fields of all unfinished objects.
    fields: Vec<(&'a str, Value<'a>)>,
    /// The elements of all unfinished lists.
    items: Vec<Value<'a>>,
}

impl<'a> Reader<'a> {
    /// The text that has not been parsed yet.
    fn rest(&self) -> &'a [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    fn skip(&mut self, count: usize) {
        // Texts have fewer than `isize::MAX` bytes.
        self.at = self.at.wrapping_add(count);
    }

    /// Consumes white space and the byte after it. Returns this byte.
    #[inline]
    fn token(&mut self) -> Option<u8> {
        loop {
            let byte = *self.text.as_bytes().get(self.at)?;
            self.skip(1);
            if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                return Some(byte);
            }
        }
    }

    /// Parses a value whose first byte has been consumed. `depth` is the number of enclosing objects and lists.
    #[inline]
    fn value(&mut self, first: u8, depth: usize) -> Option<Value<'a>> {
        match first {
            b'"' => self.string().map(Value::from),
            b'{' => self.object(depth.wrapping_add(1)),
            b'[' => self.list(depth.wrapping_add(1)),
            b't' => self.word(b"rue", Value::from(true)),
            b'f' => self.word(b"alse", Value::from(false)),
            b'n' => self.word(b"ull", Value(Repr::Null)),
            b'-' | b'0'..=b'9' => self.number(),
            _ => None,
        }
    }

    #[inline]
    fn word(&mut self, rest: &[u8], value: Value<'a>) -> Option<Value<'a>> {
        let is_there = self.rest().starts_with(rest);
        self.skip(rest.len());
        is_there.then_some(value)
    }

    fn object(&mut self, depth: usize) -> Option<Value<'a>> {
        if depth > MAX_DEPTH {
            return None;
        }
        let begin = self.fields.len();
        let mut token = self.token()?;
        while token != b'}' {
            if token != b'"' {
                return None;
            }
            let name = self.string()?;
            if self.token()? != b':' {
                return None;
            }
            let first = self.token()?;
            let value = self.value(first, depth)?;
            let left = self.text.len().wrapping_sub(self.at);
            push(&mut self.fields, (name, value), || left / SHORTEST_FIELD);
            token = self.next(b'}')?;
        }
        let fields = self.fields.get_mut(begin..)?;
        // Sorting compares every two names that are adjacent in the result, and thus finds duplicates.
        let mut differ = true;
        fields.sort_by(|(one, _), (other, _)| {
            let order = compare_names(one, other);
            differ &= order.is_ne();
            order
        });
        if !differ {
            keep_last(&mut self.fields, begin);
        }
        let fields = self.fields.get(begin..)?;
        if fields.is_empty() {
            return Some(self.arena.empty_object());
        }
        let fields = self.arena.bump().alloc_slice_copy(fields);
        self.fields.truncate(begin);
        Some(Value(Repr::Fields(fields)))
    }

    fn list(&mut self, depth: usize) -> Option<Value<'a>> {
        if depth > MAX_DEPTH {
            return None;
        }
        let begin = self.items.len();
        let mut token = self.token()?;
        while token != b']' {
            let item = self.value(token, depth)?;
            let left = self.text.len().wrapping_sub(self.at);
            push(&mut self.items, item, || left / SHORTEST_ITEM);
            token = self.next(b']')?;
        }
        let items = self.items.get(begin..)?;
        let items = self.arena.bump().alloc_slice_copy(items);
        self.items.truncate(begin);
        Some(Value(Repr::Items(items)))
    }

    /// Consumes the token after an element: a comma with the first byte of the next element, or `end`. Returns the last consumed byte.
    #[inline]
    fn next(&mut self, end: u8) -> Option<u8> {
        match self.token()? {
            b',' => self.token().filter(|token| *token != end),
            token => (token == end).then_some(token),
        }
    }

    /// Parses a text whose opening quote has been consumed.
    fn string(&mut self) -> Option<&'a str> {
        let begin = self.at;
        match self.find_end()? {
            b'"' => {
                let text = self.text.get(begin..self.at)?;
                self.skip(1);
                Some(text)
            }
            b'\\' => self.escaped(begin),
            _ => None,
        }
    }

    /// Parses a text with escapes that begins at `begin`. The next byte is its first backslash.
    #[cold]
    fn escaped(&mut self, begin: usize) -> Option<&'a str> {
        let mut end = b'\\';
        while end == b'\\' {
            // The escaped character may be a quote.
            self.skip(2);
            end = self.find_end()?;
        }
        self.skip(1);
        let quoted = self.text.get(begin.checked_sub(1)?..self.at)?;
        let text: String = serde_json::from_str(quoted).ok()?;
        Some(self.arena.bump().alloc_str(&text))
    }

    /// Moves to the next quote, backslash or control character of a text. Returns this byte.
    #[inline]
    fn find_end(&mut self) -> Option<u8> {
        let mut rest = self.rest();
        for _ in 0..SHORT / WORD {
            let Some((word, behind)) = rest.split_first_chunk() else {
                break;
            };
            if let Some(before) = first_special(u64::from_le_bytes(*word)) {
                self.skip(before);
                return word.get(before).copied();
            }
            self.skip(WORD);
            rest = behind;
        }
        self.find_far_end()
    }

    #[cold]
    fn find_far_end(&mut self) -> Option<u8> {
        let rest = self.rest();
        let before = memchr2(b'"', b'\\', rest)?;
        let (passed, behind) = rest.split_at_checked(before)?;
        // The least of all bytes is computed without stopping early, so that the compiler can vectorize the loop.
        if passed.iter().fold(u8::MAX, |least, byte| least.min(*byte)) < b' ' {
            return None;
        }
        self.skip(before);
        behind.first().copied()
    }

    /// Parses a number whose first byte has been consumed.
    fn number(&mut self) -> Option<Value<'a>> {
        let begin = self.at.checked_sub(1)?;
        let rest = self.text.get(begin..)?;
        let end = rest
            .bytes()
            .position(|byte| !matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E'));
        let number = rest.get(..end.unwrap_or(rest.len()))?;
        self.at = begin.wrapping_add(number.len());
        let digits = number.strip_prefix('-').unwrap_or(number).as_bytes();
        let is_plain = matches!(digits, [b'0'] | [b'1'..=b'9', ..]);
        match number.parse() {
            Ok(int) if is_plain => Some(Value(Repr::Int(int))),
            _ => serde_json::from_str::<f64>(number).ok().map(Value::from),
        }
    }
}

/// Compares two names. For most names, comparing the first eight bytes is enough, without a call of `memcmp`.
#[inline]
fn compare_names(one: &str, other: &str) -> Ordering {
    match (first_word(one), first_word(other)) {
        (one_word, other_word) if one_word == other_word => one.cmp(other),
        (one_word, other_word) => one_word.cmp(&other_word),
    }
}

/// The first eight bytes of a name as a big-endian number, padded with zeros. If two numbers differ, the names are in the same order as the
/// numbers. Names with equal numbers must be compared.
#[inline]
fn first_word(name: &str) -> u64 {
    let name = name.as_bytes();
    match name.first_chunk::<WORD>() {
        Some(word) => u64::from_be_bytes(*word),
        None => short_word(name),
    }
}

/// Like `first_word`, for names of fewer than eight bytes.
#[inline]
fn short_word(name: &[u8]) -> u64 {
    if let (Some(first), Some(last)) = (name.first_chunk(), name.last_chunk()) {
        let [first, last] = [first, last].map(|half| u64::from(u32::from_be_bytes(*half)));
        // For fewer than eight bytes, the first and the last four bytes overlap. Both have the same bytes there, so `|` does not change
        // them.
        let behind = match name.len() {
            4 => 32,
            5 => 24,
            6 => 16,
            _ => 8,
        };
        return first.wrapping_shl(32) | last.wrapping_shl(behind);
    }
    let mut word = [0; WORD];
    word.iter_mut().zip(name).for_each(|(to, byte)| *to = *byte);
    u64::from_be_bytes(word)
}

/// Adds an element. `left` is the largest number of elements that can follow. A long list grows only once, to the size that it can reach:
/// reserved memory takes none of the machine's memory before it is written, but allocators keep what lists release when they grow.
#[inline]
fn push<T>(elements: &mut Vec<T>, element: T, left: impl FnOnce() -> usize) {
    if elements.len() == elements.capacity() {
        grow(elements, left());
    }
    elements.push(element);
}

#[cold]
fn grow<T>(elements: &mut Vec<T>, left: usize) {
    const MANY: usize = 1 << 12;
    let more = match elements.len() {
        MANY.. => left.wrapping_add(1),
        few => few.max(32),
    };
    elements.reserve_exact(more);
}

/// Removes duplicates among the fields from index `begin` on. Of adjacent fields with the same name, only the last field remains.
#[cold]
fn keep_last<'a>(fields: &mut Vec<(&'a str, Value<'a>)>, begin: usize) {
    let mut kept = begin;
    for next in begin..fields.len() {
        let behind = fields.get(next.wrapping_add(1)).map(|(name, _)| *name);
        if let Some(field) = fields.get(next).copied()
            && behind != Some(field.0)
            && let Some(place) = fields.get_mut(kept)
        {
            *place = field;
            kept = kept.wrapping_add(1);
        }
    }
    fields.truncate(kept);
}

/// The index of the first quote, backslash or control character in a word of eight bytes; `None` if the word contains none of them. The
/// lowest byte of the word is the first.
fn first_special(word: u64) -> Option<usize> {
    const ONES: u64 = u64::from_ne_bytes([1; WORD]);
    const HIGHEST: u64 = u64::from_ne_bytes([0x80; WORD]);
    // Sets the highest bit of each byte that is zero. A borrow can also set this bit in a higher byte, but only if a lower byte is zero.
    let zero = |word: u64| word.wrapping_sub(ONES) & !word;
    let quote = zero(word ^ u64::from_ne_bytes([b'"'; WORD]));
    let backslash = zero(word ^ u64::from_ne_bytes([b'\\'; WORD]));
    let control = word.wrapping_sub(u64::from_ne_bytes([b' '; WORD])) & !word;
    let found = (quote | backslash | control) & HIGHEST;
    let before = usize::try_from(found.trailing_zeros() / 8).ok()?;
    (found != 0).then_some(before)
}
