//! Unicode tables as Go 1.26 knows them (`unicode/tables.go`, Unicode 15.0).
//!
//! The data is regex-syntax's, restricted to the code points that Unicode 15.0 assigns. A few code points changed their
//! category since; they differ from Go.

use regex_syntax::hir::{Class, ClassUnicode, HirKind};

/// The code points of a property as regex-syntax spells its query, such as `gc=Lu` or `sc=Greek`, that Go knows.
///
/// `None` where there is no such property.
pub(super) fn property(query: &str) -> Option<ClassUnicode> {
    let mut class = parse(&format!(r"\p{{{query}}}"))?;
    class.intersect(&parse(r"\p{age=15.0}")?);
    Some(class)
}

fn parse(pattern: &str) -> Option<ClassUnicode> {
    match regex_syntax::parse(pattern).ok()?.into_kind() {
        HirKind::Class(Class::Unicode(class)) => Some(class),
        _ => None,
    }
}
