//! Code points of texts (`unicode/utf8`).

/// The number of code points. Most texts are ASCII, which is recognized eight bytes at a time.
///
/// ```
/// assert_eq!(gavel_golang::utf8::rune_count("größer"), 6);
/// ```
#[inline]
pub fn rune_count(text: &str) -> usize {
    match is_ascii(text.as_bytes()) {
        true => text.len(),
        false => text.chars().count(),
    }
}

#[inline]
fn is_ascii(bytes: &[u8]) -> bool {
    const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);
    let Some(last) = bytes.last_chunk() else {
        return bytes.iter().all(u8::is_ascii);
    };
    // The last eight bytes cover the rest after the last whole word; some bytes are checked twice.
    let (words, _) = bytes.as_chunks();
    let words = words.iter().map(|word| u64::from_ne_bytes(*word));
    words.fold(u64::from_ne_bytes(*last), |all, word| all | word) & HIGH == 0
}

/// Bytes as text. Each byte that is not part of valid UTF-8 becomes U+FFFD.
///
/// ```
/// assert_eq!(gavel_golang::utf8::lossy(b"a\xe2\x82"), "a\u{fffd}\u{fffd}");
/// ```
pub fn lossy(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_checked() {
        for length in 0..40 {
            let ascii = "x".repeat(length);
            assert_eq!(rune_count(&ascii), length);
            for place in 0..=length {
                let (before, after) = ascii.split_at(place);
                assert_eq!(rune_count(&format!("{before}ä{after}")), length + 1);
                assert_eq!(rune_count(&format!("{before}𝛼{after}")), length + 1);
            }
        }
    }
}
