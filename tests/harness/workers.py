"""What goes on in a thread of its own while a test does something else."""

import threading


class Worker:
    """Runs `run` of its class while it is open by `with`; `run` returns when `stopping` is set."""

    def __init__(self):
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        self.thread.join()
