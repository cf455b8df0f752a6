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
    /// A difference in Kubernetes' own kinds: kinds, fields and defaults that only one of the two versions has. The field is the later
    /// version.
    Kinds(KubeVersion),
}

impl Cause {
    /// The possible causes of differences between two servers: the rows of the table that distinguish them, and the language and the kinds
    /// of their versions.
    pub(crate) fn candidates(from: Server, to: Server) -> Vec<Cause> {
        let rows = from.differences(to).map(Cause::Row);
        let later = from.version().max(to.version());
        rows.chain([Cause::Language(later), Cause::Kinds(later)])
            .collect()
    }

    /// Returns `server`, with the row, the language or the kinds of this cause taken from `other`.
    pub(crate) fn exchanged(self, server: Server, other: Server) -> Server {
        match self {
            Cause::Row(row) => server.with(row.difference, other.has(row.difference)),
            Cause::Language(_) => {
                let other = other.with_kinds(server.kinds());
                other.differences(server).fold(other, |other, row| {
                    other.with(row.difference, server.has(row.difference))
                })
            }
            Cause::Kinds(_) => server.with_kinds(other.kinds()),
        }
    }
}
