"""Takes a model and its inputs and runs it in one of the named ways; gives what the model returned.

Must not know how the model was built, nor whether anyone watches.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from stillframe.errors import UnknownNameError

if TYPE_CHECKING:
    from torch import Tensor, nn

Scenario = Callable[["nn.Module", Mapping[str, "Tensor"]], Any]


def forward(model: nn.Module, tensors: Mapping[str, Tensor]) -> Any:
    """One call of the model, without gradients."""
    import torch

    with torch.no_grad():
        return model(**tensors)


SCENARIOS: Mapping[str, Scenario] = {"forward": forward}


def scenario_called(name: str) -> Scenario:
    """The scenario of that name. Raises UnknownNameError with the nearest."""
    if name not in SCENARIOS:
        todo = f"This version runs: {', '.join(SCENARIOS)}."
        raise UnknownNameError("unknown-scenario", "scenario", name, SCENARIOS, todo)
    return SCENARIOS[name]
