//! The user whose requests a command evaluates.

use clap::Args;
use gavel_libraries::authorizer::UserInfo;

/// The user of requests.
#[derive(Debug, Args)]
pub(crate) struct RequesterArgs {
    /// The user who makes the requests: a name, or system:serviceaccount:NAMESPACE:NAME
    #[arg(long = "as", value_name = "USER", default_value = "kubernetes-admin")]
    user: String,

    /// A group of that user; can be repeated
    #[arg(long = "as-group", value_name = "GROUP")]
    groups: Vec<String>,
}

impl RequesterArgs {
    /// The user as policies see it.
    pub(crate) fn user(&self) -> UserInfo {
        gavel_check::user(&self.user, &self.groups)
    }
}
