r"""One-pass generalized factorization machine (Lin and Ye 2016, Algorithm 1).

.. math:: y = b + z^T w + z^T M z, \qquad M = M^T \text{ of rank } k

A batch gives :math:`H = \frac{1}{2n} Z^T \mathrm{diag}(r) Z - \frac{1}{2} \bar r I \approx M^* - M`
and :math:`h = \frac1n Z^T r \approx w^* - w` of its residual r, and one noisy power step follows:

.. math:: U \leftarrow \mathrm{QR}((M + \eta H) U), \quad V \leftarrow (M + \eta H) U,
   \quad w \leftarrow w + \eta h, \quad M = (U V^T + V U^T) / 2.

V uses the *new* U, hence the second look at the same rows. H is never formed: two thin products with
the block, Z [U V w] and Z' [r*ZU, r]. Where we differ from the paper, and why:

- The shift is half of the mean residual (its Lemma 10 prints the whole).
- :math:`\eta = 1 / (1 + \delta^2)` with :math:`\delta^2 = (k + 2.6) d / n` minimises the error
  :math:`(1 - \eta)^2 + \eta^2 \delta^2` of a step; the printed :math:`\eta = 1` fails for small n. Where
  the loss stops falling it decays like 1 / t: noise then averages over all rows, not over a batch.
- Features are seen through a lens (:mod:`altmin.algorithms.quadratic.lens`), with the moment correction.
- Each step is judged by the loss on the next rows; one that made it worse, or worse than the linear
  model, is taken back, and the step is cut.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.algorithms.quadratic.guarded_steps import (
    GuardedState,
    GuardedSteps,
    accept,
    batch_noise,
    loss_of,
    take_back,
)
from altmin.algorithms.quadratic.lens import (
    MAX_WHITENED,
    first_lens,
    mean_map,
    second_lens,
    shape_map,
    split_diagonal,
    whitened_lens,
    whitened_map,
)
from altmin.algorithms.quadratic.low_rank import Quadratic
from altmin.algorithms.quadratic.one_pass_maps import power_map, score_map, u_map, v_map
from altmin.contract import Done, Info, Round, Rows, Stats, Take, record
from altmin.io.records import replace

_POWER_ROUNDS = 5
_LOST = 1e6  # a loss of so many variances of y is past saving


@record
class OnePassState(GuardedState):
    """Phase, lens, the model, the last one that passed the guard, and the pace."""

    lens: Any  # Lens, or None before the first rows
    model: Any  # Quadratic
    safe: Any  # Quadratic: the last model whose loss on fresh rows was good
    linear: Any  # (d,): the linear model of the first batch, the guard's yardstick
    pending: Any  # of the U round: U, w, level, shift and diagonal of the operator, step
    factors: Any  # (d, m): what the next round multiplies x - mu with
    seed: int = 0
    batch: tuple[int, int] = (0, 0)  # epoch and first place of the batch in hand, if rows are shuffled
    following: tuple[int, int] = (0, 0)  # and of the next one
    power_left: int = _POWER_ROUNDS
    since_taken_back: int = 1 << 30


@record
class OnePass(GuardedSteps):
    """Parameters; :class:`altmin.FactorizationMachineRegressor` explains them.

    The loss is a share of the variance of y.
    """

    rank: int
    linear: bool = True
    intercept: bool = True
    moments: str = "auto"
    whiten: bool | str = "auto"
    shuffle: bool = False  # batches are random rows of a finite table, not the next ones

    @property
    def raw(self) -> bool:
        """The printed algorithm: features as they are."""
        return self.moments == "gaussian" and self.whiten is False

    def may_whiten(self, d: int) -> bool:
        """Whether the covariance is looked at: the one d x d array, of moderate size or on demand."""
        return not self.raw and (self.whiten is True or (self.whiten == "auto" and d <= MAX_WHITENED))

    def init(self, info: Info, seed: int) -> OnePassState:
        """A zero model; the start's random directions."""
        d = info.n_features
        k = min(self.rank, d)
        rng = np.random.default_rng(seed)
        width = min(k + 5, d)
        U = np.linalg.qr(rng.standard_normal((d, width)))[0]
        zero = Quadratic(U, np.zeros((d, width)), np.zeros(d), 0.0)
        return OnePassState(None, zero, zero, np.zeros(d), None, None, seed=seed, phase="mean")

    def next_round(self, state: OnePassState) -> Round | Done:
        """Moments, power rounds for the start, then U and V in turn."""
        same, fresh = self.batches(state)
        match state.phase:
            case "mean":
                return Round(mean_map, rows=fresh, name="moments", then=self._mean)
            case "shape":
                return Round(shape_map, rows=same, name="moments", then=self._see)
            case "whitened":
                return Round(whitened_map, rows=same, name="moments", then=self._whitened)
            case "power":
                return Round(power_map, rows=same, name="start", then=self._power)
            case "first":
                return Round(u_map, rows=same, name="U", then=self._u)
            case "u":
                if state.loss > _LOST:
                    return Done("diverged", _DIVERGED)
                if self.settled(state):
                    return Done("stalled" if state.loss > 1e-6 else "converged", _SETTLED)
                return Round(u_map, rows=same if state.again else fresh, name="U", then=self._u)
            case "v":
                return Round(v_map, rows=same, name="V", iteration=True, then=self._v)
            case "score":
                return Round(score_map, rows=same, name="score", then=self._score)
        return Done("converged")

    def finish(self, state: OnePassState) -> OnePassState:
        """Cut M to its rank and compare with the last safe model on the last rows."""
        if state.lens is None or state.phase in ("mean", "shape", "whitened", "power", "first", "done"):
            return replace(state, phase="done")
        model = state.model.truncate(min(self.rank, len(state.linear)))
        safe = state.safe.truncate(min(self.rank, len(state.linear)))
        both = [model.U, model.V, model.w, safe.U, safe.V, safe.w, state.linear]
        return replace(state, phase="score", model=model, safe=safe, factors=self._factors(state, both))

    def resume(self, state: OnePassState) -> OnePassState:
        """A finished state, ready for more rows."""
        if state.lens is None or state.factors is None:
            return replace(state, phase="mean", lens=None)
        return self._ready(replace(state, again=False), "u")

    # --- the phases ---------------------------------------------------------------------------------

    def _mean(self, state: OnePassState, stats: Stats) -> OnePassState:
        """Units of features and target."""
        lens = first_lens(stats, self.intercept and not self.raw, self.intercept)
        return replace(self._taken(state), phase="shape", lens=lens, batch_rows=stats["n"])

    def _see(self, state: OnePassState, stats: Stats) -> OnePassState:
        """Fix the lens; the linear model of the first batch is the start of w."""
        lens = second_lens(state.lens, stats, self.moments, self.whiten, self.raw)
        linear = np.zeros_like(state.linear)
        if self.linear and not self.raw:
            unit = np.divide(1.0, state.lens.T, out=np.zeros_like(state.lens.T), where=state.lens.T > 0)
            back = stats["xy"] / stats["n"] * unit * state.lens.target_scale / lens.target_scale
            linear = lens.T.T @ back if lens.T.ndim == 2 else lens.T * back
        state = replace(state, lens=lens, linear=linear, model=replace(state.model, w=linear))
        if lens.T.ndim == 2 and self.moments != "gaussian":
            return replace(state, phase="whitened")
        return self._aim(state)

    def _whitened(self, state: OnePassState, stats: Stats) -> OnePassState:
        """Moments of the whitened coordinates."""
        return self._aim(replace(state, lens=whitened_lens(state.lens, stats, self.moments)))

    def _aim(self, state: OnePassState) -> OnePassState:
        """From the lens to the first power round."""
        return self._ready(replace(state, safe=state.model), "power")

    def _power(self, state: OnePassState, stats: Stats) -> OnePassState:
        """Subspace iteration on the first batch's operator; then its best k directions."""
        if state.power_left > 1:
            HU, *_ = self._operator(state, stats, state.model.U)
            model = replace(state.model, U=np.linalg.qr(HU)[0])
            return self._ready(replace(state, model=model, power_left=state.power_left - 1), "power")
        U, _ = self._leading(state, stats)
        model = replace(state.model, U=U, V=np.zeros_like(U))
        return self._ready(replace(state, model=model, safe=model), "first")

    def _leading(self, state: OnePassState, stats: Stats) -> tuple[NDArray[Any], NDArray[Any]]:
        """The best k directions that the last power round spans, and the operator's values there."""
        U = state.model.U
        HU, *_ = self._operator(state, stats, U)
        core = U.T @ HU
        values, vectors = np.linalg.eigh(0.5 * (core + core.T))
        order = np.argsort(-np.abs(values), kind="stable")[: min(self.rank, len(state.linear))]
        return U @ vectors[:, order], values[order]

    def _u(self, state: OnePassState, stats: Stats) -> OnePassState:
        """Judge the last step by the loss on these rows; then the new U, w and level."""
        if state.phase == "u" and not state.again:
            state = self._taken(state)
        if stats["n"] == 0:  # rows of no weight say nothing: on to the next ones
            return replace(state, again=False)
        loss, error = loss_of(stats)
        if self._worse(state, stats, loss, error):
            return self._ready(take_back(state, model=state.safe, since_taken_back=0), "u")
        state = accept(state, stats, loss, error, safe=state.model)
        state, eta = self.pace(state, self._noise(state), self._fixed(state))
        model = state.model
        HU, shift, diagonal, delta = self._operator(state, stats, model.U)
        U = np.linalg.qr(model.times(model.U) + eta * HU)[0]
        w = model.w + eta * delta if self.linear else model.w
        pending = {
            "U": U,
            "w": w,
            "level": model.level + eta * 2 * shift,
            "shift": shift,
            "diagonal": diagonal,
            "moved": float(np.linalg.norm(delta)),
        }
        return self._ready(replace(state, pending=pending, step=eta), "v")

    def _v(self, state: OnePassState, stats: Stats) -> OnePassState:
        """V with the new U, and the same residual."""
        pending = state.pending
        U = pending["U"]
        HU = state.lens.gather(stats["B"], stats["sums"]) / (2 * stats["n"]) - pending["shift"] * U
        if pending["diagonal"] is not None:
            HU += pending["diagonal"][:, None] * U
        V = state.model.times(U) + state.step * HU
        model = replace(state.model, U=U, V=V, w=pending["w"], level=pending["level"])
        change = state.step * (pending["moved"] * self.linear + float(np.linalg.norm(HU)))
        state = replace(
            state,
            model=model,
            pending=None,
            change=change,
            steps=state.steps + 1,
            again=False,
            since_taken_back=state.since_taken_back + 1,
        )
        return self._ready(state, "u")

    def _score(self, state: OnePassState, stats: Stats) -> OnePassState:
        """The last step is judged by the last rows, or, where they are gone, by how steps went."""
        zero = replace(state.model, V=0 * state.model.V, w=state.linear, level=0.0)
        if stats is None:
            trusted = state.model if state.since_taken_back > 3 else state.safe
            return replace(state, phase="done", model=trusted if state.loss < 2 else zero)
        losses = np.array(stats["losses"]) / stats["n"]
        # A model is preferred to the one before only if it isn't worse: ties go to the latest.
        best = int(np.argmin(losses + np.array([0.0, 1e-12, 2e-12])))
        model = (state.model, state.safe, zero)[best]
        return replace(
            state, phase="done", model=model, loss=float(losses[best]) if self.reuses(state) else state.loss
        )

    # --- rows ---------------------------------------------------------------------------------------

    def batches(self, state: OnePassState) -> tuple[Rows, Rows]:
        """The rows in hand, and the next ones; random ones of a finite table."""
        if not self.shuffle or self.batch_size == 0:
            return super().batches(state)
        return Take(self._ids(state, state.batch)), Take(self._ids(state, state.following))

    def _taken(self, state: OnePassState) -> OnePassState:
        """Fresh rows are in hand: the next ones follow them."""
        if not self.shuffle:
            return state
        return replace(state, batch=state.following, following=self._after(state.following))

    def _ids(self, state: OnePassState, place: tuple[int, int]) -> NDArray[np.intp]:
        epoch, start = place
        return np.sort(shuffled(state.seed, epoch, self.total or 0)[start : start + self.batch_size])

    def _after(self, place: tuple[int, int]) -> tuple[int, int]:
        epoch, start = place
        start += self.batch_size
        return (epoch, start) if start < (self.total or 0) else (epoch + 1, 0)

    # --- pieces -------------------------------------------------------------------------------------

    def _operator(
        self, state: OnePassState, stats: Stats, U: NDArray[Any]
    ) -> tuple[NDArray[Any], float, NDArray[Any] | None, NDArray[Any]]:
        """H U, half the mean residual, the correction of H's diagonal, and the step of w."""
        n, lens = stats["n"], state.lens
        both = lens.gather(stats["B"], stats["sums"]) / n
        h = both[:, -1]
        mean = stats["sums"][-1] / n
        HU = 0.5 * both[:, :-1] - 0.5 * mean * U
        if lens.kappa is None:
            return HU, 0.5 * mean, None, h
        g = stats["squares"] / n - mean
        delta, D = split_diagonal(lens, h, g)
        diagonal = D - 0.5 * g
        return HU + diagonal[:, None] * U, 0.5 * mean, diagonal, delta

    def _worse(self, state: OnePassState, stats: Stats, loss: float, error: float) -> bool:
        """Whether the last step made the loss worse, or worse than the linear model's."""
        if self.raw and self.step is not None:
            return False  # the printed algorithm, to the letter; only the end is judged
        if self.worse(state, loss, error):
            return True
        if state.again or state.steps == 0 or loss < self.minimum_loss or self.batch_size == 0:
            return False
        n = stats["n"]
        paired = 3 * np.sqrt(stats["dd"]) / n
        return self.linear and not self.raw and loss > stats["ll"] / n + paired

    def _fixed(self, state: OnePassState) -> float | None:
        """A step that was asked for; shorter for the few rows at the end of an epoch."""
        return None if self.step is None else self.step * min(state.batch_rows / max(self.batch_size, 1), 1.0)

    def _noise(self, state: OnePassState) -> float:
        """delta^2 of this batch: the variance of its estimate of M* - M, in units of the loss."""
        d = len(state.linear)
        tails = 1.0 if state.lens.phi is None else max(float(np.mean(state.lens.phi)) / 3, 1.0)
        return batch_noise((min(self.rank, d) + 2.6) * tails, d, state.batch_rows)

    def _ready(self, state: OnePassState, phase: str) -> OnePassState:
        """The state of a phase, with the factors that its round multiplies the rows with."""
        model = state.model
        parts = [model.U, model.V, model.w, state.linear]
        if phase == "v":
            parts = [model.U, model.V, model.w, state.pending["U"]]
        return replace(state, phase=phase, factors=self._factors(state, parts))

    @staticmethod
    def _factors(state: OnePassState, parts: list[Any]) -> NDArray[Any]:
        return state.lens.factors(np.column_stack(parts))


@lru_cache(maxsize=2)
def shuffled(seed: int, epoch: int, n: int) -> NDArray[np.intp]:
    """The order of the rows in an epoch; kept, as every batch asks for a part of it."""
    return np.random.default_rng([seed, epoch]).permutation(n)


_DIVERGED = "the printed step blew up: its theory needs independent standard Gaussian features"
_SETTLED = "no step lowers the loss any more"
