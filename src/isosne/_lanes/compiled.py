"""The functions of vectors as instructions of LLVM.

An intrinsic returns the signature of a function, and a function that generates its instructions.
"""

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, overload, register_model

from isosne._lanes import definitions
from isosne._lanes.definitions import LANES

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


def repeated(value: int) -> ir.Constant:
    """Return an LLVM vector of 16 equal integers."""
    return ir.Constant(INTEGERS, [value] * LANES)


def broadcast(builder: Any, number: Any, vector_type: Any) -> Any:
    """Return an LLVM vector of 16 equal numbers that are known at run time."""
    undefined = ir.Constant(vector_type, ir.Undefined)
    first = builder.insert_element(undefined, number, ir.Constant(INT, 0))
    return builder.shuffle_vector(first, undefined, repeated(0))


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


def has_vector(*arguments: Any) -> bool:
    """Return whether a Numba type among the arguments is that of a vector."""
    return any(isinstance(argument, VectorType) for argument in arguments)


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Register an intrinsic as the compiled form of a function of one to four arguments."""

    def register(generate: Callable[..., Any]) -> Any:
        made = intrinsic(generate)
        forms = {
            1: lambda a: lambda a: made(a),
            2: lambda a, b: lambda a, b: made(a, b),
            3: lambda a, b, c: lambda a, b, c: made(a, b, c),
            4: lambda a, b, c, d: lambda a, b, c, d: made(a, b, c, d),
        }
        overload(function)(forms[generate.__code__.co_argcount - 1])
        return made

    return register


def compiled_operator(operation: Callable[..., Any], instruction: str) -> None:
    """Register an operator of vectors, or of a vector and a number."""

    @intrinsic
    def made(_, a, b):
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            return getattr(builder, instruction)(*as_vectors(context, builder, signature, values))

        return VECTOR(a, b), generate

    overload(operation)(lambda a, b: (lambda a, b: made(a, b)) if has_vector(a, b) else None)


compiled_operator(operator.add, "fadd")
compiled_operator(operator.iadd, "fadd")
compiled_operator(operator.sub, "fsub")
compiled_operator(operator.mul, "fmul")
compiled_operator(operator.truediv, "fdiv")


@compiled(definitions.splat)
def splat(_, number):
    """Return a vector of 16 equal numbers."""
    return VECTOR(number), lambda *given: as_vectors(*given)[0]


@compiled(definitions.fma)
def fma(_, a, b, c):
    """Return a * b + c, rounded once."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        function_type = ir.FunctionType(FLOATS, [FLOATS] * 3)
        name = f"llvm.fma.v{LANES}f32"
        function = cgutils.get_or_insert_function(builder.module, function_type, name)
        return builder.call(function, as_vectors(context, builder, signature, values))

    return VECTOR(a, b, c), generate


@compiled(definitions.load)
def load(_, array, start):
    """Return array[start : start + 16] as a vector; the array (1-D, contiguous) is long enough."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        pointer = data_pointer(context, builder, signature.args[0], *values)
        lanes = ir.VectorType(pointer.type.pointee, LANES)
        loaded = builder.load(builder.bitcast(pointer, lanes.as_pointer()))
        loaded.align = array.dtype.bitwidth // 8  # the start need not be a multiple of 16
        if isinstance(array.dtype, types.Float):
            return loaded
        return builder.uitofp(loaded, FLOATS)

    is_narrow = array.dtype == types.float32 or (
        isinstance(array.dtype, types.Integer) and not array.dtype.signed
    )
    if array.ndim == 1 and array.layout == "C" and is_narrow:
        return VECTOR(array, types.intp), generate
    return None


@compiled(definitions.gather)
def gather(_, array, indices, start, column):
    """Return array[indices[start : start + 16], column] as a vector, of an array (n, k)."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        table, places, first, column_at = values
        table_type, places_type = signature.args[:2]
        shape = context.make_array(table_type)(context, builder, table).shape
        width = cgutils.unpack_tuple(builder, shape)[1]
        word = width.type
        vector = ir.Constant(FLOATS, ir.Undefined)
        for lane in range(LANES):
            at = builder.add(first, ir.Constant(word, lane))
            row = builder.load(data_pointer(context, builder, places_type, places, at))
            offset = builder.add(builder.mul(builder.zext(row, word), width), column_at)
            value = builder.load(data_pointer(context, builder, table_type, table, offset))
            vector = builder.insert_element(vector, value, ir.Constant(INT, lane))
        return vector

    if array.dtype == types.float32 and array.layout == "C" and indices.dtype == types.uint32:
        return VECTOR(array, indices, types.intp, types.intp), generate
    return None


@compiled(definitions.total)
def total(_, vector):
    """Return the sum of the lanes: 8 pairs, then 4, 2 and 1."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
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

    return types.float32(VECTOR), generate


@compiled(definitions.split)
def split(_, vector):
    """Return m, from sqrt(1/2) to sqrt(2), and k with vector = m 2^k, for positive numbers."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        bits = builder.bitcast(values[0], INTEGERS)
        above = builder.sub(bits, repeated(SQRT_HALF))
        k = builder.ashr(above, repeated(23))
        mantissa = builder.add(builder.and_(above, repeated(0x7FFFFF)), repeated(SQRT_HALF))
        both = builder.bitcast(mantissa, FLOATS), builder.sitofp(k, FLOATS)
        return context.make_tuple(builder, signature.return_type, both)

    return types.UniTuple(VECTOR, 2)(VECTOR), generate


@compiled(definitions.two_to_the)
def two_to_the(_, vector):
    """Return 2^k for integers k from -126 to 127, given as a vector of floats."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        k = builder.fptosi(values[0], INTEGERS)
        bits = builder.shl(builder.add(k, repeated(127)), repeated(23))
        return builder.bitcast(bits, FLOATS)

    return VECTOR(VECTOR), generate


@compiled(definitions.at_least)
def at_least(_, vector, bound):
    """Return the larger of each lane and a bound; NaN becomes the bound."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        vector, bound = as_vectors(context, builder, signature, values)
        return builder.select(builder.fcmp_ordered(">", vector, bound), vector, bound)

    return VECTOR(vector, bound), generate


@compiled(definitions.between)
def between(_, low, high):
    """Return a vector with 1 in the lanes from low to high - 1 and 0 in the others."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        lanes = ir.Constant(INTEGERS, list(range(LANES)))
        first, stop = (broadcast(builder, builder.trunc(value, INT), INTEGERS) for value in values)
        is_from = builder.icmp_signed(">=", lanes, first)
        is_before = builder.icmp_signed("<", lanes, stop)
        return builder.uitofp(builder.and_(is_from, is_before), FLOATS)

    return VECTOR(types.intp, types.intp), generate


@compiled(definitions.with_entry)
def with_entry(_, values, index, value):
    """Replace the entry in memory; the optimizer moves it to registers."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        values, index, value = arguments
        place = cgutils.alloca_once_value(builder, values)
        builder.store(value, cgutils.gep_inbounds(builder, place, 0, index))
        return builder.load(place)

    return values(values, types.intp, values.dtype), generate
