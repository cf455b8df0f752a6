//! CustomResourceDefinitions: their rules compiled and costed, their objects validated. Layer 2.
