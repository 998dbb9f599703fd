"""A support vector machine with a Gaussian kernel, as it is used once it has been learnt."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class KernelClassifier:
    """What lies in many small regions, which no plane parts: questions on nothing in the corpus, alarming messages."""

    support: NDArray[np.float32]
    """Shape (support vectors, dimension)."""
    lengths: NDArray[np.float32]
    """Squared lengths of the support vectors."""
    duals: NDArray[np.float32]
    gamma: float
    bias: float

    @classmethod
    def of(cls, support: NDArray[Any], duals: NDArray[Any], gamma: float, bias: float) -> "KernelClassifier":
        """From what was learnt; support vectors in half precision are taken as they are."""
        wide = support.astype(np.float32)
        return cls(wide, np.square(wide).sum(axis=1), duals.astype(np.float32), float(gamma), float(bias))

    @classmethod
    def learn(cls, rows: NDArray[Any], labels: NDArray[np.bool_], inverse_regularisation: float) -> "KernelClassifier":
        """From labelled rows, shape (rows, dimension); needs the extra `train`. Deterministic."""
        from sklearn.svm import SVC

        stored = rows.astype(np.float16).astype(np.float64)  # as it will be read again
        gamma = 1.0 / (stored.shape[1] * float(stored.var()))
        found = SVC(C=inverse_regularisation, gamma=gamma).fit(stored, labels)
        return cls.of(found.support_vectors_, found.dual_coef_[0], gamma, float(found.intercept_[0]))

    @classmethod
    def read(cls, arrays: dict[str, NDArray[Any]], name: str) -> "KernelClassifier":
        """From the arrays of a file. Raises KeyError, ValueError."""
        found = cls.of(
            arrays[f"{name}_support"],
            arrays[f"{name}_duals"],
            float(arrays[f"{name}_gamma"]),
            float(arrays[f"{name}_bias"]),
        )
        parts = (found.support, found.duals, found.gamma, found.bias)
        if found.support.shape[:1] != found.duals.shape or not all(np.isfinite(part).all() for part in parts):
            raise ValueError(name)
        return found

    def arrays(self, name: str) -> dict[str, NDArray[Any]]:
        """What `read` reads; support vectors in half precision."""
        return {
            f"{name}_support": self.support.astype(np.float16),
            f"{name}_duals": self.duals,
            f"{name}_gamma": np.asarray(self.gamma),
            f"{name}_bias": np.asarray(self.bias),
        }

    def decision(self, features: NDArray[np.float32]) -> float:
        """Signed distance of one row: above 0 for the class that was labelled true."""
        distances = self.lengths - 2 * (self.support @ features) + features @ features
        return float(np.exp(-self.gamma * distances) @ self.duals) + self.bias
