"""MetadataImage: the whole of the metadata log's state in memory."""

from __future__ import annotations

from kraftctl.image.acls_image import AclsImage
from kraftctl.image.client_quotas_image import ClientQuotasImage
from kraftctl.image.cluster_image import ClusterImage
from kraftctl.image.configurations_image import ConfigurationsImage
from kraftctl.image.delegation_tokens_image import DelegationTokensImage
from kraftctl.image.features_image import FeaturesImage
from kraftctl.image.image_part import ImagePart
from kraftctl.image.producer_ids_image import ProducerIdsImage
from kraftctl.image.scram_image import ScramImage
from kraftctl.image.topics_image import TopicsImage
from kraftctl.image.undo_journal import UndoJournal
from kraftctl_protocol.record_types import RECORD_TYPES


class MetadataImage:
    """The image, changed in place, by `kraftctl.image.replay` only.

    `parts` has all parts in the order in which snapshots have them, by the names that the rows of
    `kraftctl_protocol.record_types` give them: what replays a record writes its snapshot, too.

    Reads see the newest state, committed or not; what a read saw is public once its offset is committed.
    `journal` undoes what is never committed.
    """

    def __init__(self) -> None:
        self.journal = UndoJournal()
        self.features = FeaturesImage(self.journal)
        self.cluster = ClusterImage(self.journal)
        self.topics = TopicsImage(self.journal)
        self.configurations = ConfigurationsImage(self.journal, self.topics)
        self.client_quotas = ClientQuotasImage(self.journal)
        self.producer_ids = ProducerIdsImage(self.journal)
        self.acls = AclsImage(self.journal)
        self.scram = ScramImage(self.journal)
        self.delegation_tokens = DelegationTokensImage(self.journal)
        self.parts: dict[str, ImagePart] = {
            "features": self.features,
            "cluster": self.cluster,
            "topics": self.topics,
            "configurations": self.configurations,
            "client_quotas": self.client_quotas,
            "producer_ids": self.producer_ids,
            "acls": self.acls,
            "scram": self.scram,
            "delegation_tokens": self.delegation_tokens,
        }
        self.parts_by_record_type: dict[int, ImagePart] = {
            row.message.API_KEY: self.parts[row.part] for row in RECORD_TYPES if row.part
        }
