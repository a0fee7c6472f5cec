"""Several hosts: what joins them, their agents, clocks and network.

In flows a file of hosts, or the address of a cluster that others brought up; out flows a `Session`, which planning asks
what can be where, and execution has carry out every path that is not of this machine.

`hosts_file` reads the file. `cluster` brings its hosts up and down: over `reach` (ssh, or a command here) it runs
`node` on each, which starts what joins the host: Ray, as `setup` fetched it. A cluster of others is met in `foreign`. A
`session` joins either through `ray_cluster`, the only module that knows Ray, with one `agent` on each host; and it
measures clocks and ways (`network`).

A call goes to an agent as the name of a method with its arguments, and comes back as a value (`replies`). An agent has
the methods of its own and those of its `host_run`: what a run has there, from engines to client processes (`load`).
What execution holds of a far thing is a class of the same kind that asks the thing itself: a `FarWorker` or `FarBackup`
(`far_worker`), a `FarServer` (`server_side`, which also has the server's own side), client processes on several hosts
at once (`far_load`), with their shared counters added up (`far_counters`).
"""
