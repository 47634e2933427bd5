import os
import signal
import threading
import time

import torch


def returns_nothing(A, B):
    A @ B


def call_returns_nothing(A, B):
    return lambda: torch.mm(A, B) and None


def takes_what_is_not_there(A, B, scale):
    return lambda: A @ B


def of_another_type(A, B):
    def call():
        out = A @ B
        out.dtype = torch.float16
        return out

    return call


def raises(A, B):
    raise ValueError("K is odd")


def refuses(A, B):
    raise NotImplementedError("needs M above 64")


def tells(**everything):
    tensors = {name: value for name, value in everything.items() if isinstance(value, torch.Tensor)}
    raise NotImplementedError(" ".join(f"{k}={v.dtype}{list(v.shape)}{list(v.strides)}" for k, v in tensors.items()))


def synchronises(A, B):
    def call():
        out = A @ B
        torch.cuda.synchronize()
        return out

    return call


def computed_before(A, B):
    out = A @ B
    return lambda: out


def changes_an_input(A, B, C):
    def call():
        torch.mm(A, B, out=C)
        torch.launch(lambda: A.fill_(0))

    return call


def writes_padding(A, B, C):
    def call():
        torch.mm(A, B, out=C)
        torch.launch(lambda: C.memory.__setitem__(8, 0))

    return call


def crashes(A, B):
    os.abort()


def exits(A, B):
    raise SystemExit("no more")


def exits_in_its_call(A, B):
    return lambda: exits(A, B)


async def warns(A, B):
    return lambda: A @ B


def kills_itself(A, B):
    os.kill(os.getpid(), signal.SIGKILL)


def closes_its_outputs(A, B):
    # Its thread outlives it.
    threading.Thread(target=lambda: time.sleep(1000)).start()
    os.closerange(0, 100)
    return lambda: A @ B


def hangs(A, B):
    with open(os.environ["MNKBENCH_TEST_PID"], "w", encoding="utf-8") as file:
        file.write(str(os.getpid()))
    while True:
        time.sleep(1)
