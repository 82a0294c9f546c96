//! The program: all of it is in the library.

/// Answers are made on one thread and freed on another, which is slow with the system allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    toolroom::main()
}
