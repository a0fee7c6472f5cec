"""Engines written in Java: Derby, H2, HSQLDB."""
