"""Replaces calls of model-local functions by their bodies, in time that is linear in the nodes made.

onnx_ir has a pass for that; it looks for a free name anew at each clash, which is quadratic in the number of calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import onnx_ir as ir

Key = tuple[str, str, str]


class Names:
    """Gives out names that nothing else has: the name itself, or with the next number."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)
        self._next: dict[str, int] = {}

    def free(self, name: str) -> str:
        """A name like this one."""
        found = name
        while found in self._taken:
            self._next[name] = number = self._next.get(name, 1) + 1
            found = f"{name}_{number}"
        self._taken.add(found)
        return found


def inline(model: ir.Model) -> None:
    """Replace every call in the graph and its bodies; functions must not call each other in a circle.

    Raises:
        ValueError: a call does not fit its function.
    """
    for function in model.functions.values():
        function.sort()
        _add_opsets(model, function)
    nodes = list(model.graph.all_nodes())
    values = Names(_names_of(model.graph, nodes))
    names = Names(node.name for node in nodes if node.name)
    todo = [node for node in nodes if node.op_identifier() in model.functions]
    while todo:
        call = todo.pop()
        made = _expand(call, model.functions[call.op_identifier()], names, values)
        todo += [node for node in made if node.op_identifier() in model.functions]
    model.functions.clear()


def inner_graphs(node: ir.Node) -> Iterator[ir.Graph]:
    """Bodies that a node holds itself."""
    for attr in node.attributes.values():
        if attr.is_ref():
            continue
        if attr.type == ir.AttributeType.GRAPH:
            yield attr.as_graph()
        elif attr.type == ir.AttributeType.GRAPHS:
            yield from attr.as_graphs()


def _names_of(graph: ir.Graph, nodes: Iterable[ir.Node]) -> Iterator[str]:
    graphs = [graph, *(inner for node in nodes for inner in inner_graphs(node))]
    for each in graphs:
        yield from (value.name for value in each.inputs if value.name)
        yield from each.initializers
    yield from (value.name for node in nodes for value in node.outputs if value.name)


def _add_opsets(model: ir.Model, function: ir.Function) -> None:
    for domain, version in function.opset_imports.items():
        if model.opset_imports.setdefault(domain, version) != version:
            raise ValueError(
                f"{function.name} uses opset {version} of {domain or 'ai.onnx'}, and the model "
                f"{model.opset_imports[domain]}"
            )


def _expand(call: ir.Node, function: ir.Function, names: Names, values: Names) -> list[ir.Node]:
    """Put the body of a function in the place of a call; all nodes that this makes, those of its bodies too."""
    if len(call.inputs) > len(function.inputs) or len(call.outputs) > len(function.outputs):
        raise ValueError(f"a call of {function.name} has more inputs or outputs than it")
    graph = call.graph
    assert graph is not None
    body = function.clone()
    made = list(body.all_nodes())
    _resolve(made, _arguments(call, function))
    for node in made:
        _rename(node, call, names, values)
    nodes = list(body)
    results: list[ir.Value | None] = list(body.outputs)
    for position, formal in enumerate(body.inputs):
        actual = call.inputs[position] if position < len(call.inputs) else None
        for user, index in tuple(formal.uses()):
            user.replace_input_with(index, actual)
        results = [actual if result is formal else result for result in results]
    body.outputs.clear()
    body.remove(nodes)
    graph.insert_before(call, nodes)
    _hand_over(call, results, set(made))
    graph.remove(call)
    return made


def _arguments(call: ir.Node, function: ir.Function) -> dict[str, ir.Attr]:
    defaults = {attr.name: attr for attr in function.attributes.values() if attr.value is not None}
    return defaults | dict(call.attributes)


def _resolve(nodes: Iterable[ir.Node], arguments: Mapping[str, ir.Attr]) -> None:
    """Put a call's attributes where its function refers to them; what the call lacks is left out."""
    for node in nodes:
        for name, attr in list(node.attributes.items()):
            if attr.is_ref():
                given = arguments.get(attr.ref_attr_name or "")
                if given is None or given.is_ref():
                    node.attributes.pop(name)
                elif given.type in (ir.AttributeType.GRAPH, ir.AttributeType.GRAPHS):
                    raise ValueError(f"the attribute {given.name} is a graph, which cannot be handed to a function")
                else:
                    node.attributes[name] = ir.Attr(name, given.type, given.value)


def _hand_over(call: ir.Node, results: list[ir.Value | None], made: set[ir.Node]) -> None:
    """Let what reads the call read the results of its body, under the call's names."""
    named: set[ir.Value] = set()
    for old, new in zip(call.outputs, results, strict=False):
        if new is None:
            for user, index in tuple(old.uses()):
                user.replace_input_with(index, None)
            continue
        if new.producer() in made and new not in named:  # not one that went in and comes out
            named.add(new)
            name, old.name = old.name, None
            new.name = name or new.name
            new.type, new.shape = old.type or new.type, old.shape if old.shape is not None else new.shape
        old.replace_all_uses_with(new, replace_graph_outputs=True)


def _rename(node: ir.Node, call: ir.Node, names: Names, values: Names) -> None:
    """Give a copied node names of its own, and what is told of its call."""
    node.name = names.free(node.name or "node")
    for value in node.outputs:
        if value.name:
            value.name = values.free(value.name)
    inner = dict(node.metadata_props)
    node.metadata_props.clear()
    node.metadata_props.update({**call.metadata_props, **inner})
