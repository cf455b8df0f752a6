//! Formats that encode bytes as text: base64, UUIDs and object ids.

/// Whether the text is base64 for at least one byte, in the standard alphabet and with padding. The unused bits of the last digit may have
/// any value.
pub fn is_base64(text: &str) -> bool {
    let text = text.as_bytes();
    let padding = text.iter().rev().take_while(|byte| **byte == b'=').count();
    let digits = text
        .len()
        .checked_sub(padding)
        .and_then(|end| text.get(..end))
        .unwrap_or_default();
    let is_digit = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    padding <= 2
        && !digits.is_empty()
        && text.len().is_multiple_of(4)
        && digits.iter().all(is_digit)
}

/// Whether the text is a UUID, with or without dashes.
pub fn is_uuid(text: &str) -> bool {
    uuid_digits(text).is_some()
}

/// Whether the text is a UUID of the given version. `variant` lists the valid digits for the variant; with `None`, every variant is valid.
pub(super) fn is_uuid_of(text: &str, version: u8, variant: Option<&[u8]>) -> bool {
    uuid_digits(text).is_some_and(|digits| {
        let is_variant = |digit: &u8| variant.is_none_or(|variant| variant.contains(digit));
        digits.get(12) == Some(&version) && digits.get(16).is_some_and(is_variant)
    })
}

/// The values of a UUID's variant digit under RFC 4122.
pub(super) const RFC_4122: Option<&[u8]> = Some(b"89abAB");

/// The digits of a UUID without its dashes.
fn uuid_digits(text: &str) -> Option<Vec<u8>> {
    let mut found = Vec::with_capacity(32);
    let mut rest = text.as_bytes();
    for (group, digits) in [8, 4, 4, 4, 12].into_iter().enumerate() {
        if group > 0 {
            rest = rest.strip_prefix(b"-").unwrap_or(rest);
        }
        let (digits, after) = rest.split_at_checked(digits)?;
        found.extend(digits);
        rest = after;
    }
    (rest.is_empty() && found.iter().all(u8::is_ascii_hexdigit)).then_some(found)
}

/// Whether the text is an object ID: twelve bytes in hexadecimal.
pub(super) fn is_object_id(text: &str) -> bool {
    text.len() == 24 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
