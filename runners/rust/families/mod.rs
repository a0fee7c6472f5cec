//! What several adapters share; a family that rests on a driver is behind its feature.
pub mod sqltext;
