//! Tells the runner which compiler built it, and which versions of drivers and pools Cargo.lock pins.
use std::process::Command;

const CRATES: [&str; 10] =
    ["bb8", "deadpool", "duckdb", "mysql", "mysql_async", "postgres", "r2d2", "rusqlite", "sqlx", "tokio-postgres"];

fn main() {
    println!("cargo::rerun-if-changed=Cargo.lock");
    println!("cargo::rerun-if-env-changed=ROWPATH_SOURCES"); // of another clone they may be older than what is compiled
    let rustc = std::env::var("RUSTC").unwrap_or("rustc".into());
    let printed = Command::new(rustc).arg("--version").output().map(|output| output.stdout).unwrap_or_default();
    println!("cargo::rustc-env=ROWPATH_RUSTC={}", String::from_utf8_lossy(&printed).trim());
    let lock = std::fs::read_to_string("Cargo.lock").unwrap_or_default();
    for name in CRATES {
        let entry = format!("name = \"{name}\"\nversion = \"");
        let version = lock.split_once(&entry).and_then(|(_, rest)| rest.split('"').next()).unwrap_or("unknown");
        println!("cargo::rustc-env=ROWPATH_VERSION_{}={version}", name.to_uppercase().replace('-', "_"));
    }
}
