//! How much more several servers on one database serve than one, of work that waits: a script of 50 ms in 16 slots.
//!
//! The program itself is measured, each server in a home of its own. What computes is bound by the cores of the machine,
//! and is no measure of this.
#![allow(clippy::print_stdout, reason = "benchmarks print their figures")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::json;
use toolroom_bench::figures::{Limit, heading, line};

/// More callers of each server than slots of the script, so that none is ever free.
const CALLERS: usize = 24;
const LONG: Duration = Duration::from_secs(8);

fn main() -> Result<()> {
    let url = std::env::var("TOOLROOM_TEST_POSTGRES").context("run `cargo xtask bench replicas`")?;
    heading("calls of a script of 50 ms in 16 slots, a second");
    let mut one = 0.0;
    for (count, least) in [(1, None), (2, Some(1.95)), (4, Some(3.8))] {
        let served = measure(&url, count)?;
        let limit = |least: Option<f64>| least.map_or(Limit::None, Limit::AtLeast);
        line(&format!("{count} servers"), served, "/s", Limit::None);
        match least {
            None => one = served,
            Some(_) => line(&format!("{count} servers beside one"), served / one, "x", limit(least)),
        }
    }
    Ok(())
}

/// Calls a second over so many servers.
fn measure(url: &str, count: usize) -> Result<f64> {
    let folder = tempfile::tempdir()?;
    let database = format!("replicas_{count}_{}", std::process::id());
    let mut admin = postgres::Client::connect(url, postgres::NoTls)?;
    admin.batch_execute(&format!("CREATE DATABASE {database}"))?;
    let (server, _) = url.rsplit_once('/').context("the URL names a database")?;
    let own = format!("{server}/{database}");
    let servers: Vec<Server> = (0..count)
        .map(|number| Server::start(&folder.path().join(format!("home-{number}")), &own))
        .collect::<Result<_>>()?;
    let addresses: Vec<&str> = servers.iter().map(|server| server.address.as_str()).collect();
    // The workers of every slot are warm before the clock starts.
    call_for(&addresses, Duration::from_secs(2))?;
    let (began, calls) = (Instant::now(), call_for(&addresses, LONG)?);
    let served = calls as f64 / began.elapsed().as_secs_f64();
    drop(servers);
    admin.batch_execute(&format!("DROP DATABASE {database} WITH (FORCE)"))?;
    Ok(served)
}

fn call_for(addresses: &[&str], long: Duration) -> Result<usize> {
    let end = Instant::now() + long;
    thread::scope(|scope| {
        let callers: Vec<_> = addresses
            .iter()
            .flat_map(|address| (0..CALLERS).map(move |_| *address))
            .map(|address| scope.spawn(move || call_until(address, end)))
            .collect();
        callers
            .into_iter()
            .map(|caller| caller.join().map_err(|_| anyhow::anyhow!("a caller panicked"))?)
            .sum()
    })
}

fn call_until(address: &str, end: Instant) -> Result<usize> {
    let mut stream = BufReader::new(TcpStream::connect(address)?);
    stream.get_ref().set_nodelay(true)?;
    let body = json!({ "params": {} }).to_string();
    let request = format!(
        "POST /api/v1/tools/wait/call HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut calls = 0;
    while Instant::now() < end {
        stream.get_mut().write_all(request.as_bytes())?;
        let (mut head, mut length) = (String::new(), 0);
        stream.read_line(&mut head)?;
        loop {
            let mut field = String::new();
            stream.read_line(&mut field)?;
            let Some((name, value)) = field.trim_end().split_once(':') else { break };
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse()?;
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body)?;
        if !head.contains(" 200 ") {
            bail!("{head}{}", String::from_utf8_lossy(&body));
        }
        calls += 1;
    }
    Ok(calls)
}

/// The program, serving a home that has the script.
struct Server {
    process: Child,
    address: String,
}

impl Server {
    fn start(home: &Path, database: &str) -> Result<Self> {
        let program = std::env::current_exe()?.with_file_name("toolroom");
        let made = Command::new(&program).arg("init").env("TOOLROOM_HOME", home).output()?;
        if !made.status.success() {
            bail!("{}", String::from_utf8_lossy(&made.stderr));
        }
        let entry = json!({ "tools": [{
            "name": "wait",
            "description": "Waits for 50 ms. Use it in benchmarks. Returns nothing of use.",
            "type": "local",
            "parallel_capable": true,
            "config": { "script_path": "wait.py" },
        }] });
        std::fs::write(home.join("tools/tools.json"), entry.to_string())?;
        let script =
            "import time\ndef run(params, context):\n    time.sleep(0.05)\n    return {'done': True}\n";
        std::fs::write(home.join("tools/wait.py"), script)?;
        let mut command = Command::new(&program);
        command.args(["serve", "--shared", "--listen", "127.0.0.1:0", "--database", database]);
        command.env("TOOLROOM_HOME", home).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn()?;
        let mut said = String::new();
        BufReader::new(process.stdout.take().context("it has an output")?).read_line(&mut said)?;
        let address =
            said.trim_end().strip_prefix("listening on http://").context("it says where it listens")?;
        Ok(Self { process, address: address.to_owned() })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
