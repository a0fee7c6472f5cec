"""What each driver does when it breaks: real servers and drivers, each fault made in the middle of their work."""
