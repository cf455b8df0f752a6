//! The types that the libraries of Kubernetes bring.
