"""Private statistics from a Snapledger service: never charged twice, typed, and drawn in notebooks.

Examples:
    >>> from snapledger_client import Client
    >>> client = Client()
    >>> penguins = client.dataset("penguins")
    >>> plan = penguins.plan(mean("body_mass_g"), accuracy=50)
    >>> release = penguins.mean("body_mass_g", accuracy=50)
    >>> release.accuracy.radius <= 50, release.privacy.epsilon == plan.privacy.epsilon
    (True, True)
"""

from snapledger_client.accounts import Allowance, Budget, DatasetFacts, Entry, Figures, IssuedKey, Me, Principal, Window
from snapledger_client.async_client import AsyncClient, AsyncDataset
from snapledger_client.calls import Asked, Question
from snapledger_client.client import Client, Dataset
from snapledger_client.numbers import Number, decimal_text
from snapledger_client.problems import (
    AccuracyTrivial,
    AccuracyUnattainable,
    BadRequest,
    BudgetExhausted,
    DatasetClosed,
    EpsilonTooLarge,
    Forbidden,
    Internal,
    InvalidRequest,
    KeyRequired,
    KeyReused,
    LastAdmin,
    MalformedJson,
    MethodNotAllowed,
    NameTaken,
    NotFound,
    Problem,
    RateLimited,
    SnapledgerError,
    TooLarge,
    Unauthenticated,
    Unavailable,
    UnexpectedAnswer,
    Unreachable,
    UnsupportedMediaType,
)
from snapledger_client.releases import (
    Accuracy,
    Bin,
    Charge,
    Cliff,
    Estimate,
    EstimateAccuracy,
    Histogram,
    HistogramAccuracy,
    Interval,
    Mechanism,
    Plan,
    Privacy,
    Prospect,
    Release,
)
from snapledger_client.statistics import Bounds, Statistic, covariance, histogram, mean, variance

__all__ = [
    "Accuracy",
    "AccuracyTrivial",
    "AccuracyUnattainable",
    "Allowance",
    "Asked",
    "AsyncClient",
    "AsyncDataset",
    "BadRequest",
    "Bin",
    "Bounds",
    "Budget",
    "BudgetExhausted",
    "Charge",
    "Client",
    "Cliff",
    "Dataset",
    "DatasetClosed",
    "DatasetFacts",
    "Entry",
    "EpsilonTooLarge",
    "Estimate",
    "EstimateAccuracy",
    "Figures",
    "Forbidden",
    "Histogram",
    "HistogramAccuracy",
    "Internal",
    "Interval",
    "InvalidRequest",
    "IssuedKey",
    "KeyRequired",
    "KeyReused",
    "LastAdmin",
    "MalformedJson",
    "Me",
    "Mechanism",
    "MethodNotAllowed",
    "NameTaken",
    "NotFound",
    "Number",
    "Plan",
    "Principal",
    "Privacy",
    "Problem",
    "Prospect",
    "Question",
    "RateLimited",
    "Release",
    "SnapledgerError",
    "Statistic",
    "TooLarge",
    "Unauthenticated",
    "Unavailable",
    "UnexpectedAnswer",
    "Unreachable",
    "UnsupportedMediaType",
    "Window",
    "covariance",
    "decimal_text",
    "histogram",
    "mean",
    "variance",
]
