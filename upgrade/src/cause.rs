//! Causes of differences between two API servers.

use gavel_apimachinery::server::Row;
use gavel_libraries::{KubeVersion, Server};

/// The cause of a difference between the answers of two API servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// A row of the table of differences between versions of Kubernetes.
    Row(&'static Row),
    /// A difference in language: functions, macros and formats that only one of the two versions has. The field is the later version.
    Language(KubeVersion),
}

impl Cause {
    /// The possible causes of differences between two servers: the rows of the table that distinguish them, and the language of
    /// their versions.
    pub(crate) fn candidates(from: Server, to: Server) -> Vec<Cause> {
        let rows = from.differences(to).map(Cause::Row);
        let language = Cause::Language(from.version().max(to.version()));
        rows.chain([language]).collect()
    }

    /// Returns `server`, with the row or the language of this cause taken from `other`.
    pub(crate) fn exchanged(self, server: Server, other: Server) -> Server {
        match self {
            Cause::Row(row) => server.with(row.difference, other.has(row.difference)),
            Cause::Language(_) => other.differences(server).fold(other, |other, row| {
                other.with(row.difference, server.has(row.difference))
            }),
        }
    }
}
