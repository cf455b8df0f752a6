//! The units of quantities (`suffix.go`).

use gavel_golang::integer::parse_int;

use super::QuantityFormat;

/// The suffixes of the decimal format.
pub(super) const DECIMAL_SUFFIXES: [(&str, i32); 10] = [
    ("", 0),
    ("m", -3),
    ("k", 3),
    ("M", 6),
    ("G", 9),
    ("T", 12),
    ("P", 15),
    ("E", 18),
    ("u", -6),
    ("n", -9),
];

/// The suffixes of the binary format.
pub(super) const BINARY_SUFFIXES: [(&str, i32); 6] = [
    ("Ki", 10),
    ("Mi", 20),
    ("Gi", 30),
    ("Ti", 40),
    ("Pi", 50),
    ("Ei", 60),
];

/// The factor that a suffix stands for: a power of two in the binary format, and a power of ten in the other formats.
#[derive(Debug, Clone, Copy)]
pub(super) struct Suffix {
    pub(super) format: QuantityFormat,
    pub(super) exponent: i32,
}

impl Suffix {
    pub(super) fn read(text: &[u8]) -> Option<Suffix> {
        let find = |table: &[(&str, i32)], format| {
            let found = table.iter().find(|(suffix, _)| suffix.as_bytes() == text);
            found.map(|&(_, exponent)| Suffix { format, exponent })
        };
        let named = match text {
            [_, b'i'] => find(&BINARY_SUFFIXES, QuantityFormat::Binary),
            _ => find(&DECIMAL_SUFFIXES, QuantityFormat::Decimal),
        };
        if named.is_some() {
            return named;
        }
        let [b'e' | b'E', exponent @ ..] = text else {
            return None;
        };
        // Upstream keeps the lower 32 bits.
        let exponent = parse_int(str::from_utf8(exponent).ok()?)? as i32;
        Some(Suffix {
            format: QuantityFormat::DecimalExponent,
            exponent,
        })
    }
}

/// The suffix for an exponent. As in upstream, exponents without a suffix give an empty text.
pub(super) fn suffix_of(table: &[(&'static str, i32)], exponent: i64) -> &'static str {
    let found = table
        .iter()
        .find(|(_, power)| i64::from(*power) == exponent);
    found.map_or("", |(suffix, _)| suffix)
}
