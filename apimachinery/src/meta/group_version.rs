//! Groups and versions of APIs (apimachinery `pkg/runtime/schema`).

use std::fmt;

/// The parts of an `apiVersion`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct GroupVersion<'a> {
    /// The API group; empty is the core group.
    pub group: &'a str,
    /// The version.
    pub version: &'a str,
}

impl<'a> GroupVersion<'a> {
    /// Reads an `apiVersion`: `group/version` or `version`. An empty text and a lone slash have an empty group and version.
    ///
    /// # Errors
    ///
    /// The text has more than one slash. The message is upstream's.
    pub fn parse(api_version: &'a str) -> Result<Self, String> {
        if matches!(api_version, "" | "/") {
            return Ok(Self::default());
        }
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        match version.contains('/') {
            true => Err(format!("unexpected GroupVersion string: {api_version}")),
            false => Ok(GroupVersion { group, version }),
        }
    }
}

impl fmt::Display for GroupVersion<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.group.is_empty() {
            write!(f, "{}/", self.group)?;
        }
        f.write_str(self.version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn core_has_no_group() {
        let check = |text: &str, expected: Option<(&str, &str)>| {
            let parsed = GroupVersion::parse(text).ok();
            assert_eq!(parsed.map(|gv| (gv.group, gv.version)), expected, "{text}");
        };
        check("v1", Some(("", "v1")));
        check("a/v1", Some(("a", "v1")));
        check("a/", Some(("a", "")));
        check("/v1", Some(("", "v1")));
        check("/", Some(("", "")));
        check("", Some(("", "")));
        check("a/b/c", None);
        check("//", None);
    }
}
