//! The figures of the store, aim and measured side by side, beside a bare loop on the same rows as the limit.
//!
//! `cargo xtask bench store` runs it, with `PLEAT_BENCH_POSTGRES` naming an empty database on a server that writes to
//! the disk as a real one does. Without that only the embedded database is measured. `store_bench sqlite` or `store_bench
//! postgres` measures one.

mod deltas;
mod postgres;
mod sample;
mod sqlite;
mod table;

const POSTGRES: &str = "PLEAT_BENCH_POSTGRES";

#[tokio::main]
async fn main() -> sample::Outcome<()> {
    let only = std::env::args().nth(1);
    let is_wanted = |name: &str| only.as_deref().is_none_or(|only| only == name);
    table::head();
    if is_wanted("sqlite") {
        let folder = tempfile::tempdir()?;
        sqlite::measure(folder.path()).await?;
    }
    if !is_wanted("postgres") {
        return Ok(());
    }
    let Ok(address) = std::env::var(POSTGRES) else {
        println!("{POSTGRES} names no server: PostgreSQL is not measured");
        return Ok(());
    };
    postgres::measure(&address).await
}
