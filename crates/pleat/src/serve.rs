//! `pleat` without a command: serves the web face.

use crate::command_line::ServeArguments;
use crate::configuration::Configuration;
use crate::data_folder::DataFolder;
use crate::database;
use crate::failure::Failure;
use crate::stop_signals::StopSignals;
use pleat_host::{Host, HostSettings};
use pleat_web::Access;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr};
use tokio::net::TcpListener;

/// The first port that is tried, and how many after it.
const PORT: u16 = 7420;
const PORTS: u16 = 20;

pub(crate) fn serve(arguments: &ServeArguments) -> Result<(), Failure> {
    let configuration = Configuration::read(arguments.config.as_deref())?;
    let folder = DataFolder::open(arguments.data.as_deref())?;
    let settings = configuration.host_settings(&folder);
    let agents = configuration.agents()?;
    let address = database::chosen(arguments)?;
    let settings = HostSettings { hidden_variables: database::hidden_variables(&address), ..settings };
    // Held until the end.
    let _lock = database::lock(&address)?;
    let token = folder.access_token()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::internal(format!("the runtime could not be started: {error}")))?;
    runtime.block_on(async {
        let store = database::open(&address).await?.into_shared();
        let listener = listen(arguments.listen).await?;
        let address = listener.local_addr().map_err(Failure::internal)?;
        let host = Host::start_with(store, agents, settings).await?;
        let access = Access::new(token, address);
        let link = access.login_link();
        // Before anybody knows that it serves: then whoever does can end it in order.
        let mut signals = StopSignals::listen().map_err(Failure::internal)?;
        println!("Pleat is at {link}");
        if !arguments.no_open && has_desktop() {
            // Without a browser the link on the terminal does.
            if let Err(error) = open::that_detached(&link) {
                tracing::info!(%error, "no browser could be opened");
            }
        }
        let stop = async move { signals.next().await };
        let served = pleat_web::serve(listener, host.clone(), access, stop).await;
        host.shut_down().await;
        served.map_err(|error| Failure::internal(format!("the server ended: {error}")))
    })
}

async fn listen(asked: Option<SocketAddr>) -> Result<TcpListener, Failure> {
    if let Some(address) = asked {
        return TcpListener::bind(address).await.map_err(|error| {
            let advice = if error.kind() == ErrorKind::AddrInUse {
                "the port is taken; choose another with --listen, or leave --listen out"
            } else {
                "choose another address with --listen"
            };
            Failure::configuration(format!("cannot listen on {address} ({error}): {advice}"))
        });
    }
    for port in PORT..PORT + PORTS {
        match TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await {
            Ok(listener) => return Ok(listener),
            Err(error) if error.kind() == ErrorKind::AddrInUse => {}
            Err(error) => return Err(Failure::configuration(format!("cannot listen on 127.0.0.1:{port}: {error}"))),
        }
    }
    let last = PORT + PORTS - 1;
    Err(Failure::configuration(format!("the ports {PORT} to {last} are all taken; choose another with --listen")))
}

/// Whether a browser could be seen.
fn has_desktop() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    cfg!(any(target_os = "macos", windows)) || set("DISPLAY") || set("WAYLAND_DISPLAY")
}
