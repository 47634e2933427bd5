"""Tests the PyTorch operator of an export on the device, and prints the host's time of a call beside that
of torch.mm:

    python test_matmul.py
"""

import faulthandler
import statistics
import sys
import time

import mnk_matmul
import torch

BURST, BURSTS = 100, 41
failures = 0


def expect(holds, what):
    global failures
    if not holds:
        failures += 1
        print(f"FAIL {what}")


def numbers(rows, columns, dtype):
    # Sums of such are exact in fp32, and so is the reference.
    return torch.randint(-2, 3, (rows, columns), device="cuda").to(dtype)


def operands_of(shape, m):
    n, k, dtype = shape["n"], shape["k"], shape["type"]
    a = numbers(m, shape["lda"], dtype)[:, :k]
    if shape["layout"] == "nt":
        b = numbers(n, shape["ldb"], dtype)[:, :k].t()
    else:
        b = numbers(k, shape["ldb"], dtype)[:, :n]
    bias = numbers(1, n, dtype)[0] if "bias" in shape["epilogue"] else None
    return a, b, bias, "relu" in shape["epilogue"]


def reference(a, b, bias, relu):
    right = a.double() @ b.double()
    right = right if bias is None else right + bias.double()
    return (right.relu() if relu else right).to(a.dtype)


def same(out, operands):
    # An epilogue that is a kernel of its own rounds twice.
    return torch.allclose(out.double(), reference(*operands).double(), rtol=8e-3, atol=0.25)


def refused(words, *arguments):
    print("refusing:", words, flush=True)
    try:
        mnk_matmul.matmul(*arguments)
    except (RuntimeError, NotImplementedError) as error:
        return expect(words in str(error), f"{words}: {error}")
    expect(False, f"not refused: {words}")


def test_refused(operands):
    """Operands that a call refuses; before each, what it is, in case that the process ends there."""
    a, b, bias, relu = operands
    odd = torch.empty(a.numel() + 1, dtype=a.dtype, device="cuda")[1:].view(a.shape)
    refused("multiple of 16 bytes", odd, b, bias, relu)
    refused("no exported kernel", numbers(3, 17, a.dtype), numbers(17, 5, a.dtype), None, False)
    refused("different types", a, b.double(), bias, relu)
    refused("different types or devices", a, b.cpu(), bias, relu)
    refused("'CPU' backend", a.cpu(), b.cpu(), None, relu)
    refused("type and device of A", a, b, b[0].cpu(), relu)
    refused("is no product", a, b.t() if a.shape[1] != b.shape[1] else b[:-1], bias, relu)
    with torch.enable_grad():
        refused("no gradient", a.clone().requires_grad_(), b, bias, relu)


def host_us(call):
    """The median of the host's time of a call, in bursts that the device has done before the next."""
    times = []
    for _ in range(BURSTS):
        start = time.perf_counter_ns()
        for _ in range(BURST):
            call()
        times.append((time.perf_counter_ns() - start) / BURST / 1e3)
        torch.cuda.synchronize()
    return statistics.median(times)


def test_graph(operands):
    """Two graphs of two calls each, at the same time on two streams, on new operands."""
    graphs, outs, inputs = [], [], []
    for _ in range(2):
        own = [operand.clone() if torch.is_tensor(operand) else operand for operand in operands]
        # clone() keeps the strides of a transposed matrix only where it is dense.
        own[1] = torch.empty_strided(operands[1].shape, operands[1].stride(), dtype=own[0].dtype, device="cuda")
        own[0] = torch.empty_strided(operands[0].shape, operands[0].stride(), dtype=own[0].dtype, device="cuda")
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            outs.append([mnk_matmul.matmul(*own) for _ in range(2)])
        graphs.append(graph)
        inputs.append(own)
    streams = [torch.cuda.Stream() for _ in graphs]
    for _ in range(3):
        for own in inputs:
            for operand in own:
                if torch.is_tensor(operand):
                    operand.copy_(torch.randint(-2, 3, operand.shape, device="cuda"))
        torch.cuda.synchronize()
        for _ in range(20):
            for graph, stream in zip(graphs, streams):
                with torch.cuda.stream(stream):
                    graph.replay()
        torch.cuda.synchronize()
        for own, results in zip(inputs, outs):
            expect(all(same(out, own) for out in results), "replayed graphs are right")


def test_streams(operands):
    """Calls on two streams at the same time."""
    streams = [torch.cuda.Stream() for _ in range(2)]
    torch.cuda.synchronize()
    outs = []
    for _ in range(50):
        for stream in streams:
            with torch.cuda.stream(stream):
                outs.append(mnk_matmul.matmul(*operands))
    torch.cuda.synchronize()
    expect(all(torch.equal(out, outs[0]) for out in outs), "calls on two streams agree")
    expect(same(outs[0], operands), "calls on two streams are right")


def test_devices(operands):
    """Calls on another device than the current one, and with operands of two."""
    for index in range(1, torch.cuda.device_count()):
        there = [operand.to(f"cuda:{index}") if torch.is_tensor(operand) else operand for operand in operands]
        # to() keeps the strides of a transposed matrix only where it is dense.
        for at in (0, 1):
            there[at] = torch.empty_strided(
                operands[at].shape, operands[at].stride(), dtype=operands[at].dtype, device=f"cuda:{index}"
            ).copy_(operands[at])
        expect(same(mnk_matmul.matmul(*there), there), f"a call on cuda:{index}")
        refused("different types or devices", operands[0], there[1], *operands[2:])


def main():
    # A process that ends by a signal says in which call.
    faulthandler.enable()
    torch.manual_seed(1)
    shapes = mnk_matmul.shapes()
    with torch.no_grad():
        for number, shape in enumerate(shapes):
            for m in sorted({shape["m_from"], shape["m_to"]}):
                operands = operands_of(shape, m)
                before = failures
                # Before streams, graphs and compilers, and again after all of them.
                if number == 0 and m == shape["m_from"]:
                    test_refused(operands)
                expect(same(mnk_matmul.matmul(*operands), operands), f"a call: {shape}")
                expect(same(mnk_matmul.operator(*operands), operands), f"torch.ops: {shape}")
                test_streams(operands)
                test_graph(operands)
                if number % 8 == 0:
                    # PyTorch gives up a function after a few compilations.
                    torch.compiler.reset()
                    compiled = torch.compile(mnk_matmul.matmul, fullgraph=True, dynamic=False)
                    expect(same(compiled(*operands), operands), f"torch.compile: {shape}")
                print("FAIL" if failures > before else "ok  ", f"m={m}", shape)
        torch.library.opcheck(mnk_matmul.operator, operands, test_utils=("test_schema", "test_faketensor"))
        test_refused(operands)
        test_devices(operands)
    print("host us a call: m n k, ours, in torch.ops, torch.mm, ours / torch.mm")
    with torch.no_grad():
        for shape in shapes[:8]:
            a, b, bias, relu = operands_of(shape, shape["m_from"])
            ours = host_us(lambda: mnk_matmul.matmul(a, b, bias, relu))
            ops = host_us(lambda: mnk_matmul.operator(a, b, bias, relu))
            mm = host_us(lambda: torch.mm(a, b))
            print(f"  {shape['m_from']} {shape['n']} {shape['k']}: {ours:.2f} {ops:.2f} {mm:.2f} {ours / mm:.2f}")
    print(f"{failures} failures")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
