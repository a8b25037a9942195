import socket

import pytest
from pytest_socket import SocketConnectBlockedError


def test_no_test_reaches_another_machine() -> None:
    with pytest.raises((SocketConnectBlockedError, UserWarning), match=r"192\.0\.2\.1"):
        socket.create_connection(("192.0.2.1", 9), timeout=1)
