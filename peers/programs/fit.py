"""Python's part of the engine benchmark: fit.py sklearn|statsmodels SAS7BDAT

Fits x36 by x1 to x30 and prints the intercept; reading counts, start-up does not. One thread.
"""

import os
import sys

for name in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{name}_NUM_THREADS"] = "1"
os.environ["POLARS_MAX_THREADS"] = "1"

import resource  # noqa: E402
import time  # noqa: E402

import polars_readstat  # noqa: E402

if sys.argv[1] == "sklearn":
    from sklearn.linear_model import LinearRegression
else:
    import statsmodels.api as sm


def cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def fit(library: str, path: str) -> float:
    names = [f"x{index}" for index in range(1, 31)]
    scan = polars_readstat.scan_readstat(path, threads=1, preserve_order=True)
    frame = scan.select([*names, "x36"]).collect()
    x, y = frame.select(names).to_numpy(), frame["x36"].to_numpy()
    if library == "sklearn":
        return LinearRegression(copy_X=False).fit(x, y).intercept_
    # The pseudoinverse, its default, takes several times as long and as much memory.
    return sm.OLS(y, sm.add_constant(x)).fit(method="qr").params[0]


before, start = cpu(), time.monotonic()
intercept = fit(sys.argv[1], sys.argv[2])
print(f"result={intercept!r}".replace("np.float64(", "").replace(")", ""))
print(f"cpu_s={cpu() - before:.6f} wall_s={time.monotonic() - start:.6f}")
