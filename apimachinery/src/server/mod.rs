//! Versions of the API server, and the differences between their answers.
//!
//! Code asks a [`Server`] whether it has a [`Difference`], never for its version. Only [`DIFFERENCES`] knows which version introduced a
//! difference. Which versions serve a kind is in another table, that of [`unserved`].

use std::fmt;
use std::str::FromStr;

use crate::version::{KubeVersion, VersionError};

mod difference;
mod release;
mod served;
mod table;

pub use difference::Difference;
pub use release::{PATCH_RELEASES, PatchRelease, REPRODUCED};
pub use served::{Unserved, is_of_later_version, no_matches, no_matches_by_default, unserved};
pub use table::{DIFFERENCES, Effect, Row};

/// An API server. It has three versions: the version of its code, the version whose features new expressions and schemas can use, and the
/// version of its built-in kinds.
///
/// ```
/// use gavel_apimachinery::server::{Difference, Server};
///
/// # fn main() -> Result<(), gavel_apimachinery::version::VersionError> {
/// let (older, newer): (Server, Server) = ("1.36".parse()?, "1.37".parse()?);
/// assert!(newer.has(Difference::RangeIsBounded));
/// assert!(!older.has(Difference::RangeIsBounded));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Server {
    version: KubeVersion,
    language: KubeVersion,
    kinds: KubeVersion,
    /// The differences that apply, one bit each.
    differences: u64,
}

impl Server {
    /// The oldest version that Gavel reproduces. Older versions are assumed to answer like this version, and versions after
    /// [`KubeVersion::NEWEST`] like the newest.
    pub const OLDEST: KubeVersion = KubeVersion::v1(34);

    /// The API server of the given version. New expressions can use all features of that version.
    pub const fn new(version: KubeVersion) -> Self {
        let mut differences = 0;
        let mut rows = DIFFERENCES;
        while let [row, rest @ ..] = rows {
            if row.since.major < version.major
                || row.since.major == version.major && row.since.minor <= version.minor
            {
                differences |= row.difference.bit();
            }
            rows = rest;
        }
        Server {
            version,
            language: version,
            kinds: version,
            differences,
        }
    }

    /// The same server, whose new expressions can use the features of version `language`, but no function that is newer than the server.
    pub const fn offering(self, language: KubeVersion) -> Self {
        Server { language, ..self }
    }

    /// The same server, with the features of the previous version for new expressions of definitions and policies. These expressions must
    /// be valid in the previous version too, so that the cluster can be rolled back.
    pub const fn compatible(self) -> Self {
        self.offering(self.version.previous())
    }

    /// The same server with the built-in kinds of version `kinds`, to show the effect of the differences between the kinds.
    pub const fn with_kinds(self, kinds: KubeVersion) -> Self {
        Server { kinds, ..self }
    }

    /// The version of the server.
    pub const fn version(self) -> KubeVersion {
        self.version
    }

    /// The version whose features new expressions can use.
    pub const fn language(self) -> KubeVersion {
        self.language
    }

    /// The version whose built-in kinds the server has.
    pub const fn kinds(self) -> KubeVersion {
        self.kinds
    }

    /// Whether the server has the newer behavior of this difference, rather than the older one.
    pub const fn has(self, difference: Difference) -> bool {
        self.differences & difference.bit() != 0
    }

    /// The same server with one difference turned on or off, to show the effect of the difference.
    pub const fn with(self, difference: Difference, has: bool) -> Self {
        let bit = difference.bit();
        Server {
            differences: match has {
                true => self.differences | bit,
                false => self.differences & !bit,
            },
            ..self
        }
    }

    /// The differences between this server and `other`, in the order of [`DIFFERENCES`].
    pub fn differences(self, other: Server) -> impl Iterator<Item = &'static Row> {
        let differ = move |row: &&Row| self.has(row.difference) != other.has(row.difference);
        DIFFERENCES.iter().filter(differ)
    }
}

impl Default for Server {
    fn default() -> Self {
        Server::new(KubeVersion::default())
    }
}

impl From<KubeVersion> for Server {
    fn from(version: KubeVersion) -> Self {
        Server::new(version)
    }
}

impl FromStr for Server {
    type Err = VersionError;

    fn from_str(text: &str) -> Result<Self, VersionError> {
        text.parse().map(Server::new)
    }
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.version.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_difference_is_one_row() {
        let mut bits = 0;
        for row in DIFFERENCES {
            assert_eq!(bits & row.difference.bit(), 0, "{row:?}");
            bits |= row.difference.bit();
            assert!(Server::OLDEST < row.since, "{row:?}");
            assert!(row.since <= KubeVersion::NEWEST, "{row:?}");
        }
        assert!(DIFFERENCES.is_sorted_by_key(|row| (row.since, row.effect)));
    }

    #[test]
    fn each_version_has_a_release_that_is_reproduced() {
        let versions: Vec<_> = REPRODUCED.iter().map(|(version, _)| *version).collect();
        let all = Server::OLDEST.minor..=KubeVersion::NEWEST.minor;
        assert_eq!(versions, all.map(KubeVersion::v1).collect::<Vec<_>>());
        assert!(PATCH_RELEASES.is_sorted_by_key(|release| (release.version, release.patch)));
    }

    #[test]
    fn a_difference_can_be_selected_alone() {
        for row in DIFFERENCES {
            let before = Server::new(row.since.previous());
            let after = before.with(row.difference, true);
            let rows: Vec<_> = before.differences(after).collect();
            assert_eq!(rows, [row]);
            assert_eq!(after.with(row.difference, false), before);
        }
    }
}
