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
    PlantedFault(
        "usages-show-what-a-command-needs-as-optional",
        "kraftctl_codegen/commands/command.py",
        "(parser.needs if isinstance(parser, Parser) else ())",
        "()",
        ("tests/cli/test_command_reference.py::test_a_usage_has_what_the_command_needs",),
        "A command that was typed as the page has it ends with an error.",
    ),
    PlantedFault(
        "a-usage-has-flags-without-their-values",
        "kraftctl_codegen/commands/command.py",
        "named = {name: each.usage for",
        "named = {name: name for",
        ("tests/cli/test_command_reference.py::test_a_usage_has_what_the_command_needs",),
        "It does not say whether an address or a file follows.",
    ),
    PlantedFault(
        "a-page-of-man-is-of-no-version",
        "kraftctl_codegen/commands/man_page.py",
        '"kraftctl {RELEASE}"',
        '"kraftctl"',
        (
            "tests/cli/test_command_reference.py::test_a_page_of_man_has_the_version",
            "tests/cli/test_command_reference.py::test_the_pages_are_those_of_the_parsers",
        ),
        "It does not say whether it is that of the command that is installed.",
    ),
    PlantedFault(
        "a-page-of-man-takes-a-dot-for-a-request",
        "kraftctl_codegen/commands/man_page.py",
        """if escaped.startswith((".", "'")) else escaped""",
        """if escaped.startswith("'") else escaped""",
        ("tests/cli/test_command_reference.py::test_what_roff_would_take_for_itself_is_escaped",),
        "A sentence of the page is missing, or a file is read in its place.",
    ),
    PlantedFault(
        "broken-links-of-the-site-are-hidden",
        "kraftctl_codegen/site_hooks.py",
        "files.get_file_from_path(target) is None and (REPOSITORY / target).exists()",
        "files.get_file_from_path(target) is None",
        ("tests/documents/test_site.py::test_a_link_to_a_source_is_its_text",),
        "A page that was renamed leaves texts that lead nowhere, and the build passes.",
    ),
    PlantedFault(
        "the-site-has-no-examples",
        "kraftctl_codegen/site_hooks.py",
        "(*OUTSIDE, *COPIED)",
        "OUTSIDE",
        ("tests/documents/test_site.py::test_each_link_to_a_file_that_operators_copy_leads_to_it",),
        "The page of examples is a table of names that lead nowhere.",
    ),
    PlantedFault(
        "a-fence-in-a-list-stays-a-text",
        "kraftctl_codegen/site_hooks.py",
        'textwrap.indent(fence[1], "    ")',
        "fence[1]",
        ("tests/documents/test_site.py::test_each_fence_is_a_block_and_each_step_an_item",),
        "The command of a step of a recovery runs on in its sentence.",
    ),
    PlantedFault(
        "the-site-shows-how-a-bar-is-written",
        "kraftctl_codegen/site_hooks.py",
        """code[0].replace("\\\\|", "|")""",
        "code[0]",
        ("tests/documents/test_site.py::test_no_cell_of_a_table_shows_a_backslash_before_a_bar",),
        "The values of a flag have backslashes between them.",
    ),
    PlantedFault(
        "a-name-that-latin-1-has-not-ends-a-command",
        "kraftctl/cli/__init__.py",
        '        sys.stdout.reconfigure(errors="backslashreplace")\n',
        "        pass\n",
        ("tests/cli/test_narrow_encodings.py",),
        "A user with a name of another script keeps an operator from any look at the log.",
    ),
)
