//! The validating admission webhook. Layer 3.
