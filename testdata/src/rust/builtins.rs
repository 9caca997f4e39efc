// The place of compiler_builtins, which rustc asks for and these crates do not use.
#![feature(compiler_builtins)]
#![compiler_builtins]
#![no_std]
