"""A network of a test's own, which is there or gone: a network name space with nothing but `lo`."""

import ctypes
import fcntl
import os
import socket
import struct
import threading

CLONE_NEWNET = 0x40000000
SIOCGIFFLAGS, SIOCSIFFLAGS, SIOCSIFADDR, IFF_UP = 0x8913, 0x8914, 0x8916, 1
LIBC = ctypes.CDLL(None, use_errno=True)


def check(outcome):
    if outcome != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


class Network:
    """Made by the fixture `network`. Nobody is in it but who enters; sockets stay where they were made."""

    def __init__(self):
        self.descriptor = self.within(self.make)
        self.set_up(True)

    def make(self):
        check(LIBC.unshare(CLONE_NEWNET))
        return os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)

    def within(self, function):
        """What FUNCTION returns, called by a thread that goes with its name space."""
        outcome = []

        def run():
            try:
                outcome.append((function(), None))
            except OSError as why:
                outcome.append((None, why))

        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        value, why = outcome[0]
        if why:
            raise why
        return value

    def enter(self):
        """The calling thread, or the process about to be, is in the network from now on."""
        check(LIBC.setns(self.descriptor, CLONE_NEWNET))

    def inside(self, function):
        def entered():
            self.enter()
            return function()

        return self.within(entered)

    def set_up(self, is_up):
        self.inside(lambda: self.set_flag(is_up))

    def set_flag(self, is_up):
        answer = self.control(SIOCGIFFLAGS, struct.pack("16sH14x", b"lo", 0))
        flags = struct.unpack("16sH14x", answer)[1]
        flags = flags | IFF_UP if is_up else flags & ~IFF_UP
        self.control(SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", flags))

    def add_address(self, address):
        """ADDRESS, which is none of the loopback, is of this network, too."""
        request = struct.pack("16sHH4s8x", b"lo:1", socket.AF_INET, 0, socket.inet_aton(address))
        self.inside(lambda: self.control(SIOCSIFADDR, request))

    def control(self, number, request):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
            return fcntl.ioctl(control, number, request)

    def close(self):
        os.close(self.descriptor)
