"""Several hosts: what joins them, their agents, and the ways between them."""
