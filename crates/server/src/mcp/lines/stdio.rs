//! Standard input and output as lines are read from and written to. Each has its own thread, so that a read
//! that waits, or a reader that does not read, never keeps the process from ending.

use std::io::{Read, Write};
use std::thread;

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

/// What is held in between.
const HELD: usize = 64 * 1024;

/// Standard input. For one reader in the process.
pub fn standard_input() -> DuplexStream {
    let (mut ours, theirs) = duplex(HELD);
    let runtime = Handle::current();
    thread::spawn(move || {
        let mut input = std::io::stdin().lock();
        let mut space = vec![0; HELD];
        while let Ok(read @ 1..) = input.read(&mut space) {
            if runtime.block_on(ours.write_all(&space[..read])).is_err() {
                return;
            }
        }
    });
    theirs
}

/// Standard output, and a word when all is written after the last of it was given.
pub fn standard_output() -> (DuplexStream, oneshot::Receiver<()>) {
    let (mut ours, theirs) = duplex(HELD);
    let (tell, told) = oneshot::channel();
    let runtime = Handle::current();
    thread::spawn(move || {
        let mut output = std::io::stdout().lock();
        let mut space = vec![0; HELD];
        while let Ok(read @ 1..) = runtime.block_on(ours.read(&mut space)) {
            if output.write_all(&space[..read]).and_then(|()| output.flush()).is_err() {
                break;
            }
        }
        // Nobody may wait for it any more.
        let _ = tell.send(());
    });
    (theirs, told)
}
