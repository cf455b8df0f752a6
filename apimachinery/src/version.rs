//! Reads, compares and prints versions of Kubernetes, such as 1.36.

use std::fmt;
use std::str::FromStr;

/// A version of Kubernetes: major and minor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KubeVersion {
    /// The major version.
    pub major: u32,
    /// The minor version.
    pub minor: u32,
}

/// The error for a text that is not a version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a Kubernetes version; write for example 1.37")]
pub struct VersionError(pub String);

impl KubeVersion {
    /// The newest version that Gavel knows. It is the default.
    pub const NEWEST: KubeVersion = KubeVersion::v1(37);

    /// The version `1.minor`.
    pub const fn v1(minor: u32) -> Self {
        KubeVersion { major: 1, minor }
    }

    /// The previous minor version, to which an API server may be rolled back.
    pub const fn previous(self) -> Self {
        KubeVersion {
            major: self.major,
            minor: self.minor.saturating_sub(1),
        }
    }
}

impl Default for KubeVersion {
    fn default() -> Self {
        KubeVersion::NEWEST
    }
}

impl FromStr for KubeVersion {
    type Err = VersionError;

    /// Reads `1.36`, `v1.36` and `1.36.1`; the patch number is ignored.
    fn from_str(text: &str) -> Result<Self, VersionError> {
        read(text).ok_or_else(|| VersionError(text.to_owned()))
    }
}

fn read(text: &str) -> Option<KubeVersion> {
    let number = |text: &str| match text.bytes().all(|b| b.is_ascii_digit()) {
        true => text.parse().ok(),
        false => None,
    };
    let numbers = text.strip_prefix('v').unwrap_or(text).split('.');
    let numbers: Vec<u32> = numbers.map(number).collect::<Option<_>>()?;
    match *numbers {
        [major, minor] | [major, minor, _] => Some(KubeVersion { major, minor }),
        _ => None,
    }
}

impl fmt::Display for KubeVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_versions() {
        let check = |text: &str, expected: Option<KubeVersion>| {
            assert_eq!(text.parse().ok(), expected, "{text}");
        };
        check("1.36", Some(KubeVersion::v1(36)));
        check("v1.23", Some(KubeVersion::v1(23)));
        check("1.36.1", Some(KubeVersion::v1(36)));
        check("2.0", Some(KubeVersion { major: 2, minor: 0 }));
        for text in [
            "", "1", "1.", ".1", "1.x", "1.+2", "1.36.", "1.36.x", "1.2.3.4", "vv1.2",
        ] {
            check(text, None);
        }
    }

    #[test]
    fn later_versions_are_greater() {
        assert!(KubeVersion::v1(9) < KubeVersion::v1(36));
        assert!(KubeVersion::v1(36) < KubeVersion { major: 2, minor: 0 });
    }
}
