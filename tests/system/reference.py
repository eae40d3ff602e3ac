"""The numbers pixhist must give: the formula of the histogram, step by step in the axis type, written apart.

numpy.histogram is no reference: it puts values within rounding of an edge elsewhere.
"""

import dataclasses

import numpy as np

GAIN_CODE_OF_STAGE = {"adc_g0": 0, "adc_g1": 1, "adc_g2": 3}


@dataclasses.dataclass
class Histogram:
    counts: np.ndarray  # (rows, cols, bins)
    below: np.ndarray  # (rows, cols), as are the next three
    above: np.ndarray
    invalid: np.ndarray
    other_stage: np.ndarray
    frames: int


def axis_dtype(pixel_dtype, axis_type=None):
    if axis_type is not None:
        return np.dtype({"float": "f4", "double": "f8"}[axis_type])
    return np.dtype("f8" if np.dtype(pixel_dtype).name in ("uint32", "int32", "float64") else "f4")


def mapped(stack, value_map):
    """Value to bin, and masks of what is invalid or of another gain stage."""
    nothing = np.zeros(stack.shape, bool)
    if value_map == "raw":
        return stack, nothing, nothing
    gain = stack >> 14
    invalid = gain == 2
    if value_map == "gain":
        return gain, invalid, nothing
    other = nothing
    if value_map in GAIN_CODE_OF_STAGE:
        other = ~invalid & (gain != GAIN_CODE_OF_STAGE[value_map])
    return stack & 0x3FFF, invalid, other


def histogram(stack, bins, low, high, value_map="raw", invalid_values=(), axis_type=None):
    """Of frames (frames, rows, cols)."""
    a = axis_dtype(stack.dtype, axis_type).type
    xmin, xmax = a(low), a(high)
    scale = a(bins) / (xmax - xmin)
    value, invalid, other = mapped(stack, value_map)
    is_listed = np.zeros(stack.shape, bool)
    for listed in invalid_values:
        is_listed |= stack == stack.dtype.type(listed)
    invalid = invalid | is_listed
    other = other & ~is_listed

    v = value.astype(a)
    taken = ~invalid & ~other
    is_nan = np.isnan(v)
    below = taken & (v < xmin)
    above = taken & (v >= xmax)
    inside = taken & ~is_nan & ~below & ~above
    shifted = np.where(inside, v, xmin) - xmin
    assert shifted.dtype == a and scale.dtype == a, "NumPy left the axis type"
    bin_index = np.minimum((shifted * scale).astype(np.int64), bins - 1)

    counts = np.zeros((*stack.shape[1:], bins), np.uint32)
    rows, cols = np.indices(stack.shape[1:])
    for frame_bins, frame_inside in zip(bin_index, inside):
        np.add.at(counts, (rows[frame_inside], cols[frame_inside], frame_bins[frame_inside]), 1)
    return Histogram(
        counts,
        below.sum(0),
        above.sum(0),
        (invalid | (taken & is_nan)).sum(0),
        other.sum(0),
        len(stack),
    )


def edges(bins, low, high, dtype):
    """Computed in the axis type, handed out as double."""
    a = np.dtype(dtype).type
    xmin, width = a(low), a(high) - a(low)
    return np.array([float(xmin + (a(i) * width) / a(bins)) for i in range(bins + 1)])


def centers(bins, low, high, dtype):
    a = np.dtype(dtype).type
    e = edges(bins, low, high, dtype).astype(a)
    return np.array([float((e[i] + e[i + 1]) / a(2)) for i in range(bins)])


@dataclasses.dataclass
class Statistics:
    """Of counts (..., bins), per pixel; bins numbered from `first`. Doubles, NaN where there is no count."""

    n: np.ndarray
    mean: np.ndarray
    std: np.ndarray
    median: np.ndarray
    mode: np.ndarray
    max: np.ndarray


def statistics(counts, first, bins, low, high, dtype):
    a = np.dtype(dtype).type
    xmin = float(a(low))
    width = (float(a(high)) - xmin) / bins
    centre = centers(bins, low, high, dtype)[first : first + counts.shape[-1]]
    counts = counts.astype(np.int64)
    k = np.arange(first, first + counts.shape[-1], dtype=np.int64)
    n, s1, s2 = counts.sum(-1), (counts * k).sum(-1), (counts * k * k).sum(-1)
    empty = n == 0
    some = np.where(empty, 1, n).astype(np.float64)
    mean = s1.astype(np.float64) / some
    variance = s2.astype(np.float64) / some - mean * mean

    def or_nan(values):
        return np.where(empty, np.nan, values)

    return Statistics(
        n.astype(np.uint64),
        or_nan(xmin + width * (mean + 0.5)),
        or_nan(width * np.sqrt(np.maximum(variance, 0.0))),
        or_nan(centre[(counts.cumsum(-1) >= ((n + 1) // 2)[..., None]).argmax(-1)]),
        or_nan(centre[counts.argmax(-1)]),
        or_nan(centre[counts.shape[-1] - 1 - (counts[..., ::-1] != 0).argmax(-1)]),
    )


def squares(counts, side):
    """Counts (rows, cols, bins) added over squares of side × side pixels, smaller at the far ends."""
    rows, cols, _ = counts.shape
    return np.array(
        [
            [
                counts[r : r + side, c : c + side].astype(np.int64).sum((0, 1))
                for c in range(0, cols, side)
            ]
            for r in range(0, rows, side)
        ]
    )
