//! Builds the user of a request from the name and groups that a command line or a test gives.

use gavel_libraries::authorizer::UserInfo;

/// The user that an API server sees when a client impersonates the user `name`. If `groups` is empty, a service account gets the groups of
/// service accounts. Every authenticated user is in `system:authenticated`.
pub fn user(name: &str, groups: &[String]) -> UserInfo {
    let service_account = name
        .strip_prefix("system:serviceaccount:")
        .and_then(|account| account.split_once(':'))
        .filter(|_| groups.is_empty());
    let mut user = match service_account {
        Some((namespace, name)) => UserInfo::service_account(namespace, name),
        None => UserInfo {
            name: name.to_owned(),
            groups: groups.to_vec(),
            ..UserInfo::default()
        },
    };
    let everybody = match name {
        "system:anonymous" => "system:unauthenticated",
        _ => "system:authenticated",
    };
    if !user.groups.iter().any(|group| group == everybody) {
        user.groups.push(everybody.to_owned());
    }
    user
}
