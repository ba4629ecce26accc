"""Arrays of an ONNX graph, with the operators of NumPy arrays."""

import numpy as np


class Graph:
    """The graph to which the nodes of one model are added.

    Parameters
    ----------
    scope : skl2onnx Scope
        Returns unused names.
    container : skl2onnx ModelComponentContainer
        Stores nodes and constants.
    """

    def __init__(self, scope, container):
        self._scope, self._container = scope, container

    def constant(self, value, dtype=None):
        """A constant array."""
        import onnx

        value = np.asarray(value, dtype)
        is_text = value.dtype.kind in "OU"
        name = self._scope.get_unique_variable_name("constant")
        kind = (
            onnx.TensorProto.STRING
            if is_text
            else onnx.helper.np_dtype_to_tensor_dtype(value.dtype)
        )
        content = value.ravel().tolist()
        if is_text:
            content = [text.encode() for text in content]
        self._container.add_initializer(name, kind, list(value.shape), content)
        return Tensor(self, name, value.dtype)

    def input(self, variable):
        """An input of the model, in float64."""
        return Tensor(self, variable.full_name, None).astype(np.float64)

    def output(self, tensor, variable):
        """Make a tensor an output of the model."""
        self.node("Identity", tensor, outputs=[variable.full_name])

    def node(self, operator, *inputs, dtype=np.float64, outputs=None, **attributes):
        """The result of an ONNX operator for tensors, or for arrays as constants.

        Parameters
        ----------
        operator : str
        *inputs : Tensor or ndarray
        dtype : dtype or list of dtype, default=float64
            Type of the result, or of each of several results.
        outputs : list of str, default=None
            Names of the results; None chooses unused names.
        **attributes : object
            Attributes of the operator.

        Returns
        -------
        result : Tensor or list of Tensor
        """
        names = [self._tensor(value).name for value in inputs]
        dtypes = dtype if isinstance(dtype, list) else [dtype]
        outputs = outputs or [
            self._scope.get_unique_variable_name(operator.lower()) for _ in dtypes
        ]
        self._container.add_node(
            operator,
            names,
            outputs,
            name=self._scope.get_unique_operator_name(operator),
            **attributes,
        )
        results = [
            Tensor(self, name, dtype)
            for name, dtype in zip(outputs, dtypes, strict=True)
        ]
        return results if isinstance(dtype, list) else results[0]

    def _tensor(self, value):
        return value if isinstance(value, Tensor) else self.constant(value)


class Tensor:
    """A two-dimensional array of a graph, or a number as a constant.

    Sums and the like are over the last axis, which they keep at length one.

    Parameters
    ----------
    graph : Graph
    name : str
    dtype : dtype
        float64, int64 or bool.
    """

    def __init__(self, graph, name, dtype):
        self.graph, self.name, self.dtype = graph, name, dtype

    def __add__(self, other):
        return self._binary("Add", other)

    def __radd__(self, other):
        return self._reversed("Add", other)

    def __sub__(self, other):
        return self._binary("Sub", other)

    def __rsub__(self, other):
        return self._reversed("Sub", other)

    def __mul__(self, other):
        return self._binary("Mul", other)

    def __rmul__(self, other):
        return self._reversed("Mul", other)

    def __truediv__(self, other):
        return self._binary("Div", other)

    def __rtruediv__(self, other):
        return self._reversed("Div", other)

    def __floordiv__(self, other):
        # ONNX rounds towards zero. The numbers in these graphs are not negative.
        return self._binary("Div", other)

    def __pow__(self, other):
        return self._binary("Pow", other)

    def __matmul__(self, other):
        return self._binary("MatMul", other)

    def __neg__(self):
        return self._unary("Neg")

    def __gt__(self, other):
        return self._binary("Greater", other, bool)

    def __ge__(self, other):
        return self._binary("GreaterOrEqual", other, bool)

    def __lt__(self, other):
        return self._binary("Less", other, bool)

    def __le__(self, other):
        return self._binary("LessOrEqual", other, bool)

    def exp(self):
        """Its exponential."""
        return self._unary("Exp")

    def log(self):
        """Its logarithm."""
        return self._unary("Log")

    def sqrt(self):
        """Its square root."""
        return self._unary("Sqrt")

    def abs(self):
        """Its absolute value."""
        return self._unary("Abs")

    def round(self):
        """The nearest integer; of two, the even one."""
        return self._unary("Round")

    def maximum(self, other):
        """The larger of two, entry by entry."""
        return self._binary("Max", other)

    def minimum(self, other):
        """The smaller of two, entry by entry."""
        return self._binary("Min", other)

    def clip(self, low, high):
        """The nearest number between two bounds."""
        return self.maximum(low).minimum(high)

    def where(self, condition, other=0):
        """The entries if `condition` holds, and `other` elsewhere."""
        other = self._operand(other, self.dtype)
        return self.graph.node("Where", condition, self, other, dtype=self.dtype)

    def astype(self, dtype):
        """The tensor in another type."""
        import onnx

        to = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        return self.graph.node("Cast", self, dtype=dtype, to=to)

    def sum(self):
        """The sum of each row."""
        return self._reduced("ReduceSum")

    def max(self):
        """The largest entry of each row."""
        return self._reduced("ReduceMax")

    def min(self):
        """The smallest entry of each row."""
        return self._reduced("ReduceMin")

    def prod(self):
        """The product of each row."""
        return self._reduced("ReduceProd")

    def cumsum(self):
        """Cumulative sums of the entries of each row."""
        return self.graph.node("CumSum", self, np.array(-1))

    def argmax(self):
        """The column of each row's largest entry, the first of equal ones."""
        return self.graph.node("ArgMax", self, dtype=np.int64, axis=-1)

    def largest(self, k):
        """The k largest entries of each row, in falling order, and their columns.

        Equal entries are in the order of their columns.
        """
        count = np.array([k], np.int64)
        return self.graph.node("TopK", self, count, dtype=[self.dtype, np.int64])

    def take(self, columns):
        """The entries of each row in its own columns."""
        return self.graph.node("GatherElements", self, columns, axis=-1)

    def put(self, columns, values):
        """A copy with other values in the given columns of each row."""
        return self.graph.node(
            "ScatterElements", self, columns, values, dtype=self.dtype, axis=-1
        )

    def columns(self, indices):
        """Some of the columns, the same in every row."""
        indices = np.asarray(indices, np.int64)
        return self.graph.node("Gather", self, indices, dtype=self.dtype, axis=-1)

    def stacked(self, *others):
        """The tensor and others, concatenated along the last axis."""
        return self.graph.node("Concat", self, *others, dtype=self.dtype, axis=-1)

    def with_row(self, n_columns):
        """The tensor with a row of zeros at the end."""
        row = np.zeros((1, n_columns))
        return self.graph.node("Concat", self, row, dtype=self.dtype, axis=0)

    def without_row(self):
        """The tensor without its last row."""
        first, axis = np.array([0]), np.array([0])
        last = np.array([-1])
        return self.graph.node("Slice", self, first, last, axis, dtype=self.dtype)

    def with_axis(self):
        """The tensor with one more axis, of length one, at the end."""
        return self.graph.node("Unsqueeze", self, np.array([-1]), dtype=self.dtype)

    def without_axis(self):
        """The tensor without its last axis, of length one."""
        return self.graph.node("Squeeze", self, np.array([-1]), dtype=self.dtype)

    def _unary(self, operator):
        return self.graph.node(operator, self, dtype=self.dtype)

    def _binary(self, operator, other, dtype=None):
        other = self._operand(other, self.dtype)
        return self.graph.node(operator, self, other, dtype=dtype or self.dtype)

    def _reversed(self, operator, other):
        other = self._operand(other, self.dtype)
        return self.graph.node(operator, other, self, dtype=self.dtype)

    def _reduced(self, operator):
        axes = np.array([-1])
        return self.graph.node(operator, self, axes, dtype=self.dtype, keepdims=1)

    @staticmethod
    def _operand(value, dtype):
        return value if isinstance(value, Tensor) else np.asarray(value, dtype)
