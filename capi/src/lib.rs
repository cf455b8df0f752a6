//! Gavel for hosts that are not written in Rust: a C ABI for environments, programs, definitions and policies.
//!
//! `docs/embed-c.md` is the guide for C hosts; `include/gavel.h` is generated from this crate. The rules of the ABI:
//!
//! - Every function that can fail returns null or a [`GavelError`](error::GavelError). Results are written to `out` parameters.
//! - Handles are opaque and thread-safe: any number of threads can use one at the same time. Each has a function that frees it.
//! - Texts and bytes are passed as a pointer and a length. The library reads them during the call and keeps no pointer.
//! - A panic becomes an error of kind `Panic`. There is no global state.
//!
//! A host that compiles an expression once and evaluates it for `{"x": 2}`:
//!
//! ```c
//! #include "gavel.h"
//! #include <stdio.h>
//!
//! static const uint8_t spec[] = "{\"server\": \"1.36\", \"vars\": {\"x\": \"int\"}}";
//! static const uint8_t text[] = "x + 1 == 3";
//! /* {"x": 2} in the flat encoding: an object, one entry, the name of one byte, an int. */
//! static const uint8_t variables[] = "\x09\x01\0\0\0" "\x01\0\0\0x" "\x03\x02\0\0\0\0\0\0\0";
//!
//! static int failed(GavelError *error) {
//!   if (error == NULL) return 0;
//!   GavelErrorView view;
//!   gavel_error_read(error, &view);
//!   fprintf(stderr, "%.*s\n", (int)view.message.len, (const char *)view.message.data);
//!   gavel_error_free(error);
//!   return 1;
//! }
//!
//! int main(void) {
//!   GavelEnv *env = NULL;
//!   GavelProgram *program = NULL;
//!   GavelOutcome outcome;
//!   if (failed(gavel_env_new(spec, sizeof spec - 1, &env))) return 1;
//!   if (failed(gavel_env_compile(env, text, sizeof text - 1, &program))) return 1;
//!   if (failed(gavel_program_eval(program, variables, sizeof variables - 1, NULL, &outcome))) return 1;
//!   printf("%s, %llu cost units\n", outcome.number ? "true" : "false", (unsigned long long)outcome.cost);
//!   gavel_program_free(program);
//!   gavel_env_free(env);
//! }
//! ```
//!
//! The program prints `true, 3 cost units`. `capi/examples/embed.c` is a longer example with custom resources, policies, an authorizer and
//! cancellation. Programs in Rust use the crate `gavel` instead. Programs in Go use the module in `go/`.

pub mod abi;
mod arguments;
pub mod callbacks;
pub mod conditions;
pub mod decision;
pub mod definition;
pub mod environment;
pub mod error;
mod flat;
pub mod memory;
pub mod options;
pub mod policy;
pub mod program;
pub mod resource;
pub mod schema_rules;
pub mod value;
