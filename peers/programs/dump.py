"""Dumps data sets as text, by pyreadstat or pandas, and times reading them.

dump.py dump READER          reads lines "data set <tab> output" and answers each with "done"
dump.py time READER FILE     reads every value once and prints the CPU seconds after all imports

The form of a dump is described in ../README.md.
"""

import os
import sys


def escaped(text):
    if text is None or text != text:
        return ""
    text = str(text).rstrip(" \0")
    return (
        text.replace("\\", "\\\\")
        .replace("\t", "\\t")
        .replace("\n", "\\n")
        .replace("\r", "\\r")
    )


def words(values):
    """The values of a column in canonical form."""
    import numpy as np

    if values.dtype.kind == "f":
        bits = np.ascontiguousarray(values, dtype="<f8").view("<u8").tolist()
        missing = np.isnan(values).tolist()
        return ["." if gone else f"x{bit:016x}" for bit, gone in zip(bits, missing)]
    return [word(value) for value in values.tolist()]


def number_or_code(value):
    """Of a numeric column with missing values of several kinds."""
    import struct

    if isinstance(value, str):
        return "." + value.upper()
    if value is None or value != value:
        return "."
    return "x" + struct.pack(">d", value).hex()


def word(value):
    return "'" + escaped(value)


def dump_pyreadstat(path, out):
    import numpy as np
    import pyreadstat

    data, meta = pyreadstat.read_sas7bdat(
        path, disable_datetime_conversion=True, user_missing=True, output_format="dict"
    )
    out.write(f"label\t{escaped(meta.file_label)}\n")
    columns = []
    for name, label in zip(meta.column_names, meta.column_labels):
        kind = "char" if meta.readstat_variable_types[name] == "string" else "num"
        spelled = meta.original_variable_types[name]
        spelled = "" if spelled in (None, "NULL") else spelled
        length = meta.variable_storage_width[name] if kind == "char" else "?"
        out.write(
            f"column\t{escaped(name)}\t{kind}\t{length}\t{escaped(spelled)}\t{escaped(label)}\n"
        )
        values = data[name]
        if kind == "char":
            columns.append([word(value) for value in values])
        elif getattr(values, "dtype", np.dtype(object)).kind == "f":
            columns.append(words(values))
        else:
            columns.append([number_or_code(value) for value in values])
    return write_rows(columns, out)


def write_rows(columns, out):
    count = 0
    for row in zip(*columns):
        out.write("row\t" + "\t".join(row) + "\n")
        count += 1
    return count


def pandas_reader(path):
    from pandas.io.sas.sas7bdat import SAS7BDATReader

    return SAS7BDATReader(
        path, convert_dates=False, blank_missing=False, encoding="infer"
    )


def dump_pandas(path, out):
    reader = pandas_reader(path)
    out.write("label\t?\n")
    kinds = []
    for column in reader.columns:
        kind = "num" if column.ctype == b"d" else "char"
        kinds.append(kind)
        out.write(
            f"column\t{escaped(column.name)}\t{kind}\t{column.length}"
            f"\t~{escaped(column.format)}\t{escaped(column.label)}\n"
        )
    count = 0
    while True:
        frame = reader.read(nrows=50_000)
        if frame is None or len(frame) == 0:
            return count
        columns = []
        for index, kind in enumerate(kinds):
            values = frame.iloc[:, index]
            if kind == "num":
                columns.append(words(values.to_numpy(dtype="float64")))
            else:
                columns.append([word(value) for value in values.tolist()])
        count += write_rows(columns, out)


DUMPS = {"pyreadstat": dump_pyreadstat, "pandas": dump_pandas}


def dump(reader):
    for line in sys.stdin:
        path, target = line.rstrip("\n").split("\t")
        with open(target, "w", encoding="utf-8", errors="surrogateescape", newline="\n") as out:
            try:
                count = DUMPS[reader](path, out)
                out.write(f"end\t{count}\n")
            except Exception as error:
                message = str(error).replace("\n", " ").replace("\t", " ")
                out.write(f"error\t{type(error).__name__}: {message}\n")
        print("done", flush=True)


def read_pandas(path):
    import pandas

    rows = 0
    for frame in pandas.read_sas(path, encoding="utf-8", chunksize=100_000):
        rows += len(frame)
    return rows


def read_polars(path):
    import polars_readstat

    rows = 0
    scan = polars_readstat.scan_readstat(path, threads=1, preserve_order=True)
    for frame in scan.collect_batches():
        rows += frame.height
    return rows


def time(reader, path):
    import resource
    import time as clock

    os.environ["POLARS_MAX_THREADS"] = "1"
    if reader == "pandas":
        import pandas  # noqa: F401  (start-up is not reading)
    else:
        import polars_readstat  # noqa: F401

    def cpu():
        usage = resource.getrusage(resource.RUSAGE_SELF)
        return usage.ru_utime + usage.ru_stime

    before, start = cpu(), clock.monotonic()
    rows = {"pandas": read_pandas, "polars": read_polars}[reader](path)
    print(f"rows={rows} cpu_s={cpu() - before:.6f} wall_s={clock.monotonic() - start:.6f}")


if __name__ == "__main__":
    if sys.argv[1] == "dump":
        dump(sys.argv[2])
    elif sys.argv[1] == "time":
        time(sys.argv[2], sys.argv[3])
    else:
        sys.exit("usage: dump.py dump|time READER [FILE]")
