"""A property that is computed once. functools has one too, with a lock that costs more than most of ours compute."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

Value = TypeVar("Value")


class cached(Generic[Value]):
    """Keep what a method gives in the instance, under its own name."""

    def __init__(self, function: Callable[[Any], Value]) -> None:
        self.function = function
        self.name = function.__name__
        self.__doc__ = function.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> cached[Value]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...
    def __get__(self, instance: object | None, owner: type) -> cached[Value] | Value:
        if instance is None:
            return self
        value = instance.__dict__[self.name] = self.function(instance)
        return value
