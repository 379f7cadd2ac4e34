"""Small real models, each with a few training steps. Every step gives the loss and the gradients."""

from __future__ import annotations

from typing import Any, Callable, Dict, Iterable, List, NamedTuple, Optional

import torch
from torch import Tensor, nn


class Run(NamedTuple):
    """What a program did: the losses, the gradients by parameter name, and the exception that ended it, if any."""

    losses: List[Tensor]
    gradients: Dict[str, Tensor]
    error: Optional[str] = None


class Program(NamedTuple):
    """`build()` gives the model, `batches()` the arguments of each step. The loss is `loss(output)`."""

    name: str
    build: Callable[[], nn.Module]
    batches: Callable[[], Iterable[Dict[str, Any]]]
    loss: Callable[[Any], Tensor]

    def run(self, compile_model: Callable[[nn.Module], Any]) -> Run:
        """Train a little with the compiled model, from the same seed each time."""
        torch.manual_seed(0)
        model = self.build()
        compiled = compile_model(model)
        losses: List[Tensor] = []
        error = None
        try:
            for batch in self.batches():
                loss = self.loss(compiled(**batch))
                loss.backward()
                losses.append(loss.detach().clone())
        except Exception as caught:  # any exception of the program is part of what it does
            error = f"{type(caught).__name__}: {caught}"
        gradients = {n: p.grad.clone() for n, p in model.named_parameters() if p.grad is not None}
        return Run(losses, gradients, error)


def gpt2() -> nn.Module:
    from transformers import GPT2Config, GPT2LMHeadModel

    sizes = {"n_layer": 2, "n_head": 2, "n_embd": 64, "vocab_size": 200, "n_positions": 64}
    no_dropout = {"resid_pdrop": 0, "embd_pdrop": 0, "attn_pdrop": 0}
    config = GPT2Config(**sizes, **no_dropout, bos_token_id=0, eos_token_id=1, attn_implementation="eager")
    return GPT2LMHeadModel(config).train()


def token_batches() -> Iterable[Dict[str, Any]]:
    for length in (16, 24):
        ids = torch.randint(0, 200, (2, length))
        yield {"input_ids": ids, "labels": ids}


class ConvNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 8, 3)
        )
        self.norm = nn.BatchNorm2d(8)
        self.head = nn.Linear(8, 5)

    def forward(self, x: Tensor) -> Tensor:
        x = self.norm(self.features(x)).relu()
        return self.head(x.mean(dim=(2, 3)))


def transformer() -> nn.Module:
    layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
    return nn.TransformerEncoder(layer, num_layers=2, enable_nested_tensor=False)


class BranchInLoop(nn.Module):
    """Each turn of the loop looks at the data. Dynamo leaves such a frame alone and compiles those it calls."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(6, 6) for _ in range(3))

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
            if x.sum() > 0:
                x = torch.relu(x) + 0.5
            else:
                x = x * -1
            x = self.turn(x, layer)
        return x

    def turn(self, x: Tensor, layer: nn.Module) -> Tensor:
        """A frame of its own: two graphs and what lies between them."""
        scale = 1.0
        while scale < 2 and x.max() > 1:
            scale += 1
            x = x / scale
        if x.mean() < 0:
            return layer(x) * scale
        return x + layer(x).abs()


class Branches(nn.Module):
    """Breaks the graph at each of several branches on the data, with values alive across them."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.third = (nn.Linear(6, 6) for _ in range(3))

    def forward(self, x: Tensor, shift: float = 0.25) -> Tensor:
        kept = [x, self.first(x)]
        if kept[1].sum() > 0:
            kept.append(torch.relu(kept[1]) + shift)
        else:
            kept.append(kept[1] * -1)
        y = self.second(kept[2])
        if y.mean() > 0 and x.max() > 0.5:
            y = y - shift
        return self.third(sum(kept) + y)


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor) -> Tensor:
        ctx.save_for_backward(x, weight)
        return x * weight.exp()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        x, weight = ctx.saved_tensors
        return gradient * weight.exp(), (gradient * x * weight.exp()).sum(0)


class OwnGradient(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(6, 6)
        self.weight = nn.Parameter(torch.randn(6))

    def forward(self, x: Tensor) -> Tensor:
        return torch.tanh(Scaled.apply(self.linear(x), self.weight))


class Raising(nn.Module):
    """Computes a little, then finds fault with its input, in the middle of forward."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(6, 6), nn.Linear(6, 2)

    def forward(self, x: Tensor) -> Tensor:
        x = self.first(x).relu()
        if x.mean() > 0.9:
            raise ValueError(f"mean of {tuple(x.shape)} is too large")
        return self.second(x)


def vectors(*scales: float) -> Callable[[], Iterable[Dict[str, Any]]]:
    return lambda: ({"x": torch.randn(4, 6) * scale} for scale in scales)


def images() -> Iterable[Dict[str, Any]]:
    return ({"x": torch.randn(count, 3, 8, 8)} for count in (4, 6))


def sequences() -> Iterable[Dict[str, Any]]:
    return ({"src": torch.randn(2, length, 32)} for length in (5, 7))


def squared(output: Tensor) -> Tensor:
    return (output**2).mean()


PROGRAMS = (
    Program("gpt2", gpt2, token_batches, lambda output: output.loss),
    Program("conv", ConvNet, images, squared),
    Program("transformer", transformer, sequences, squared),
    Program("branch_in_loop", BranchInLoop, vectors(1.0, 2.0, 0.1), squared),
    Program("branches", Branches, vectors(1.0, 2.0, 0.1), squared),
    Program("own_gradient", OwnGradient, vectors(1.0, 2.0), squared),
    Program("raising", Raising, vectors(1.0, 1.0, 50.0), squared),
)
