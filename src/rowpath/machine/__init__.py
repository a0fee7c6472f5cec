"""The computer: processes, CPUs, directories, downloads, disk space, noise, and counters of what is used."""
