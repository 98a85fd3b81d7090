"""An API server of Kubernetes that has some objects, as far as Helm's `lookup` asks one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

RESOURCES = {
    "v1": {
        "ConfigMap": "configmaps",
        "Service": "services",
        "PersistentVolumeClaim": "persistentvolumeclaims",
    },
    "apps/v1": {"StatefulSet": "statefulsets"},
    "networking.k8s.io/v1": {"NetworkPolicy": "networkpolicies"},
    "policy/v1": {"PodDisruptionBudget": "poddisruptionbudgets"},
    "cert-manager.io/v1": {"Certificate": "certificates"},
    "monitoring.coreos.com/v1": {"ServiceMonitor": "servicemonitors", "PrometheusRule": "prometheusrules"},
}
"""The names of kinds in paths, by the version of their API."""


def responses(objects: Sequence[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The responses by their paths: what there is, and the objects of each kind."""
    groups: list[dict[str, Any]] = []
    found: dict[str, dict[str, Any]] = {
        "/version": {"major": "1", "minor": "35", "gitVersion": "v1.35.0"},
        "/api": {"kind": "APIVersions", "versions": ["v1"]},
        "/apis": {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups},
    }
    for api, names in RESOURCES.items():
        group, _, number = api.rpartition("/")
        if group:
            version = {"groupVersion": api, "version": number}
            groups.append({"name": group, "versions": [version], "preferredVersion": version})
        root = f"/apis/{api}" if group else f"/api/{api}"
        resources = [
            {"name": name, "kind": kind, "namespaced": True, "verbs": ["get", "list"]}
            for kind, name in names.items()
        ]
        found[root] = {"kind": "APIResourceList", "groupVersion": api, "resources": resources}
        for kind, name in names.items():
            items = [each for each in objects if each["kind"] == kind]
            found[f"{root}/namespaces/kafka/{name}"] = {
                "kind": f"{kind}List",
                "apiVersion": api,
                "items": items,
            }
    return found


@contextmanager
def api_server(*objects: dict[str, Any]) -> Iterator[str]:
    """Yields its address; the objects are in the namespace `kafka`."""
    by_path = responses(objects)

    class _Requests(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            response = by_path.get(self.path.partition("?")[0])
            body = json.dumps(response or {}).encode()
            self.send_response(404 if response is None else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Prints nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), _Requests) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
