//! What the asynchronous client does beside a phase's own statement.
use super::{Bound, failed};
use crate::core::{Outcome, fail};
use futures_util::TryStreamExt;
use std::pin::pin;
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, SimpleQueryMessage};

/// Begins a transaction, in the words of `Client::transaction`, which would borrow the client.
pub async fn begin(client: &Client) -> Outcome<()> {
    client.batch_execute("START TRANSACTION").await.map_err(failed)
}

pub async fn commit(client: &Client) -> Outcome<()> {
    client.batch_execute("COMMIT").await.map_err(failed)
}

/// Stores rows by COPY in the binary format.
pub async fn copy(client: &Client, sql: &str, types: &[Type], rows: &[Vec<Bound>]) -> Outcome<()> {
    let sink = client.copy_in(sql).await.map_err(failed)?;
    let mut writer = pin!(BinaryCopyInWriter::new(sink, types));
    for row in rows {
        writer.as_mut().write_raw(row.iter().map(AsRef::as_ref)).await.map_err(failed)?;
    }
    writer.finish().await.map(|_| ()).map_err(failed)
}

/// Executes a query and throws its rows away.
pub async fn drain(client: &Client, sql: &str) -> Outcome<()> {
    let mut rows = pin!(client.query_typed_raw(sql, no_parameters()).await.map_err(failed)?);
    while rows.try_next().await.map_err(failed)?.is_some() {}
    Ok(())
}

fn no_parameters() -> [(i32, Type); 0] {
    []
}

/// The text of a query's first value.
pub async fn ask(client: &Client, sql: &str) -> Outcome<String> {
    let messages = client.simple_query(sql).await.map_err(failed)?;
    let text = messages.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0),
        _ => None,
    });
    text.map(str::to_string).ok_or_else(|| fail("sql", "no row came"))
}
