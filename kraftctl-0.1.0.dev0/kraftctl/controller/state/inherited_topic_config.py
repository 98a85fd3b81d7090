"""The configs that new topics inherit, in the responses about all of them (KIP-525)."""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64, mypyc_attr

from kraftctl.config.controller_config import ControllerConfig
from kraftctl.controller.state.effective_configs import describe_topic_configs
from kraftctl.image.metadata_image import MetadataImage
from kraftctl_protocol.generated.create_topics_response import CreatableTopicConfigs
from kraftctl_protocol.primitives import Writer

NEVER: Final = -1


@mypyc_attr(acyclic=True)
class InheritedTopicConfig(CreatableTopicConfigs):
    """A config that is encoded in advance for `version` of the response, which has some 30 of them for each
    topic.
    """

    def __init__(
        self, name: str, value: str | None, config_source: int, is_sensitive: bool, version: int
    ) -> None:
        super().__init__(name, value, False, config_source, is_sensitive)
        writer = Writer()
        super().write(writer, version)
        self._encoded = writer.getvalue()

    def write(self, writer: Writer, version: i64) -> None:
        writer.write(self._encoded)


class InheritedTopicConfigs:
    """The configs that a topic without its own inherits in one image.

    They are made again once a broker config has changed, or for another version of the response: to make
    them for each request takes 21 us.
    """

    def __init__(self, image: MetadataImage, config: ControllerConfig) -> None:
        self._image = image
        self._config = config
        self._broker_changes = NEVER
        self._version = NEVER
        self._by_name: dict[str, CreatableTopicConfigs] = {}
        self._in_order: list[CreatableTopicConfigs] = []

    def by_name(self, version: int) -> dict[str, CreatableTopicConfigs]:
        """Returns them sorted by name, for responses in `version`. Do not change them."""
        changes = self._image.configurations.broker_changes
        if self._broker_changes != changes or self._version != version:
            self._by_name = {
                config.name: InheritedTopicConfig(
                    config.name, config.value, config.config_source, config.is_sensitive, version
                )
                for config in described_topic_configs(self._image, self._config, {}, None)
            }
            self._in_order = list(self._by_name.values())
            self._broker_changes = changes
            self._version = version
        return self._by_name

    def in_order(self, version: int) -> list[CreatableTopicConfigs]:
        """Returns the same as a list."""
        self.by_name(version)
        return self._in_order


def described_topic_configs(
    image: MetadataImage, config: ControllerConfig, own: dict[str, str], wanted: set[str] | None
) -> list[CreatableTopicConfigs]:
    """Returns a new topic's configs for a response; its own are `own`; `wanted`: only these keys."""
    return [
        CreatableTopicConfigs(
            name=entry.definition.name,
            value=entry.text,
            config_source=entry.source,
            is_sensitive=entry.definition.sensitive,
        )
        for entry in describe_topic_configs(image, config, own, as_stored=True, wanted=wanted)
    ]
