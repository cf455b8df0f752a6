//! The user of a request whom a command line or a test names.

use gavel_libraries::authorizer::UserInfo;

/// The user that an API server sees when a client impersonates the user `name`. A service account is in the groups of service accounts,
/// unless groups are given. Every authenticated user is in `system:authenticated`.
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
