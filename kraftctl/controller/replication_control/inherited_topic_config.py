"""KIP-525: a config that new topics inherit, in the answers about all of them."""

from __future__ import annotations

from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.generated.create_topics_response import CreatableTopicConfigs
from kraftctl_protocol.primitives import Writer


@mypyc_attr(acyclic=True)
class InheritedTopicConfig(CreatableTopicConfigs):
    """Encoded when it is made, in `version` of the response: an answer has some 30 of them for each topic."""

    def __init__(
        self, name: str, value: str | None, config_source: int, is_sensitive: bool, version: int
    ) -> None:
        super().__init__(name, value, False, config_source, is_sensitive)
        writer = Writer()
        super().write(writer, version)
        self._encoded = writer.getvalue()

    def write(self, writer: Writer, version: i64) -> None:
        writer.write(self._encoded)
