"""DuckDB's part of the sort benchmark.

duck.py load CSV DATABASE          makes the table t from a CSV file
duck.py sort DATABASE OUT KEY MB   sorts t by KEY into a new database within MB of memory, one thread
"""

import os
import sys

import duckdb


def load(csv: str, database: str) -> None:
    with duckdb.connect(database) as connection:
        connection.execute(f"CREATE TABLE t AS SELECT * FROM read_csv('{csv}', header = true)")


def sort(database: str, out: str, key: str, megabytes: str) -> None:
    scratch = out + ".tmp"
    os.makedirs(scratch, exist_ok=True)
    with duckdb.connect(out) as connection:
        connection.execute(f"SET memory_limit = '{megabytes}MB'")
        connection.execute("SET threads = 1")
        connection.execute(f"SET temp_directory = '{scratch}'")
        # Otherwise the order of the table's rows is kept in memory as well.
        connection.execute("SET preserve_insertion_order = true")
        connection.execute(f"ATTACH '{database}' AS source (READ_ONLY)")
        connection.execute(f"CREATE TABLE sorted AS SELECT * FROM source.t ORDER BY {key}")
        rows = connection.execute("SELECT count(*) FROM sorted").fetchone()[0]
    print(f"rows={rows}")


if __name__ == "__main__":
    {"load": load, "sort": sort}[sys.argv[1]](*sys.argv[2:])
