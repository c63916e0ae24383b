"""Modules: which part of the network a node belongs to."""

from __future__ import annotations

import onnx_ir as ir


def scope_of(node: ir.Node) -> str:
    """Module that a node belongs to: torch's name scopes, else its name up to the last separator."""
    scopes = node.metadata_props.get("pkg.torch.onnx.name_scopes")
    if isinstance(scopes, str) and scopes:  # onnx_ir hands on as bytes what is no UTF-8
        parts = [part.strip(" '\"") for part in scopes.strip("[]").split(",")]
        inner = [part for part in parts if part]
        return inner[-2].replace(".", "/") if len(inner) > 1 else ""
    name = (node.name or "").strip("/")
    separator = "/" if "/" in name else "."
    return name.rpartition(separator)[0].replace(".", "/")
