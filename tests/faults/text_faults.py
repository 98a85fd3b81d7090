"""Planted faults: texts that repeat what Kafka says, or what a client says by itself."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

FAULTS = (
    PlantedFault(
        "each-error-has-a-text",
        "protocol/kraftctl_protocol/api_error.py",
        "        self.message = message\n",
        "        self.message = error.message if message is None and error != Errors.NONE else message\n",
        ("tests/server/controllers/test_error_texts.py::test_texts_are_where_kafkas_are",),
        "Clients show a sentence of ours instead of their own for the code, which says as much.",
    ),
    PlantedFault(
        "a-sentence-of-kafkas",
        "kraftctl/metadata/config_definitions/validators.py",
        'f"it must be at least {self.minimum}"',
        'f"Value must be at least {self.minimum}"',
        ("tests/test_kafkas_sentences.py::test_no_text_repeats_kafkas",),
        "A text is copied from Kafka word for word.",
    ),
)
