"""What client groups at work at once did, from the journal's records."""
