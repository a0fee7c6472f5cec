"""Planning client groups at work at once."""
