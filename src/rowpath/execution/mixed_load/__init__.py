"""Client groups at work at once on one engine: stages, backups, kills and durability checks."""
