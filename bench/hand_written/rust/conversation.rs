//! What the programs have in common: settings, keys, and answers as common.h says.
use std::collections::HashMap;
use std::error::Error;
use std::fs::read_to_string;
use std::io::{BufRead, stdin};
use std::time::{Duration, Instant};

pub type Outcome<T> = Result<T, Box<dyn Error>>;

pub struct Conversation {
    settings: HashMap<String, String>,
    /// Empty where an operation takes none.
    pub keys: Vec<String>,
}

impl Conversation {
    pub fn begin() -> Outcome<Conversation> {
        let mut settings = HashMap::new();
        for line in stdin().lock().lines() {
            let line = line?;
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once('=').ok_or("a setting is name=value")?;
            settings.insert(name.to_string(), value.to_string());
        }
        let keys = match settings.get("keys") {
            Some(file) => read_to_string(file)?.lines().map(String::from).collect(),
            None => Vec::new(),
        };
        Ok(Conversation { settings, keys })
    }

    pub fn get(&self, name: &str) -> &str {
        &self.settings[name]
    }

    /// Does as many operations as each line says; `work` gives their touch, and the time of what it timed itself.
    pub fn serve(&self, mut work: impl FnMut(usize) -> Outcome<(u64, Option<Duration>)>) -> Outcome<()> {
        println!("ready");
        for line in stdin().lock().lines() {
            let operations = line?.parse()?;
            let begin = Instant::now();
            let (touch, own) = work(operations)?;
            let took = begin.elapsed().as_nanos();
            match own {
                Some(own) => println!("{took} {touch} {}", own.as_nanos()),
                None => println!("{took} {touch}"),
            }
        }
        Ok(())
    }
}
