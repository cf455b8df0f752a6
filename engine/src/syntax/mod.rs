//! From text to tree: lexer, parser, macro expansion.
