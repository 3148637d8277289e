"""DuckDB's part of the benchmarks of the sort and of the engine.

duck.py load CSV DATABASE          makes the table t from a CSV file
duck.py sort DATABASE OUT KEY MB   sorts t by KEY into a new database within MB of memory, one thread
duck.py import SAS7BDAT DATABASE   makes the table t, uncompressed
duck.py query SQL OUT MB DATABASE [DATABASE]
                                   makes the table out from a query of source.t (and second.t)
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


def import_(sas: str, database: str) -> None:
    import polars_readstat

    with duckdb.connect(database) as connection:
        connection.execute("SET force_compression = 'uncompressed'")
        done = False
        for frame in polars_readstat.scan_readstat(sas, preserve_order=True).collect_batches():
            rows = frame.to_arrow()  # noqa: F841  (named in the query)
            verb = "INSERT INTO t" if done else "CREATE TABLE t AS"
            connection.execute(f"{verb} SELECT * FROM rows")
            done = True


def query(sql: str, out: str, megabytes: str, *databases: str) -> None:
    scratch = os.path.splitext(out)[0] + ".tmp"
    os.makedirs(scratch, exist_ok=True)
    with open(sql) as file:
        text = file.read()
    with duckdb.connect(out) as connection:
        connection.execute(f"SET memory_limit = '{megabytes}MB'")
        connection.execute("SET threads = 1")
        connection.execute(f"SET temp_directory = '{scratch}'")
        connection.execute("SET force_compression = 'uncompressed'")
        for name, database in zip(("source", "second"), databases):
            connection.execute(f"ATTACH '{database}' AS {name} (READ_ONLY)")
        connection.execute(f"CREATE TABLE out AS {text}")
        rows = connection.execute("SELECT count(*) FROM out").fetchone()[0]
    print(f"result={rows}")


if __name__ == "__main__":
    {"load": load, "sort": sort, "import": import_, "query": query}[sys.argv[1]](*sys.argv[2:])
