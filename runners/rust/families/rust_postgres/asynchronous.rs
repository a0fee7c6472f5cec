//! What the asynchronous client does beside a phase's own statement.
use super::statements::Statements;
use super::{failed, first_text};
use crate::core::Outcome;
use futures_util::TryStreamExt;
use std::pin::pin;
use tokio_postgres::Client;
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::Type;

/// Begins a transaction, in the words of `Client::transaction`, which would borrow the client.
pub async fn begin(client: &Client) -> Outcome<()> {
    client.batch_execute("START TRANSACTION").await.map_err(failed)
}

pub async fn commit(client: &Client) -> Outcome<()> {
    client.batch_execute("COMMIT").await.map_err(failed)
}

/// Stores the rows of one operation by COPY in the binary format.
pub async fn copy(client: &Client, statements: &Statements, operation: usize) -> Outcome<()> {
    let sink = client.copy_in(statements.sql(0)).await.map_err(failed)?;
    let mut writer = pin!(BinaryCopyInWriter::new(sink, &statements.types));
    for row in statements.rows_of(operation) {
        writer.as_mut().write_raw(statements.given(row)).await.map_err(failed)?;
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
    first_text(&client.simple_query(sql).await.map_err(failed)?)
}
