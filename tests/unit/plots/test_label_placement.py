"""Boxes beside regions: against loops over cells, exact arithmetic, and what must never happen."""

import numpy as np
import pytest

from isosne.plots.label_placement import (
    CELL,
    GAP,
    Boxes,
    core_of,
    count_crossings,
    count_in_boxes,
    grid_cells,
    grid_shape,
    place_labels,
    segments_cross,
    segments_meet_boxes,
)
from tests.reference import labels as slow

FRAME = np.array([300.0, 240.0])


def regions_at(centers, frame=FRAME):
    """Disks of radius 12 around centers in points, as masks of the grid."""
    middles = (np.indices(grid_shape(frame)).transpose(1, 2, 0) + 0.5) * CELL
    return [np.linalg.norm(middles - center, axis=2) < 12 for center in centers]


def place(centers, sizes, frame=FRAME):
    regions = regions_at(centers, frame)
    is_taken = np.any(regions, axis=0)
    return place_labels(np.array(sizes, float), regions, is_taken, frame)


def test_taken_cells_in_boxes():
    rng = np.random.default_rng(0)
    is_taken = rng.uniform(size=(20, 15)) < 0.3
    corners = np.sort(rng.integers(0, 15, size=(50, 2, 2)), axis=1)
    low, high = corners[:, 0], corners[:, 1] + 1
    low, high = np.minimum(low, 14), np.minimum(high, 15)
    expected = [slow.count_in_box(is_taken, *box) for box in zip(low, high, strict=True)]
    assert count_in_boxes(is_taken, low, high).tolist() == expected


def test_segments_that_cross_and_that_meet_boxes():
    rng = np.random.default_rng(1)
    start, end, begin, target = rng.integers(-4, 5, size=(4, 300, 2)).astype(float)
    expected = [slow.cross(*case) for case in zip(start, end, begin, target, strict=True)]
    assert segments_cross(start, end, begin, target).tolist() == expected
    boxes = Boxes(np.zeros((300, 2)), rng.integers(1, 3, size=(300, 2)).astype(float), target)
    found = segments_meet_boxes(start, end, boxes)
    expected = [slow.meets_box(a, b, -h, h) for a, b, h in zip(start, end, boxes[1], strict=True)]
    assert found.tolist() == expected
    assert 0 < sum(expected) < 300


def test_crossings_are_counted_with_leaders_and_boxes():
    # A leader from the left to the right through a box at 50, and through its leader.
    mine = Boxes(np.array([[10.0, 0.0]]), np.array([[5.0, 5.0]]), np.array([[100.0, 0.0]]))
    box = Boxes(np.array([[50.0, 0.0]]), np.array([[5.0, 5.0]]), np.array([[50.0, 40.0]]))
    above = Boxes(np.array([[70.0, 20.0]]), np.array([[5.0, 5.0]]), np.array([[70.0, -40.0]]))
    far = Boxes(np.array([[70.0, 90.0]]), np.array([[5.0, 5.0]]), np.array([[70.0, 60.0]]))
    assert count_crossings(mine, box).tolist() == [1]
    assert count_crossings(mine, above).tolist() == [1]
    assert count_crossings(mine, far).tolist() == [0]


def test_a_box_beside_a_single_region_needs_no_leader():
    boxes = place([[150, 120]], [[40, 12]])
    assert np.linalg.norm(boxes.starts - boxes.targets) < 3 * CELL
    middle, half = boxes.middles[0], boxes.halves[0]
    low, high = (middle - half) / CELL, (middle + half) / CELL
    (region,) = regions_at([[150, 120]])
    covered = slow.count_in_box(region, np.floor(low).astype(int), np.ceil(high).astype(int))
    assert covered <= 2


@pytest.mark.parametrize("seed", range(4))
def test_boxes_do_not_overlap_and_stay_inside(seed):
    rng = np.random.default_rng(seed)
    centers = rng.uniform(20, FRAME - 20, size=(14, 2))
    sizes = np.column_stack([rng.uniform(10, 70, 14), np.full(14, 12.0)])
    middles, halves, _ = boxes = place(centers, sizes)
    assert np.isfinite(boxes.middles).all()
    assert (middles - halves >= GAP).all()
    assert (middles + halves <= FRAME - GAP).all()
    for i in range(14):
        for j in range(i):
            assert not slow.overlap(middles[i], halves[i], middles[j], halves[j])
    assert np.array_equal(place(centers, sizes).middles, middles)


def test_a_box_is_nearer_to_its_own_region_than_to_others():
    centers = np.array([[100.0, 120.0], [150.0, 120.0], [200.0, 120.0]])
    boxes = place(centers, [[60, 12]] * 3)
    for j, middle in enumerate(boxes.middles):
        away = np.maximum(np.abs(centers - middle) - boxes.halves[j], 0)
        assert np.linalg.norm(away, axis=1).argmin() == j


def test_what_has_no_room_has_no_place():
    boxes = place([[20, 20], [40, 20]], [[50, 20], [50, 20]], frame=np.array([60.0, 40.0]))
    assert np.isfinite(boxes.middles[0]).all()
    assert np.isnan(boxes.middles[1]).all()
    boxes = place([[20, 20]], [[80, 20]], frame=np.array([60.0, 40.0]))
    assert np.isnan(boxes.middles).all()


def test_the_core_is_the_densest_part():
    counts = np.zeros((40, 40), np.int64)
    counts[8:12, 8:12] = 9
    counts[30:32, 30:32] = 5
    core = core_of(counts)
    assert core[10, 10]
    assert not core[30:32, 30:32].any()


def test_cells_of_positions():
    positions = np.array([[0.0, 0.0], [4.0, 1.0], [-5.0, 500.0]])
    cells = grid_cells(positions, FRAME)
    assert grid_shape(FRAME) == (100, 80)
    assert cells.tolist() == [0, 80, 79]
