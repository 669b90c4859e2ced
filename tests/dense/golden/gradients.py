#!/usr/bin/env python3
"""Writes gradients of eigenpairs of matrices with close eigenvalues, computed with 60 digits.

    python3 tests/dense/golden/gradients.py > tests/dense/golden/gradients.txt      # needs mpmath

A line has the gap relative to the norm, the 16 elements of a symmetric matrix of order 4 whose eigenvalues are about 1,
1 + 3 gap, 2 and 3, and the 16 elements of the gradient of `sum_i (i + 1) l_i + (x'v_i) (y'v_i) / (i + 1)` with x = (1, 2, 3, 4) / 4 and
y = (2, -1, 1, -2) / 4. The elements of the matrix are f64, and the gradient belongs to them as they are.
"""

import mpmath as mp

mp.mp.dps = 60
N = 4
X = mp.matrix([mp.mpf(i) / 4 for i in (1, 2, 3, 4)])
Y = mp.matrix([mp.mpf(i) / 4 for i in (2, -1, 1, -2)])


def pairs(a):
    values, vectors = mp.eigsy(a)
    return [values[i] for i in range(N)], [vectors[:, i] for i in range(N)]


def loss(a):
    values, vectors = pairs(a)
    return sum((i + 1) * values[i] + mp.fdot(X, v) * mp.fdot(Y, v) / (i + 1) for i, v in enumerate(vectors))


def gradient(a):
    """The derivative of v_i in the direction D is the sum over j of v_j (v_j' D v_i) / (l_i - l_j)."""
    values, vectors = pairs(a)
    made = mp.matrix(N, N)
    for i, v in enumerate(vectors):
        made += (i + 1) * v * v.T
        bar = (mp.fdot(Y, v) * X + mp.fdot(X, v) * Y) / (i + 1)
        for j, other in enumerate(vectors):
            if i != j:
                turn = mp.fdot(bar, other) / (values[i] - values[j]) / 2
                made += turn * (other * v.T + v * other.T)
    return made


def check(a, made):
    """Compares a directional derivative with a difference quotient, whose error is about 1e-14 of it."""
    d = mp.matrix(N, N)
    for i in range(N):
        for j in range(N):
            d[i, j] = mp.mpf(i * j + i + j) / 9
    h = mp.mpf(10) ** -30
    quotient = (loss(a + h * d) - loss(a - h * d)) / (2 * h)
    exact = sum(made[i, j] * d[i, j] for i in range(N) for j in range(N))
    assert abs(quotient - exact) <= mp.mpf(10) ** -12 * abs(exact), (quotient, exact)


if __name__ == "__main__":
    q, _ = mp.qr(mp.matrix([[1, 2, 3, 4], [0, 1, -1, 2], [2, 0, 1, 1], [1, 1, 0, -3]]))
    for power in range(1, 15):
        gap = mp.mpf(10) ** -power
        exact = q * mp.diag([1, 1 + 3 * gap, 2, 3]) * q.T
        a = mp.matrix(N, N)
        for i in range(N):
            for j in range(i + 1):
                a[i, j] = a[j, i] = mp.mpf(float(exact[i, j]))
        made = gradient(a)
        check(a, made)
        elements = [repr(float(x)) for m in (a, made) for x in m]
        print(f"1e-{power}", *elements)
