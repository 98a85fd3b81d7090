"""The JAAS file that KAFKA_OPTS names, as for Kafka's scripts: -Djava.security.auth.login.config=FILE."""

from __future__ import annotations

import os
from collections.abc import Mapping

from kraftctl_protocol.file_errors import file_error
from kraftctl_security.config_values import ConfigException
from kraftctl_security.jvm_options import KAFKA_OPTS
from kraftctl_security.sasl.jaas import JaasError
from kraftctl_security.sasl.login_configuration import (
    LoginConfiguration,
    login_configuration_file,
    parse_login_configuration,
)
from kraftctl_security.small_files import read_once


def read_jaas_file(environment: Mapping[str, str] = os.environ) -> LoginConfiguration | None:
    """Returns the file's sections; None without a file. Raises ConfigException if it cannot be read or
    parsed.
    """
    file = login_configuration_file(environment.get(KAFKA_OPTS, ""))
    if file is None:
        return None
    try:
        return parse_login_configuration(file, read_once(file).decode())
    except JaasError as error:
        raise ConfigException([str(error)]) from None
    except UnicodeDecodeError:
        raise ConfigException([f"the JAAS file {file} is not UTF-8. Next step: check {KAFKA_OPTS}"]) from None
    except OSError as error:
        text = file_error("read", f"the JAAS file {file}", error, named_by=KAFKA_OPTS)
        raise ConfigException([text]) from None
