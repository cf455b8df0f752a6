use super::*;

#[test]
fn smoke() {
    assert_eq!(Regex::new("a(b").unwrap_err().to_string(), "error parsing regexp: missing closing ): `a(b`");
}
