//! `toolroom mcp`: MCP on standard input and output, through a server that runs, or as one for as long as it lasts.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use axum::body::Body;
use clap::Args;
use http::{Request, StatusCode, header};
use http_body_util::BodyExt;
use hyper::client::conn::http1;
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncWriteExt, DuplexStream, copy, split};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use toolroom_profiles::DEFAULT;
use toolroom_server::auth::USER_HEADER;
use toolroom_server::listener::{Limits, Listener, connect_unix, serve};
use toolroom_server::{LINES_PROTOCOL, LinesError, serve_lines, standard_input, standard_output};

use super::Globals;
use crate::client::{Way, encoded, find_way, problem};
use crate::config::Config;
use crate::failure::Failure;
use crate::home::{Home, HomeLock};
use crate::wiring;

/// Serve MCP on stdin and stdout
#[derive(Debug, Args)]
#[command(after_help = "Example, in the settings of an MCP client:
  {\"mcpServers\": {\"toolroom\": {\"command\": \"toolroom\", \"args\": [\"mcp\"]}}}

It acts as 'local' with every permission, because only the home's owner can start it. If 'toolroom serve' runs on the
home, it goes through that server. It ends when its input ends. TOOLROOM_LOG=debug logs more to stderr.")]
pub struct Mcp {
    /// Serve this profile's tools
    #[arg(long, value_name = "NAME", default_value = DEFAULT)]
    profile: String,
    /// Act as this user instead of 'local'
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
}

/// How long others on the socket may take to end.
const GRACE: Duration = Duration::from_secs(1);

impl Mcp {
    pub async fn run(self, globals: &Globals) -> Result<ExitCode> {
        let home = globals.home()?;
        let mut terminated = signal(SignalKind::terminate())?;
        let (output, written) = standard_output();
        let served = async {
            let served = match find_way(&home).await? {
                Way::Socket => self.pass_on(&home, output).await,
                Way::Files(lock) => {
                    let config = Config::load(&home, &globals.overrides())?;
                    self.serve(&home, &config, lock, output).await
                }
            };
            // Do not wait for a reader that does not read.
            let _ = timeout(GRACE, written).await;
            served
        };
        tokio::select! {
            served = served => served.map(|()| ExitCode::SUCCESS),
            _ = terminated.recv() => Ok(ExitCode::SUCCESS),
            Ok(()) = tokio::signal::ctrl_c() => Ok(ExitCode::from(130)),
        }
    }

    /// Serves in this process. Other commands find it on the home's socket, as they would a server.
    async fn serve(&self, home: &Home, config: &Config, lock: HomeLock, output: DuplexStream) -> Result<()> {
        let service = wiring::build(home, config)?;
        let owner = Listener::bind_unix(&home.socket())?;
        service.app.follow_servers();
        service.app.federation.start();
        let stop = CancellationToken::new();
        let others = serve(owner, service.router.clone(), Limits::default(), stop.clone(), GRACE);
        let others = tokio::spawn(others);
        let app = service.app.clone();
        let served = serve_lines(app, self.user.as_deref(), &self.profile, standard_input(), output).await;
        stop.cancel();
        service.app.stopping.cancel();
        others.await.context("the socket's server failed")?;
        service.app.federation.shutdown().await;
        drop(service);
        drop(lock);
        served.map_err(|error| self.failure(error).into())
    }

    /// Passes lines on to the running server.
    async fn pass_on(&self, home: &Home, mut output: DuplexStream) -> Result<()> {
        let (mut from_server, mut to_server) = split(TokioIo::new(self.upgraded(home).await?));
        let mut lines = standard_input();
        let sent = async {
            copy(&mut lines, &mut to_server).await?;
            // The end of the input ends the session there.
            to_server.shutdown().await
        };
        let received = copy(&mut from_server, &mut output);
        tokio::pin!(sent, received);
        let input_ended = tokio::select! {
            sent = &mut sent => sent.is_ok(),
            received = &mut received => {
                received.context("the connection to the server was lost")?;
                false
            }
        };
        if input_ended {
            received.await.context("the connection to the server was lost")?;
            return Ok(());
        }
        Err(Failure::new("the server stopped", "Restart it, then restart the MCP client.").into())
    }

    async fn upgraded(&self, home: &Home) -> Result<Upgraded> {
        let stream = connect_unix(&home.socket()).await.context("the server stopped answering")?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection.with_upgrades());
        let mut request = Request::get(format!("/api/v1/lines?profile={}", encoded(&self.profile)))
            .header(header::HOST, "localhost")
            .header(header::CONNECTION, "upgrade")
            .header(header::UPGRADE, LINES_PROTOCOL);
        if let Some(user) = &self.user {
            request = request.header(USER_HEADER, user);
        }
        let request = request
            .body(Body::empty())
            .map_err(|_| Failure::usage("the user's name cannot be sent", "Use plain ASCII characters."))?;
        let response = sender.send_request(request).await.context("the server stopped during the request")?;
        match response.status() {
            StatusCode::SWITCHING_PROTOCOLS => Ok(hyper::upgrade::on(response).await?),
            StatusCode::NOT_FOUND => Err(self.failure(LinesError::NoProfile(self.profile.clone())).into()),
            _ => {
                let body = response.into_body().collect().await?.to_bytes();
                Err(problem::failure(&serde_json::from_slice(&body).unwrap_or_default()).into())
            }
        }
    }

    fn failure(&self, error: LinesError) -> Failure {
        let hint = match &error {
            LinesError::NoProfile(_) => "Remove --profile, or name an existing profile.",
            LinesError::User(_) => "Run 'toolroom doctor' to find problems with the home.",
            LinesError::Broken(_) => "Restart the MCP client.",
        };
        Failure::new(error.to_string(), hint)
    }
}
