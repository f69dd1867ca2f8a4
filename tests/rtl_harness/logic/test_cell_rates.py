# SPDX-License-Identifier: Apache-2.0
"""Rates of sites by the area of their cells, or by weights of the user's own."""

import numpy as np
import pytest

from resil.rtl_harness.design.area_library import library_text
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.logic.cell_rates import areas_of, read_weights, relative_rates
from resil.rtl_harness.logic.sites import CLOCK, pin_sites, pulse_sites


def test_sites_of_a_cell_share_its_area_and_the_mean_is_kept(elaboration, netlist):
    areas = areas_of(library_text(None))
    assert (areas["NAND2"], areas["INV"]) == (1.0, 0.667)
    for sites in (pin_sites(elaboration.sites, netlist), pulse_sites(elaboration.sites, netlist)):
        found = relative_rates(netlist, sites, areas)
        elements = sites.table.elements[len(elaboration.sites.elements) :]
        rates = np.array([found[e.register_class] for e in elements])
        widths = np.array([e.width for e in elements])
        assert (rates * widths).sum() == pytest.approx(widths.sum())
        # Cells of one type have rates as their areas.
        ratio = (found["NAND3"] * _width(elements, "NAND3")) / (found["INV"] * _width(elements, "INV"))
        assert ratio == pytest.approx(areas["NAND3"] / areas["INV"])
    assert CLOCK in found


def _width(elements, name):
    (width,) = {e.width for e in elements if e.register_class == name}
    return width


def test_a_type_without_a_weight_is_refused(elaboration, netlist):
    areas = areas_of(library_text(None)) | {"INV": 0.0}
    with pytest.raises(HarnessError, match="found none of INV"):
        relative_rates(netlist, pin_sites(elaboration.sites, netlist), areas)


def test_weights_are_read(tmp_path):
    file = tmp_path / "weights.csv"
    # The last is as lists of resil have a name that a spreadsheet would take for a formula.
    file.write_text("# transistors\ntype,weight\nINV,2\nNAND2,4\n'=OR2,3\n")
    assert read_weights(file) == {"INV": 2.0, "NAND2": 4.0, "=OR2": 3.0}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("cell,weight\nINV,1\n", "a head type,weight"),
        ("type,weight\nINV,0\n", "row 1: .* positive weight"),
        ("type,weight\nINV,1\nINV,2\n", "row 2: expected a type that is there once"),
        ("type,weight\nINV,x\n", "row 1"),
    ],
)
def test_wrong_weights_are_refused_with_their_row(tmp_path, text, why):
    file = tmp_path / "weights.csv"
    file.write_text(text)
    with pytest.raises(HarnessError, match=why):
        read_weights(file)
    with pytest.raises(HarnessError, match="expected the weights of cells"):
        read_weights(tmp_path / "none.csv")
