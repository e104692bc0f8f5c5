"""What is described is frozen: every dataclass of the package, found by itself."""

import dataclasses
import importlib
import pkgutil

import numpy as np
import pytest

import ocolib
from ocolib import data
from ocolib.sets import Ball, Box


def dataclasses_of(package):
    """Every dataclass that is defined in a module of the package."""
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        module = importlib.import_module(found.name)
        for thing in vars(module).values():
            if isinstance(thing, type) and dataclasses.is_dataclass(thing) and thing.__module__ == found.name:
                yield thing


@pytest.mark.parametrize("kind", list(dataclasses_of(ocolib)), ids=lambda kind: kind.__name__)
def test_nothing_described_can_be_changed(kind):
    assert kind.__dataclass_params__.frozen
    thing = object.__new__(kind)
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(thing, dataclasses.fields(kind)[0].name if dataclasses.fields(kind) else "any", 1)


@pytest.mark.parametrize("kind", list(dataclasses_of(ocolib)), ids=lambda kind: kind.__name__)
def test_what_holds_arrays_is_not_compared_field_by_field(kind):
    """Two arrays have no one truth value; `description` knows how to compare them."""
    types = " ".join(str(field.type) for field in dataclasses.fields(kind))
    if not kind.__name__.startswith("_") and ("Array" in types or "ndarray" in types):
        assert not kind.__dataclass_params__.eq


def test_a_class_may_keep_its_own_words_and_compares_by_its_fields():
    from ocolib.descriptions import description

    @description
    class Named:
        size: int

        def __repr__(self):
            return f"<{self.size}>"

    assert repr(Named(3)) == "<3>" and Named(3) == Named(3) != Named(4)
    with pytest.raises(dataclasses.FrozenInstanceError):
        Named(3).size = 4
    assert Box([0, 1], [2, 3]) == Box([0, 1], [2, 3]) != Box([0, 1], [2, 4])
    assert Ball(2, 1.0, [0, 1]) != Ball(2, 1.0, [1, 0]) and hash(Ball(2, 1.0, [0, 1])) == hash(
        Ball(2, 1.0, [1, 0])
    )
    assert Ball(2) != Box([0, 1], [2, 3])


def test_the_years_of_the_sunspots():
    years, numbers = data.sunspots()
    assert years[0] == 1700 and years[-1] == 2008 and len(years) == len(numbers) == 309
    assert (np.diff(years) == 1).all()
    assert numbers[years == 1957] == 190.2 and numbers.max() == 190.2
