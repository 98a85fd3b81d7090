"""MetadataImage: the whole of the metadata log's state in memory."""

from __future__ import annotations

from kraftctl.image.acls_image import AclsImage
from kraftctl.image.client_quotas_image import ClientQuotasImage
from kraftctl.image.cluster_image import ClusterImage
from kraftctl.image.configurations_image import ConfigurationsImage
from kraftctl.image.delegation_tokens_image import DelegationTokensImage
from kraftctl.image.features_image import FeaturesImage
from kraftctl.image.producer_ids_image import ProducerIdsImage
from kraftctl.image.scram_image import ScramImage
from kraftctl.image.topics_image import TopicsImage
from kraftctl.image.undo_journal import UndoJournal


class MetadataImage:
    """Changed in place, by `kraftctl.image.replay` only.

    Reads see the newest state, committed or not; what a read saw is public once its offset is
    committed. `journal` undoes what is never committed.
    """

    def __init__(self) -> None:
        self.journal = UndoJournal()
        self.features = FeaturesImage(self.journal)
        self.cluster = ClusterImage(self.journal)
        self.topics = TopicsImage(self.journal)
        self.configurations = ConfigurationsImage(self.journal)
        self.client_quotas = ClientQuotasImage(self.journal)
        self.producer_ids = ProducerIdsImage(self.journal)
        self.acls = AclsImage(self.journal)
        self.scram = ScramImage(self.journal)
        self.delegation_tokens = DelegationTokensImage(self.journal)
