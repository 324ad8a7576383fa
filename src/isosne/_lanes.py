"""Vectors of 16 float32 numbers, for sums whose order does not depend on the CPU.

If a compiler may reorder a sum to vectorize it, the result depends on the width of the CPU's
registers; if it may not, the sum is several times slower. Here the source fixes the order: term j
is added to lane j modulo 16, and `total` adds the lanes in pairs. Every CPU does the same
operations, on registers of its own width (docs/decisions/0010).

Compiled functions use ``+``, ``-``, ``*`` and ``/`` with vectors and numbers, and these functions.
Each is defined twice: in NumPy, where a vector is an array, for runs without compilation
(``NUMBA_DISABLE_JIT=1``), and by the instructions of LLVM that it becomes.
"""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AbstractTemplate, infer_global
from numba.extending import lower_builtin, models, register_model

from isosne._numba import kernel
from isosne._types import Array, Scalar

LANES = 16
"""The width of AVX-512. Narrower registers hold a vector in parts: with AVX2, eight lanes are no
faster (docs/decisions/0010)."""
Vector = Any
Vectors = tuple[Vector, ...]
"""One vector of 16 coordinates per axis of a map. The number of axes, 1 to 3, is the length of the
tuple, so that it is known when a function is compiled, and the other lengths are left out."""

LOG2_E = np.float32(1.44269504)
LN2_HIGH = np.float32(0.69314575)  # 16 bits of log 2, so that its product with k is exact
LN2_LOW = np.float32(1.42860677e-06)  # the rest
ROUNDER = np.float32(12582912)  # 1.5 * 2^23: adding and subtracting it rounds to an integer
SQRT_HALF = 0x3F3504F3
"""The bits of the float32 nearest to sqrt(1/2)."""

INT = ir.IntType(32)
FLOATS = ir.VectorType(ir.FloatType(), LANES)
INTEGERS = ir.VectorType(INT, LANES)


class VectorType(types.Type):
    """Numba's type of a vector."""

    def __init__(self) -> None:
        super().__init__(name="float32x16")


VECTOR = VectorType()


@register_model(VectorType)
class VectorModel(models.PrimitiveModel):
    """A vector of Numba is a vector of LLVM."""

    def __init__(self, manager: Any, numba_type: Any) -> None:
        super().__init__(manager, numba_type, FLOATS)


def constant(value: int) -> ir.Constant:
    """Return an LLVM vector of 16 equal integers."""
    return ir.Constant(INTEGERS, [value] * LANES)


def broadcast(builder: Any, number: Any, vector_type: Any) -> Any:
    """Return an LLVM vector of 16 equal numbers that are known at run time."""
    undefined = ir.Constant(vector_type, ir.Undefined)
    first = builder.insert_element(undefined, number, ir.Constant(INT, 0))
    return builder.shuffle_vector(first, undefined, constant(0))


def as_vectors(context: Any, builder: Any, signature: Any, values: Any) -> list[Any]:
    """Return arguments as LLVM vectors; a number is repeated in all lanes."""

    def as_vector(value: Any, numba_type: Any) -> Any:
        if isinstance(numba_type, VectorType):
            return value
        number = context.cast(builder, value, numba_type, types.float32)
        return broadcast(builder, number, FLOATS)

    return list(map(as_vector, values, signature.args))


def data_pointer(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    """Return an LLVM pointer to an element of a contiguous array."""
    data = context.make_array(array_type)(context, builder, array).data
    return builder.gep(data, [index])


def compiled(function: Callable[..., Any], signature: Callable[..., Any]) -> Callable[..., Any]:
    """Register what generates the instructions of a function: at the call, so that it is inlined.

    signature: from the types of the arguments to the signature, or None.
    """

    def register(generate: Callable[..., Any]) -> Any:
        @infer_global(function)
        class Typing(AbstractTemplate):
            def generic(self, args, kws):
                return signature(*map(types.unliteral, args))

        lower_builtin(function, *[types.Any] * signature.__code__.co_argcount)(generate)
        return generate

    return register


def compiled_operator(operation: Callable[..., Any], instruction: str) -> None:
    """Register an operator of vectors, or of a vector and a number."""

    @infer_global(operation)
    class Typing(AbstractTemplate):
        def generic(self, args, kws):
            has_vector = any(isinstance(each, VectorType) for each in args)
            return VECTOR(*map(types.unliteral, args)) if has_vector else None

    def generate(context, builder, signature, values):
        return getattr(builder, instruction)(*as_vectors(context, builder, signature, values))

    for operands in ((VectorType,) * 2, (VectorType, types.Number), (types.Number, VectorType)):
        lower_builtin(operation, *operands)(generate)


compiled_operator(operator.add, "fadd")
compiled_operator(operator.iadd, "fadd")
compiled_operator(operator.sub, "fsub")
compiled_operator(operator.mul, "fmul")
compiled_operator(operator.truediv, "fdiv")


def splat(number: Scalar) -> Vector:
    """Return a vector of 16 equal numbers."""
    return np.full(LANES, number, np.float32)


@compiled(splat, lambda number: VECTOR(number))
def _splat(*given):
    return as_vectors(*given)[0]


def fma(a: Vector, b: Vector, c: Vector) -> Vector:
    """Return a * b + c, rounded once; in NumPy twice."""
    return np.float32(np.float64(a) * b + c)


@compiled(fma, lambda a, b, c: VECTOR(a, b, c))
def _fma(context, builder, signature, values):
    function_type = ir.FunctionType(FLOATS, [FLOATS] * 3)
    name = f"llvm.fma.v{LANES}f32"
    function = cgutils.get_or_insert_function(builder.module, function_type, name)
    return builder.call(function, as_vectors(context, builder, signature, values))


def load(array: Array, start: int) -> Vector:
    """Return array[start : start + 16]; the array (1-D, contiguous) is long enough."""
    assert 0 <= start <= len(array) - LANES
    return array[start : start + LANES].astype(np.float32)


def _signature_of_load(array, start):
    is_narrow = array.dtype == types.float32 or (
        isinstance(array.dtype, types.Integer) and not array.dtype.signed
    )
    is_list = array.ndim == 1 and array.layout == "C"
    return VECTOR(array, types.intp) if is_list and is_narrow else None


@compiled(load, _signature_of_load)
def _load(context, builder, signature, values):
    array = signature.args[0]
    pointer = data_pointer(context, builder, array, *values)
    lanes = ir.VectorType(pointer.type.pointee, LANES)
    loaded = builder.load(builder.bitcast(pointer, lanes.as_pointer()))
    loaded.align = array.dtype.bitwidth // 8  # the start need not be a multiple of 16
    return loaded if isinstance(array.dtype, types.Float) else builder.uitofp(loaded, FLOATS)


def gather(array: Array, indices: Array, start: int, column: int) -> Vector:
    """Return array[indices[start : start + 16], column] of an array (n, k)."""
    assert 0 <= start <= len(indices) - LANES
    return array[indices[start : start + LANES], column]


def _signature_of_gather(array, indices, start, column):
    is_right = array.dtype == types.float32 and array.layout == "C"
    if is_right and indices.dtype == types.uint32:
        return VECTOR(array, indices, types.intp, types.intp)
    return None


@compiled(gather, _signature_of_gather)
def _gather(context, builder, signature, values):
    table, places, first, column = values
    table_type, places_type = signature.args[:2]
    shape = context.make_array(table_type)(context, builder, table).shape
    width = cgutils.unpack_tuple(builder, shape)[1]
    word = width.type
    vector = ir.Constant(FLOATS, ir.Undefined)
    for lane in range(LANES):
        at = builder.add(first, ir.Constant(word, lane))
        row = builder.load(data_pointer(context, builder, places_type, places, at))
        offset = builder.add(builder.mul(builder.zext(row, word), width), column)
        value = builder.load(data_pointer(context, builder, table_type, table, offset))
        vector = builder.insert_element(vector, value, ir.Constant(INT, lane))
    return vector


def total(vector: Vector) -> Scalar:
    """Return the sum of the lanes: 8 pairs, then 4, 2 and 1."""
    while len(vector) > 1:
        low, high = np.split(vector, 2)
        vector = low + high
    return vector[0]


@compiled(total, lambda vector: types.float32(VECTOR))
def _total(context, builder, signature, values):
    (lanes,) = values
    width = LANES
    while width > 1:
        width //= 2
        halves = [
            ir.Constant(ir.VectorType(INT, width), list(range(first, first + width)))
            for first in (0, width)
        ]
        low, high = (builder.shuffle_vector(lanes, lanes, half) for half in halves)
        lanes = builder.fadd(low, high)
    return builder.extract_element(lanes, ir.Constant(INT, 0))


def split(vector: Vector) -> tuple[Vector, Vector]:
    """Return m, from sqrt(1/2) to sqrt(2), and k with vector = m 2^k, for positive numbers."""
    m, k = np.frexp(vector)
    is_low = m < np.float32(0.5**0.5)
    return np.where(is_low, 2 * m, m), (k - is_low).astype(np.float32)


@compiled(split, lambda vector: types.UniTuple(VECTOR, 2)(VECTOR))
def _split(context, builder, signature, values):
    bits = builder.bitcast(values[0], INTEGERS)
    above = builder.sub(bits, constant(SQRT_HALF))
    k = builder.ashr(above, constant(23))
    mantissa = builder.add(builder.and_(above, constant(0x7FFFFF)), constant(SQRT_HALF))
    both = builder.bitcast(mantissa, FLOATS), builder.sitofp(k, FLOATS)
    return context.make_tuple(builder, signature.return_type, both)


def two_to_the(vector: Vector) -> Vector:
    """Return 2^k for integers k from -126 to 127, given as floats."""
    return np.exp2(vector)


@compiled(two_to_the, lambda vector: VECTOR(VECTOR))
def _two_to_the(context, builder, signature, values):
    k = builder.fptosi(values[0], INTEGERS)
    bits = builder.shl(builder.add(k, constant(127)), constant(23))
    return builder.bitcast(bits, FLOATS)


def at_least(vector: Vector, bound: Scalar) -> Vector:
    """Return the larger of each lane and a bound; NaN becomes the bound."""
    return np.where(vector > bound, vector, np.float32(bound))


@compiled(at_least, lambda vector, bound: VECTOR(vector, bound))
def _at_least(context, builder, signature, values):
    vector, bound = as_vectors(context, builder, signature, values)
    return builder.select(builder.fcmp_ordered(">", vector, bound), vector, bound)


def between(low: int, high: int) -> Vector:
    """Return 1 in the lanes from low to high - 1 and 0 in the others."""
    lanes = np.arange(LANES)
    return np.float32((lanes >= low) & (lanes < high))


@compiled(between, lambda low, high: VECTOR(types.intp, types.intp))
def _between(context, builder, signature, values):
    lanes = ir.Constant(INTEGERS, list(range(LANES)))
    first, stop = (broadcast(builder, builder.trunc(value, INT), INTEGERS) for value in values)
    is_from = builder.icmp_signed(">=", lanes, first)
    is_before = builder.icmp_signed("<", lanes, stop)
    return builder.uitofp(builder.and_(is_from, is_before), FLOATS)


def weighted(x: Any, masses: tuple[Array, ...], start: int) -> Any:
    """Return a vector times the masses from start on, or a number times one; unchanged for ()."""
    for mass in masses:
        x = x * (load(mass, start) if isinstance(x, np.ndarray) else mass[start])
    return x


@compiled(weighted, lambda x, masses, start: x(x, masses, types.intp))
def _weighted(context, builder, signature, values):
    (kind, masses, _), (x, packed, start) = signature.args, values
    for place, array_type in enumerate(masses):  # none, or one
        array = builder.extract_value(packed, place)
        pointer = data_pointer(context, builder, array_type, array, start)
        if isinstance(kind, VectorType):
            pointer = builder.bitcast(pointer, FLOATS.as_pointer())
        x = builder.fmul(x, builder.load(pointer, align=4))
    return x


@kernel
def vector_at(first: int, stop: int, size: int) -> tuple[int, Vector]:
    """Return the start of a vector with the terms from `first` on, and 1 in their lanes.

    Terms end before `stop`; the vector lies within an array of a size of 16 or more.
    """
    start = max(min(first, size - LANES), 0)
    return start, between(first - start, stop - start)


def with_entry(values: tuple[Any, ...], index: int, value: Any) -> tuple[Any, ...]:
    """Return a tuple of numbers with one entry replaced; compiled, a short one is in registers."""
    return (*values[:index], value, *values[index + 1 :])


@compiled(with_entry, lambda values, index, value: values(values, types.intp, values.dtype))
def _with_entry(context, builder, signature, arguments):
    values, index, value = arguments
    place = cgutils.alloca_once_value(builder, values)  # the optimizer moves it to registers
    builder.store(value, cgutils.gep_inbounds(builder, place, 0, index))
    return builder.load(place)


@kernel
def log(x: Vector) -> Vector:
    """Return the logarithm of positive normal numbers; error below 2e-7, relative or absolute.

    x = m 2^k; log m = 2 (s + s^3/3 + ... + s^9/9) with s = (m - 1) / (m + 1). As |s| < 0.172, the
    next term, 2 s^11/11, is below 1e-9.
    """
    m, k = split(x)
    s = (m - 1) / (m + 1)
    z = s * s
    series = fma(z, np.float32(1 / 9), np.float32(1 / 7))
    series = fma(series, z, np.float32(1 / 5))
    series = fma(series, z, np.float32(1 / 3))
    log_m = 2 * s * fma(series, z, 1)
    return fma(k, LN2_HIGH, fma(k, LN2_LOW, log_m))


@kernel
def exp(x: Vector) -> Vector:
    """Return e^x for x up to 88. The relative error is below 2e-7 from -87 on; zero below -104.

    x = k log 2 + r with |r| <= log(2) / 2; the Taylor series of e^r to r^7 (next term: 5e-9).
    """
    x = at_least(x, np.float32(-105))
    k = fma(x, LOG2_E, ROUNDER) - ROUNDER
    r = fma(k, -LN2_LOW, fma(k, -LN2_HIGH, x))
    series = fma(r, np.float32(1 / 5040), np.float32(1 / 720))
    series = fma(series, r, np.float32(1 / 120))
    series = fma(series, r, np.float32(1 / 24))
    series = fma(series, r, np.float32(1 / 6))
    series = fma(series, r, np.float32(1 / 2))
    series = fma(series, r, 1)
    half = fma(k, np.float32(0.5), ROUNDER) - ROUNDER  # in two factors: 2^k may be subnormal
    return fma(series, r, 1) * two_to_the(half) * two_to_the(k - half)


def vectors(like: Any) -> Any:
    """Return the type of as many vectors as a tuple type has entries."""
    return types.UniTuple(VECTOR, len(like))


def pack(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    """Return LLVM values as the tuple that a signature returns."""
    return context.make_tuple(builder, signature.return_type, list(values))


def loaded(Y: tuple[Array, ...], start: int) -> Vectors:
    """Return the coordinates of the points start to start + 15 of a map stored by axis."""
    return tuple(load(y, start) for y in Y)


@compiled(loaded, lambda Y, start: vectors(Y)(Y, types.intp))
def _loaded(context, builder, signature, values):
    Y, start = values
    one = _signature_of_load(signature.args[0].dtype, types.intp)
    arrays = cgutils.unpack_tuple(builder, Y)
    found = [_load(context, builder, one, (array, start)) for array in arrays]
    return pack(context, builder, signature, found)


def gathered(Y: Array, at: Array, start: int, like: tuple[Any, ...]) -> Vectors:
    """Return the coordinates of the points at[start : start + 16] of a map stored by row.

    like: a tuple with one entry per axis.
    """
    return tuple(gather(Y, at, start, c) for c in range(len(like)))


@compiled(gathered, lambda Y, at, start, like: vectors(like)(Y, at, types.intp, like))
def _gathered(context, builder, signature, values):
    Y, at, start, _ = values
    one = _signature_of_gather(*signature.args[:2], types.intp, types.intp)
    columns = (ir.Constant(start.type, c) for c in range(len(signature.return_type)))
    found = [_gather(context, builder, one, (Y, at, start, column)) for column in columns]
    return pack(context, builder, signature, found)


def point(Y: tuple[Array, ...], i: int) -> tuple[Scalar, ...]:
    """Return the coordinates of a point of a map stored by axis."""
    return tuple(y[i] for y in Y)


@compiled(point, lambda Y, i: types.UniTuple(types.float32, len(Y))(Y, types.intp))
def _point(context, builder, signature, values):
    Y, i = values
    kind = signature.args[0].dtype
    arrays = cgutils.unpack_tuple(builder, Y)
    found = [builder.load(data_pointer(context, builder, kind, array, i)) for array in arrays]
    return pack(context, builder, signature, found)


@kernel
def entries(array: Array, like: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the first entries or rows of an array as a tuple, as many as `like` has."""
    if len(like) == 1:
        return (array[0],)
    if len(like) == 2:
        return array[0], array[1]
    return array[0], array[1], array[2]


def repeated(x: tuple[Scalar, ...]) -> Vectors:
    """Return the coordinates of one point, in all lanes."""
    return tuple(map(splat, x))


@compiled(repeated, lambda x: vectors(x)(types.UniTuple(types.float32, len(x))))
def _repeated(context, builder, signature, values):
    numbers = cgutils.unpack_tuple(builder, values[0])
    found = [broadcast(builder, number, FLOATS) for number in numbers]
    return pack(context, builder, signature, found)


def minus(x: Vectors, y: Vectors) -> Vectors:
    """Return the differences x - y."""
    return tuple(map(operator.sub, x, y))


@compiled(minus, lambda x, y: x(x, y))
def _minus(context, builder, signature, values):
    x, y = (cgutils.unpack_tuple(builder, value) for value in values)
    return pack(context, builder, signature, map(builder.fsub, x, y))


def sq_length(d: Vectors) -> Vector:
    """Return the sum of the squares over the axes."""
    square = d[0] * d[0]
    for x in d[1:]:
        square = fma(x, x, square)
    return square


@compiled(sq_length, lambda d: VECTOR(d))
def _sq_length(context, builder, signature, values):
    first, *others = cgutils.unpack_tuple(builder, values[0])
    square = builder.fmul(first, first)
    for x in others:
        square = _fma(context, builder, VECTOR(*[VECTOR] * 3), (x, x, square))
    return square


def plus_product(sums: Vectors, weight: Vector, d: Vectors) -> Vectors:
    """Return sums + weight * d."""
    return tuple(fma(weight, x, before) for x, before in zip(d, sums, strict=True))


@compiled(plus_product, lambda sums, weight, d: sums(sums, VECTOR, d))
def _plus_product(context, builder, signature, values):
    sums, weight, d = values
    before, by = cgutils.unpack_tuple(builder, sums), cgutils.unpack_tuple(builder, d)
    one = VECTOR(*[VECTOR] * 3)
    found = [_fma(context, builder, one, (weight, x, y)) for x, y in zip(by, before, strict=True)]
    return pack(context, builder, signature, found)


def totals(sums: Vectors) -> tuple[Scalar, ...]:
    """Return the sum of the lanes of each axis."""
    return tuple(map(total, sums))


@compiled(totals, lambda sums: types.UniTuple(types.float32, len(sums))(sums))
def _totals(context, builder, signature, values):
    each = cgutils.unpack_tuple(builder, values[0])
    found = [_total(context, builder, types.float32(VECTOR), (vector,)) for vector in each]
    return pack(context, builder, signature, found)
