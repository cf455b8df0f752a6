//! Card numbers, ISBNs and social security numbers (kube-openapi's copy of `govalidator`).

/// Whether the digits of the text are a credit card number. Other characters are ignored.
pub(super) fn is_credit_card(text: &str) -> bool {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_digit).collect();
    let issued = match digits.as_slice() {
        [b'4', ..] => matches!(digits.len(), 13 | 16),
        [b'5', b'1'..=b'5', ..] => digits.len() == 16,
        [b'6', b'0', b'1', b'1', ..] | [b'6', b'5', ..] => digits.len() == 16,
        [b'3', b'4' | b'7', ..] => digits.len() == 15,
        [b'3', b'0', b'0'..=b'5', ..] | [b'3', b'6' | b'8', ..] => digits.len() == 14,
        [b'2', b'1', b'3', b'1', ..] | [b'1', b'8', b'0', b'0', ..] => digits.len() == 15,
        [b'3', b'5', ..] => digits.len() == 16,
        _ => false,
    };
    let doubled = |(place, digit): (usize, &u8)| {
        let digit = digit_value(*digit);
        match place.is_multiple_of(2) {
            true => digit,
            false if digit > 4 => digit.saturating_mul(2).saturating_sub(9),
            false => digit.saturating_mul(2),
        }
    };
    let sum: u32 = digits.iter().rev().enumerate().map(doubled).sum();
    issued && sum.is_multiple_of(10)
}

pub(super) fn is_isbn10(text: &str) -> bool {
    let characters = without_separators(text);
    let Some((last, digits)) = characters.split_last() else {
        return false;
    };
    let check = match last {
        b'X' => 10,
        digit if digit.is_ascii_digit() => digit_value(*digit),
        _ => return false,
    };
    let weighted = digits
        .iter()
        .zip(1..)
        .map(|(digit, weight): (&u8, u32)| digit_value(*digit).saturating_mul(weight));
    let sum = weighted
        .sum::<u32>()
        .saturating_add(check.saturating_mul(10));
    digits.len() == 9 && digits.iter().all(u8::is_ascii_digit) && sum.is_multiple_of(11)
}

pub(super) fn is_isbn13(text: &str) -> bool {
    let digits = without_separators(text);
    let weighted = digits.iter().zip([1, 3].into_iter().cycle());
    let sum: u32 = weighted
        .map(|(digit, weight): (&u8, u32)| digit_value(*digit).saturating_mul(weight))
        .sum();
    digits.len() == 13 && digits.iter().all(u8::is_ascii_digit) && sum.is_multiple_of(10)
}

/// The text without dashes and white space (Go's `\s`).
fn without_separators(text: &str) -> Vec<u8> {
    let separates = |byte: &u8| matches!(byte, b'\t' | b'\n' | b'\x0c' | b'\r' | b' ' | b'-');
    text.bytes().filter(|byte| !separates(byte)).collect()
}

fn digit_value(digit: u8) -> u32 {
    digit.saturating_sub(b'0').into()
}

/// Whether the text is a social security number with dashes or spaces: `123-45-6789`.
pub(super) fn is_social_security_number(text: &str) -> bool {
    let bytes = text.as_bytes();
    let [_, _, _, b'-' | b' ', _, _, b'-' | b' ', _, _, _, _] = bytes else {
        return false;
    };
    let digits = |bytes: &&u8| bytes.is_ascii_digit();
    bytes.iter().filter(digits).count() == 9
}
