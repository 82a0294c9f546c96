//! Calls of the trivial tool over many connections, and what they cost the server.

use anyhow::Result;
use toolroom_bench::calls::{Caller, TOOL};
use toolroom_bench::served::Served;

pub struct Load {
    pub served: Served,
    connections: usize,
}

impl Load {
    pub fn new(served: Served, connections: usize) -> Self {
        Self { served, connections }
    }

    /// Microseconds of the server's processor time per call. The connections are new: while the other servers have
    /// their turns, one that rests would be closed.
    pub async fn run(&self, calls: usize) -> Result<f64> {
        let each = calls / self.connections;
        let mut open = Vec::new();
        for _ in 0..self.connections {
            open.push(Caller::connect(&self.served, TOOL).await?);
        }
        let before = self.served.processor_time()?;
        let work: Vec<_> = open.into_iter().map(|caller| tokio::spawn(call(caller, each))).collect();
        for connection in work {
            connection.await??;
        }
        let spent = self.served.processor_time()? - before;
        Ok(spent * 1e6 / (each * self.connections) as f64)
    }
}

async fn call(mut caller: Caller, calls: usize) -> Result<()> {
    for _ in 0..calls {
        caller.call().await?;
    }
    Ok(())
}
