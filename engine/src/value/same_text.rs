//! Whether two short texts are equal.

/// Whether two texts are equal. For texts of 2 to 32 bytes, this compares the first and the last bytes, which together cover the text,
/// without calling `memcmp`.
#[inline(always)]
pub fn same_text(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    one.len() == other.len()
        && match other.len() {
            4..=8 => same_ends::<4>(one, other),
            9..=16 => same_ends::<8>(one, other),
            17..=32 => same_ends::<16>(one, other),
            2..=3 => same_ends::<2>(one, other),
            _ => is_same(one, other),
        }
}

#[inline(always)]
fn same_ends<const N: usize>(one: &[u8], other: &[u8]) -> bool {
    one.first_chunk::<N>() == other.first_chunk::<N>()
        && one.last_chunk::<N>() == other.last_chunk::<N>()
}

#[inline(never)]
fn is_same(one: &[u8], other: &[u8]) -> bool {
    one == other
}
