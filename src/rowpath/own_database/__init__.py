"""A user's own database: how it is named, asked, reached and left as it was.

What flows in are the options of `rowpath probe` or `rowpath explain`; what flows out are workers that execute one query
on a database that is not ours, which they only read and keep busy for at most half of the time.

`target` reads a URL or a file's name, also what only a driver understands, and shows it without secrets; `delimited`
finds how a text file is written. `query_text` reads a query's text as people have it, `table_name` makes one of a
table's name; `tokens` finds its words and quotes. `query_check` refuses what is plainly no query, `parameters` finds
its placeholders and the values for them. `question` holds the options and puts these together before anything is
connected. `candidates` says which paths there are for it, and what a path is in a user's words.

`instances` stands for the database where the rest of Rowpath expects an engine: a server of others, a copy of files, a
file in place. `access` opens it, makes every session harmless first, and describes the query; `free_connections` asks
how many more it may have. `throttled_worker` is a
runner on it, with the budget and the rests between its blocks; `probed_query` makes these workers for one query.
Probing and explaining begin there.
"""
