"""What all model brokers of a cluster share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tests.support.simulator.brokers.broker_data import BrokerData
from tests.support.simulator.brokers.broker_image import DecodedBatches
from tests.support.simulator.brokers.client_mix import ClientMix
from tests.support.simulator.brokers.clients import BrokerWatch, Network, Time

if TYPE_CHECKING:
    from tests.support.simulator.brokers.broker_replicas import ReplicaManager


class BrokerWorld:
    """`bootstrap` are the node ids of controller.quorum.bootstrap.servers; the list may change.
    `static_voter_ids` are those of controller.quorum.voters, none if the quorum is dynamic.

    `counts` has how often each behaviour was seen. `tails_are_lost`: a broker that is killed loses the end of
    its logs, where the controller knows about that (KIP-966).
    """

    def __init__(
        self,
        *,
        cluster_id: str,
        bootstrap: list[int],
        network: Network,
        time: Time,
        watch: BrokerWatch,
        mix: ClientMix,
        static_voter_ids: Sequence[int] = (),
        tails_are_lost: bool = True,
    ) -> None:
        self.cluster_id = cluster_id
        self.bootstrap = bootstrap
        self.network = network
        self.time = time
        self.watch = watch
        self.mix = mix
        self.static_voter_ids = list(static_voter_ids)
        self.tails_are_lost = tails_are_lost
        self.counts: Counter[str] = Counter()
        self.damage_is_possible: Callable[[], bool] = lambda: False
        """Whether a controller may hold bytes that have rotted: it sends snapshots as they are."""
        self.data = BrokerData(watch)
        self.decoded = DecodedBatches()
        self.replica_managers: dict[int, ReplicaManager] = {}
        """Broker id -> those of the running processes."""
