"""For type checkers: what the package imports when it is used."""

from . import attention as attention
from . import data as data
from . import decision as decision
from . import inspection as inspection
from . import linear_model as linear_model
from . import losses as losses
from . import mappings as mappings
from . import metrics as metrics
from . import objective as objective
from . import onnx as onnx
from . import solvers as solvers
from . import targets as targets
from .linear_model import AMSoftmaxClassifier as AMSoftmaxClassifier
from .linear_model import EntmaxClassifier as EntmaxClassifier
from .linear_model import EntmaxClassifierCV as EntmaxClassifierCV
from .linear_model import LinearClassifier as LinearClassifier
from .linear_model import PerturbMaxClassifier as PerturbMaxClassifier
from .linear_model import PerturbMaxClassifierCV as PerturbMaxClassifierCV
from .linear_model import SigmoidClassifier as SigmoidClassifier
from .linear_model import SoftmaxClassifier as SoftmaxClassifier
from .linear_model import SparsemaxClassifier as SparsemaxClassifier
from .linear_model import SparseSoftmaxClassifier as SparseSoftmaxClassifier
from .linear_model import TaylorSoftmaxClassifier as TaylorSoftmaxClassifier

__version__: str
