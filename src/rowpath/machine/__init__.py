"""The computer: processes, CPUs, directories, downloads, C compiler, JVM, noise, and counters of what is used.

Nothing flows in but what a user has set (environment variables, the CPUs that may be used) and what the kernel shows.
Programs that are ready to be started flow out, and figures about what they use.

A program comes about in this order. `directories` says where files are; `downloads` and `maven` fetch what is pinned,
`compiling` and `c_compiler` build what has sources; both note what begins through `jobs`, which does several at once.
`jvm`, `c_tools` and `postgresql_programs` name what comes of it: the JVM, our own C programs, PostgreSQL.
`private_directories` and `certificates` make the place that a server gets, `disk_space` refuses one that is too small,
`cpus` says where client and server are pinned, and `processes` starts, watches and stops them.

`describe` tells what machine this is and what disturbs measuring here. The package `counters` holds one file per
resource, from CPU time to syncs, which `execution` reads before and after a sample.
"""
