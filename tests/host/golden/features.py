"""Writes features.txt: columns of small samples by their formulas, in f64 with numpy and scipy, and by tsfresh and tsxtract.

    python3 features.py > features.txt      (numpy, scipy, tsfresh, tsxtract-rs)

A case is a line `sample ROWS COLUMNS NUMBERS..`; ROWS is 0 for a vector. After it come lines `columns REPRESENTATION
VALUES..`, in the order of the representation's columns. Numbers beyond the range of f32 are written as inf.
"""
import itertools, math
import numpy as np, scipy.linalg, scipy.stats, tsxtract

EPS = 1e-8
np.seterr(all="ignore")


def moments(x, ddof=0, eps=0., bias=True, excess=True):
    n, m = len(x), x.mean()
    if (x == x[0]).all(): m = x[0]
    d = x - m
    var = (d * d).sum() / (n - ddof) if n != ddof else math.nan
    sd = math.sqrt(var) if var == var else math.nan
    ratio = lambda a, b: a / b if b != 0 else (math.nan if a == 0 else math.copysign(math.inf, a))
    if bias: skew, kurt = ratio((d**3).mean(), (sd + eps)**3), ratio((d**4).mean(), (sd + eps)**4) - 3
    else: skew, kurt = (scipy.stats.skew(x, bias=False) if n > 2 and sd > 0 else math.nan), (scipy.stats.kurtosis(x, bias=False) if n > 3 and sd > 0 else math.nan)
    return {"count": n, "sum": math.fsum(x), "mean": m, "variance": var, "sd": sd, "variation": ratio(sd, abs(m) + eps), "skewness": skew, "kurtosis": kurt if excess else kurt + 3,
            "min": x.min(), "max": x.max(), "abs_max": abs(x).max(), "range": np.ptp(x), "rms": math.sqrt((x * x).mean()), "norm": math.sqrt((x * x).sum()), "energy": (x * x).sum(), "mean_deviation": abs(d).mean()}


def quantiles(x, q, spreads=(), mad=False, rule="linear"):
    f = lambda p: np.quantile(x, p, method=rule)
    return [f(p) for p in q] + [f(b) - f(a) for a, b in spreads] + ([scipy.stats.median_abs_deviation(x)] if mad else [])


def entropy(p, eps=0.): p = np.asarray(p); p = p[p > 0]; return -(p * np.log(p + eps)).sum()


def histogram(x, bins, span=None, eps=0.):
    c, _ = np.histogram(x, bins, span); p = c / len(x); e = entropy(p, eps); return c, p, e, e / math.log(bins)


class Spectrum:
    def __init__(s, a, zero, both):
        r, c = a.shape
        if (a == a.flat[0]).all():
            P = np.zeros((r, c)); P[0, 0] = a.sum()**2
        else: P = abs(np.fft.fft2(a))**2
        k, l = np.meshgrid(np.arange(r), np.arange(c), indexing="ij"); fold = lambda k, n: np.minimum(k, n - k) / n
        f = np.hypot(fold(k, r), fold(l, c)) / (math.sqrt(2) if r > 1 and c > 1 else 1)
        one = (l <= c // 2) if c > 1 or r == 1 else (k <= r // 2)
        keep = (np.ones_like(one) if both else one) & (zero | (k + l > 0)); s.P, s.f = P[keep], f[keep]
        half = P[one & (zero | (k + l > 0))]; s.half = half; order = np.argsort(s.f, kind="stable"); s.P, s.f = s.P[order], s.f[order]

    def top(s, k): t = np.sort(s.P)[::-1][:k]; return np.concatenate([t, np.zeros(k - len(t))])

    def columns(s, top, bands, rolloff, eps):
        P, f, t = s.P, s.f, s.P.sum(); p = P / t if t > 0 else np.full(len(P), math.nan); A = np.sqrt(P); B = len(P)
        band = np.minimum((2 * f * bands).astype(int), bands - 1); c = (f * p).sum() if t > 0 else math.nan; e = entropy(p, eps) if t > 0 else math.nan
        cum = np.cumsum(P); roll = f[min(np.searchsorted(cum, rolloff * t), B - 1)] if t > 0 else math.nan
        flat = (math.exp(np.log(P).mean()) if (P > 0).all() else 0.) / P.mean() if t > 0 else math.nan
        return {"power": s.half, "magnitudes": np.sqrt(s.half), "bands": [p[band == b].sum() if t > 0 else math.nan for b in range(bands)], "top": np.sqrt(s.top(top)), "mean": [A.mean() if B else math.nan], "sd": [A.std() if B else math.nan], "max": [A.max() if B else math.nan],
                "energy_share": [s.top(top).sum() / (t + eps) if t + eps > 0 else math.nan], "centroid": [c], "spread": [math.sqrt(((f - c)**2 * p).sum()) if t > 0 else math.nan], "rolloff": [roll], "flatness": [flat],
                "entropy": [e], "normalized_entropy": [e / (math.log(B) if B > 1 else 1.)], "dominant": [f[np.flatnonzero(P >= P.max() * (1 - 1e-12))[0]] if t > 0 else math.nan]}


def spectrum(a, names, top=5, bands=8, rolloff=.85, zero=False, both=False, eps=0.):
    c = Spectrum(a, zero, both).columns(top, bands, rolloff, eps); return [v for name in names for v in c[name]]


def singular(a, top, eps):
    s = np.linalg.svd(a, compute_uv=False); S = np.zeros(max(top, len(s))); S[:len(s)] = s; T = S[:top]; p = T / (T.sum() + eps); e = entropy(p, eps); fro = math.sqrt((a * a).sum())
    return {"values": T, "shares": p, "gaps": (T[:-1] - T[1:]) / (T[:-1] + eps), "entropy": [e], "effective_rank": [math.exp(e)], "condition": [T[0] / (T[-1] + eps)], "top_sum": [T.sum()], "frobenius": [fro], "nuclear": [s.sum()],
            "spectral": [s[0]], "one_norm": [abs(a).sum(0).max()], "inf_norm": [abs(a).sum(1).max()], "nuclear_ratio": [s.sum() / (fro + eps)], "spectral_ratio": [s[0] / (fro + eps)]}


def covariance(a, top, ddof):
    if a.shape[0] == 1 or a.shape[1] == 1: a = a.reshape(-1, 1)
    n = len(a); c = a - a.mean(0)
    l = (np.linalg.svd(c, compute_uv=False)**2 / (n - ddof) if n != ddof else np.full(1, math.nan)); t = l.sum(); L = np.zeros(max(top, len(l))); L[:len(l)] = l; p = L[:top] / t if t > 0 else np.full(top, math.nan)
    return [*L[:top], *p, t, entropy(p) if t > 0 else math.nan]


def acf(x, lag, adjusted):
    n, d = len(x), x - x.mean()
    if lag >= n or (x == x[0]).all(): return math.nan
    return (d[:n - lag] * d[lag:]).sum() / ((n - lag if adjusted else n) * x.var())


def order(x, lags=(1, 2, 5, 10), adjusted=True, m=3, delay=1, support=1):
    n, mean, const = len(x), x.mean(), (x == x[0]).all(); mean = x[0] if const else mean; d = x - mean; dx = np.diff(x); need = lambda k, v: v() if n >= k else math.nan
    partial = []
    for k in range(1, max(lags) + 1):  # by solving the Yule-Walker equations, not by Durbin's recursion
        r = [1.] + [acf(x, l, adjusted) for l in range(1, k + 1)]
        partial.append(scipy.linalg.solve_toeplitz(r[:k], r[1:])[-1] if all(v == v for v in r) else math.nan)
    zero = math.nan if const else next((k for k in range(1, n) if acf(x, k, adjusted) <= 0), n)
    places = n - (m - 1) * delay; pats = [tuple(np.argsort(x[i:i + m * delay:delay][:m], kind="stable")) for i in range(max(places, 0))]
    pe = entropy(np.array([pats.count(p) for p in set(pats)]) / places) / math.log(math.factorial(m)) if places > 0 else math.nan
    peaks = sum(all(x[i] > x[i - k] and x[i] > x[i + k] for k in range(1, support + 1)) for i in range(support, n - support))
    strike = lambda b: max([len(list(g)) for v, g in itertools.groupby(b) if v] or [0]); t = np.arange(n) - (n - 1) / 2
    slope = need(2, lambda: (t * d).sum() / (t * t).sum()); r2 = math.nan if n < 2 or const else (t * d).sum()**2 / ((t * t).sum() * (d * d).sum())
    return [*(acf(x, l, adjusted) for l in lags), *partial, zero, pe, np.count_nonzero(np.diff(x > 0)), np.count_nonzero(np.diff(x > mean)), need(2, lambda: dx.mean()), need(2, lambda: abs(dx).mean()),
            need(3, lambda: (x[-1] - x[-2] - x[1] + x[0]) / (2 * (n - 2))), need(2, lambda: 0. if const else math.sqrt((dx * dx).sum()) / x.std()), peaks, strike(x > mean), strike(x < mean), slope, r2]


def bits(a):
    if not np.isin(a, (0, 1)).all(): return [math.nan] * (a.shape[1] + 5 + a.shape[1]**2)
    runs = [[(v, len(list(g))) for v, g in itertools.groupby(row)] for row in a]; n = a.shape[1]; long = lambda b: max([k for r in runs for v, k in r if v == b] or [0])
    return [a.mean(), *a.mean(0), abs(np.diff(a)).mean() if n > 1 else math.nan, np.mean([len(r) for r in runs]), long(1), long(0), *(a.T @ a / len(a)).ravel()]


def all_columns(a, vector):
    x = a.ravel(); mo = lambda names, **k: [moments(x, **k)[c] for c in names]; torch = dict(ddof=1, eps=EPS, excess=False); one = a if not vector else x.reshape(1, -1)
    sing = lambda names: [v for c in names for v in singular(one, 10, EPS)[c]]
    spectral = sing(["values", "shares", "gaps", "entropy", "condition", "top_sum"]); norms = sing(["frobenius", "nuclear", "spectral", "one_norm", "inf_norm", "nuclear_ratio", "spectral_ratio"])
    dist = quantiles(x, [.05, .1, .25, .5, .75, .9, .95], [(.25, .75)]) + mo(["mean_deviation", "variation", "skewness", "kurtosis"], **torch)
    freq = spectrum(one, ["top", "mean", "sd", "max", "energy_share"], top=10, zero=True, both=True, eps=EPS); info = list(histogram(x, 50, eps=EPS)[2:])
    every = ["power", "magnitudes", "bands", "top", "mean", "sd", "max", "energy_share", "centroid", "spread", "rolloff", "flatness", "entropy", "normalized_entropy", "dominant"]
    unbiased = mo(["skewness", "kurtosis"], bias=False); c, p, e, ne = histogram(x, 10); c4, p4, e4, ne4 = histogram(x, 4, (-1., 1.)); m = moments(x)
    out = {
        "moments": list(moments(x).values()), "moments(bias=false,columns=['skewness','kurtosis'])": unbiased, "quantiles": quantiles(x, [.05, .25, .5, .75, .95], [(.25, .75)], True),
        "quantiles(q=[0,0.3,0.5,1],spreads=[],mad=false,rule='higher')": quantiles(x, [0, .3, .5, 1], rule="higher"), "histogram": [*p, e, ne],
        "histogram(bins=4,range=[-1,1],columns=['counts','shares','entropy','normalized_entropy'])": [*c4, *p4, e4, ne4],
        "spectrum(columns=%s)" % str(every).replace(" ", ""): spectrum(one, every), "spectrum(zero=true,both_sides=true,columns=%s)" % str(every[2:]).replace(" ", ""): spectrum(one, every[2:], zero=True, both=True),
        "singular": [v for c in singular(one, 10, EPS).values() for v in c], "covariance": covariance(one, 10, 1), "autocorrelation": order(x), "autocorrelation(lags=[1,3],adjusted=false,order=4,delay=2,support=2)": order(x, (1, 3), False, 4, 2, 2),
        "bits(columns=['ones','positions','transitions','runs','longest_ones','longest_zeros','pairs'])": bits(one), "raw": list(x), "raw(first=1)": list(x[:1]),
        "simple_stats": mo(["norm", "mean", "sd", "max", "min"], ddof=1), "rank_based": quantiles(x, [.01, .05, .1, .25, .5, .75, .9, .95, .99], [(.25, .75), (.01, .99)]),
        "stats": mo(["mean", "sd"], ddof=1) + quantiles(x, [.5], rule="lower") + mo(["min", "max", "skewness", "kurtosis"], **torch), "spectral": spectral, "matrix_norms": norms, "distribution": dist, "frequency": freq, "info": info,
        "ensemble": spectral + norms + dist + freq + info, "tsfresh-minimal": [m["sum"], np.median(x), m["mean"], m["count"], m["sd"], m["variance"], m["rms"], m["max"], m["abs_max"], m["min"]],
    }
    if vector and 1e-30 < abs(x).max() < 1e6:  # tsxtract sorts smaller numbers wrongly
        out["core33"] = tsxtract.extract_features(x[None], profile="core33")[0]; out["tsfresh-minimal"] = tsfresh_minimal(x)
    return out


def tsfresh_minimal(x):
    import pandas as pd, warnings
    warnings.filterwarnings("ignore")
    from tsfresh import extract_features
    from tsfresh.feature_extraction import MinimalFCParameters
    got = extract_features(pd.DataFrame({"id": 0, "t": np.arange(len(x)), "v": x}), column_id="id", column_sort="t", default_fc_parameters=MinimalFCParameters(), n_jobs=0, disable_progressbar=True)
    want = ["sum_values", "median", "mean", "length", "standard_deviation", "variance", "root_mean_square", "maximum", "absolute_maximum", "minimum"]
    assert [c.split("__")[1] for c in got.columns] == want, list(got.columns)
    return list(got.iloc[0])


def show(v):
    v = float(v)
    return "nan" if v != v else ("inf" if v > 0 else "-inf") if abs(v) > 3.4028235677973366e38 else repr(v)


def main():
    r = np.random.default_rng(20); f = np.float32
    cases = [(0, r.standard_normal(17)), (0, r.standard_normal(64).cumsum()), (0, r.integers(0, 4, 30)), (0, [2.5]), (0, [1., -3.]), (0, [0.1] * 12), (0, r.uniform(1, 2, 15) * f(1e-42)), (0, r.uniform(1, 2, 16) * f(1e30)), (0, r.standard_normal(11)), (0, r.integers(0, 2, 24)),
             (6, r.standard_normal((6, 5))), (5, r.standard_normal((5, 6))), (1, r.standard_normal((1, 9))), (9, r.standard_normal((9, 1))), (4, np.outer(r.standard_normal(4), r.standard_normal(3))), (5, r.integers(0, 2, (5, 12)))]
    for rows, x in cases:
        a = np.asarray(x, f).astype(float); a = a if rows else a.reshape(1, -1)
        print("sample", rows, a.shape[1], *(repr(float(f(v))) for v in a.ravel()))
        for name, values in all_columns(a, rows == 0).items(): print("columns", name, *(show(v) for v in values))


if __name__ == "__main__": main()
