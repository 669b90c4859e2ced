"""Writes experiment_statistics.json: statistics of fixed and of random numbers, by scipy, numpy and statsmodels.

    python3 experiment_statistics.py > experiment_statistics.json      (numpy, scipy, statsmodels)

Each entry of the file is a list of cases, with the arguments of a call and what it is expected to return. A p value
that scipy drew itself has "resampled": it is that of 200,000 arrangements.
"""
import json, math
from fractions import Fraction

import numpy as np
from scipy import integrate, stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint
from statsmodels.stats.weightstats import CompareMeans, DescrStatsW

rng = np.random.default_rng(20261126)
draw = lambda n, mean=0.0, sd=1.0: [round(float(x), 6) for x in rng.normal(mean, sd, n)]
out = {}

# Distributions.
out["student"] = [
    {"tail": tail, "freedom": f, "critical": float(stats.t.isf(tail, f))}
    for f in [1, 2, 3, 4.5, 9, 49, 499, 5e3, 1e5, 1e6, 1e9] for tail in [0.4, 0.1, 0.025, 0.005, 1e-4, 1e-8, 0.8]]
out["student_tail"] = [
    {"t": t, "freedom": f, "tail": float(stats.t.sf(t, f))}
    for f in [1, 2.5, 9, 499, 1e5, 1e6, 1e9] for t in [-1.5, 0, 0.01, 0.5, 2, 5, 20]]
out["beta"] = [
    {"a": a, "b": b, "p": p, "quantile": float(stats.beta.ppf(p, a, b))}
    for a, b in [(0.5, 0.5), (1, 10), (3, 8), (560, 641), (5e3, 5e3), (300, 99701), (2, 999999), (5e5, 5e5)] for p in [0.025, 0.4, 0.5, 0.975]]

# Estimates and proportions.
out["estimate"] = []
for values, level in [(draw(2), 0.95), (draw(5, 100, 3), 0.9), (draw(50, 0.97, 0.01), 0.95), (draw(200, 1e6, 1), 0.99)]:
    mean, sd = np.mean(values), np.std(values, ddof=1)
    low, high = stats.t.interval(level, len(values) - 1, mean, sd / math.sqrt(len(values)))
    out["estimate"].append({"values": values, "level": level, "mean": mean, "deviation": sd, "low": low, "high": high})
out["proportion"] = []
for k, n, level in [(0, 10, 0.95), (3, 10, 0.95), (10, 10, 0.9), (672, 1200, 0.95), (1, 1, 0.95), (300, 100000, 0.99), (1, 1000000, 0.95), (499000, 1000000, 0.95)]:
    wilson, exact = proportion_confint(k, n, 1 - level, "wilson"), proportion_confint(k, n, 1 - level, "beta")
    assert np.allclose(wilson, stats.binomtest(k, n).proportion_ci(level, "wilson"), rtol=1e-12, atol=1e-15)
    out["proportion"].append({"successes": k, "trials": n, "level": level, "error": math.sqrt(k / n * (1 - k / n) / n), "wilson": wilson, "exact": exact})
out["binomial"] = [
    {"successes": k, "trials": n, "p0": p, "two_sided": stats.binomtest(k, n, p).pvalue, "greater": stats.binomtest(k, n, p, "greater").pvalue}
    for k, n, p in [(0, 1, 0.5), (9, 10, 0.5), (5, 10, 0.5), (3, 20, 0.4), (20, 20, 0.9), (0, 20, 0.1), (672, 1200, 0.5), (1, 1000, 0.01), (5200, 10000, 0.5), (600, 1000, 1 / 3), (250300, 1000000, 0.25)]]

# Pairs.
out["paired"] = []
for n, shift in [(2, 1), (5, 0.3), (10, 0.8), (14, 0), (40, 0.4), (40, 0.05)]:
    a, b = draw(n, shift), draw(n)
    d, level = np.subtract(a, b), 0.95
    t = stats.ttest_rel(a, b)
    low, high = t.confidence_interval(level)
    exact = n <= 14
    flip = stats.permutation_test((d,), np.sum, permutation_type="samples", n_resamples=np.inf if exact else 200_000, rng=rng)
    train, test = 90, 10
    error = math.sqrt(1 / n + test / train) * np.std(d, ddof=1)
    half = stats.t.ppf(0.5 + level / 2, n - 1) * error
    out["paired"].append({
        "a": a, "b": b, "level": level, "mean": d.mean(), "deviation": np.std(d, ddof=1), "low": low, "high": high, "p": t.pvalue,
        "flip": float(flip.pvalue), "resampled": not exact, "train": train, "test": test, "corrected_error": error,
        "corrected_low": d.mean() - half, "corrected_high": d.mean() + half, "corrected_p": 2 * stats.t.sf(abs(d.mean()) / error, n - 1)})
out["holm"] = [{"ps": ps, "adjusted": list(multipletests(ps, method="holm")[1])} for ps in [
    [0.01], [0.04, 0.01, 0.03], [0.5, 0.5, 0.001, 0.02, 1.0], [round(float(x), 6) for x in rng.uniform(0, 0.2, 28)]]]
out["mcnemar"] = []
for a, b in [(5, 1), (0, 0), (4, 4), (30, 12), (0, 9), (410, 520)]:
    own = stats.binom.pmf(min(a, b), a + b, 0.5)
    p = mcnemar([[7, a], [b, 9]], exact=True).pvalue if a + b else 1.0
    out["mcnemar"].append({"only_first": a, "only_second": b, "samples": 2000, "difference": (a - b) / 2000, "p": p, "mid_p": 1.0 if a + b == 0 else 1 - own / 2 if a == b else p - own})

# The best of k, with exact fractions.
out["best"] = []
for values, ks in [(draw(1), [1]), ([3.0, 1.0, 2.0, 2.0, 5.0], [1, 2, 3, 5]), (draw(30, 0.56, 0.02), [1, 4, 20, 29, 30]), (draw(2000), [1, 7, 100, 1999, 2000])]:
    for k in ks:
        n, x = len(values), [Fraction(v) for v in sorted(values)]
        weights = [Fraction(math.comb(i, k - 1), math.comb(n, k)) for i in range(n)]
        out["best"].append({"values": values if n <= 30 else None, "k": k, "largest": float(sum(w * v for w, v in zip(weights, x))), "smallest": float(sum(w * v for w, v in zip(weights, x[::-1])))})
        if n > 30: out["best"][-1]["values"] = values if k == ks[0] else []  # as in the case before

# Equivalence.
out["tost"] = []
for n, sd, shift, margin, alpha in [(5, 1, 0, 1.5, 0.05), (20, 0.7, 0.1, 0.5, 0.05), (50, 2, 0.9, 1, 0.05), (50, 2, 0, 1, 0.1)]:
    d = draw(n, shift, sd)
    low, high = DescrStatsW(d).ttest_mean(-margin, "larger")[1], DescrStatsW(d).ttest_mean(margin, "smaller")[1]
    interval = DescrStatsW(d).tconfint_mean(2 * alpha)
    out["tost"].append({"a": d, "b": None, "margin": margin, "alpha": alpha, "freedom": n - 1, "p_lower": low, "p_upper": high, "low": interval[0], "high": interval[1]})
for n, m, sd, margin in [(12, 30, 0.2, 1.0), (8, 8, 3, 0.5), (2, 100, 1, 2)]:
    a, b = draw(n, 0.1), draw(m, 0, sd)
    both = CompareMeans.from_data(a, b)
    low, high = both.ttest_ind("larger", "unequal", -margin), both.ttest_ind("smaller", "unequal", margin)
    interval = both.tconfint_diff(0.1, usevar="unequal")
    out["tost"].append({"a": a, "b": b, "margin": margin, "alpha": 0.05, "freedom": low[2], "p_lower": low[1], "p_upper": high[1], "low": interval[0], "high": interval[1]})


def power(n, sd, margin, alpha):
    """The probability that the test finds equivalence of n pairs whose mean difference is 0, over the chi law of s."""
    t, error = stats.t.isf(alpha, n - 1), sd / math.sqrt(n)
    inside = lambda s: max(0.0, 2 * stats.norm.cdf((margin - t * s * error) / error) - 1) * stats.chi.pdf(s * math.sqrt(n - 1), n - 1) * math.sqrt(n - 1)
    around = 10 / math.sqrt(2 * (n - 1))
    return integrate.quad(inside, max(0, 1 - around), min(margin / (t * error), 1 + around), limit=500)[0]


out["runs"] = []
for sd, margin, alpha, wanted in [(2, 1, 0.05, 0.9), (0.7, 0.5, 0.05, 0.9), (1, 1, 0.05, 0.8), (0.1, 1, 0.05, 0.9), (5, 0.5, 0.025, 0.95), (100, 0.1, 0.05, 0.9)]:
    n = 2
    if sd / margin > 100: n = math.floor(10.8 * (sd / margin) ** 2)
    while n < ((stats.t.isf(alpha, n - 1) + stats.t.isf((1 - wanted) / 2, n - 1)) * sd / margin) ** 2: n += 1
    out["runs"].append({"deviation": sd, "margin": margin, "alpha": alpha, "power": wanted, "n": n, "true_power": power(n, sd, margin, alpha)})

# Correlations and ranks.
out["correlation"] = []
for n, slope, ties in [(2, 1, False), (5, 1, False), (7, 0.5, True), (30, 0.4, False), (60, 0.1, True)]:
    x = draw(n)
    y = [round(slope * v + w, 1 if ties else 6) for v, w in zip(x, draw(n))]
    if ties: x = [round(v, 1) for v in x]
    case = {"x": x, "y": y, "resampled": n > 7}
    for name, function in [("pearson", stats.pearsonr), ("spearman", stats.spearmanr)]:
        case[name] = function(x, y).statistic if n > 2 else float(np.sign((x[1] - x[0]) * (y[1] - y[0])))
        statistic = lambda v: stats.pearsonr(v, y).statistic
        ranked = (stats.rankdata(x), stats.rankdata(y)) if name == "spearman" else (np.array(x), np.array(y))
        # |r|, because scipy doubles the smaller tail, which differs where the distribution is not symmetric
        standard = [(v - v.mean()) / np.linalg.norm(v - v.mean()) for v in ranked]
        found = stats.permutation_test((standard[0],), lambda v: np.abs(np.sum(v * standard[1], axis=-1)).round(12), permutation_type="pairings", alternative="greater", n_resamples=np.inf if n <= 7 else 200_000, vectorized=False, rng=rng)
        case[name + "_p"] = float(found.pvalue)
    out["correlation"].append(case)
out["mann_whitney"] = []
for a, b in [(draw(3), draw(4, 1)), (draw(8), draw(20, 0.7)), (draw(1), draw(5)), (draw(9), draw(9, 1)), (draw(8), draw(200, 0.3)), (draw(40), draw(70, 0.4)),
             ([1.0, 2.0, 2.0, 3.0], [2.0, 3.0, 4.0, 4.0, 5.0]), ([round(x, 1) for x in draw(30)], [round(x, 1) for x in draw(25, 0.5)])]:
    found = stats.mannwhitneyu(a, b)
    out["mann_whitney"].append({"a": a, "b": b, "u": found.statistic, "p": found.pvalue})

# Classifiers.
confidence = [round(float(x), 4) for x in rng.uniform(0, 1, 300)] + [0.0, 1.0, 0.1, 0.2]
right = [bool(x) for x in rng.uniform(0, 1, 304) < np.array(confidence) ** 1.5]
out["calibration"] = []
for bins in [10, 15]:
    place = np.clip(np.ceil(np.array(confidence) * bins) - 1, 0, bins - 1).astype(int)
    groups = [(np.array(confidence)[place == i], np.array(right)[place == i]) for i in range(bins)]
    errors = [abs(c.mean() - r.mean()) if len(c) else 0 for c, r in groups]
    out["calibration"].append({
        "confidence": confidence, "right": right, "bins": bins, "counts": [len(c) for c, _ in groups], "accuracy": [r.mean() if len(c) else None for c, r in groups],
        "error": sum(e * len(c) for e, (c, _) in zip(errors, groups)) / len(confidence), "largest": max(errors)})
labels, predicted = [int(x) for x in rng.integers(0, 4, 200)], [int(x) for x in rng.integers(0, 5, 200)]
matrix = np.zeros((6, 6), int)
np.add.at(matrix, (labels, predicted), 1)
with np.errstate(all="ignore"):
    precision, recall = np.diag(matrix) / matrix.sum(0), np.diag(matrix) / matrix.sum(1)
    f1 = 2 * np.diag(matrix) / (matrix.sum(0) + matrix.sum(1))
none = lambda v: [None if math.isnan(x) else x for x in v]
out["confusion"] = [{"labels": labels, "predicted": predicted, "classes": 6, "matrix": matrix.ravel().tolist(), "accuracy": float(np.trace(matrix) / 200),
                     "precision": none(precision), "recall": none(recall), "f1": none(f1), "macro_f1": np.nanmean(f1), "balanced": np.nanmean(recall)}]

print("{")
print(",\n".join(f'"{name}": [\n' + ",\n".join(json.dumps(case) for case in cases) + "\n]" for name, cases in out.items()))
print("}")
