//! Admission policies, decided as the API server decides them. Layer 2; sees no `crd`.

pub mod api;
pub mod cel;
