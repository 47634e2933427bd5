"""Decodes with a model of transformers that has random weights: a program to capture.

    mnkbench capture -- python decode.py llama --batch 16
    mnkbench capture -- python decode.py moe --batch 16
    mnkbench capture -- python decode.py llama --batch 16 --graph
    mnkbench capture --range again -- python decode.py llama --batch 16 --time 3

With --profile FILE it runs under torch.profiler instead, and writes what that saw, for compare.py.
"""

import argparse
import contextlib
import functools
import json
import statistics
import time

import torch
from transformers import LlamaConfig, LlamaForCausalLM, Qwen3MoeConfig, Qwen3MoeForCausalLM

PROMPT = 64
COMMON = {"vocab_size": 32000, "num_attention_heads": 16, "num_key_value_heads": 4}
SIZES = {
    "large": {"hidden_size": 2048, "num_hidden_layers": 8},
    "small": {"hidden_size": 256, "num_hidden_layers": 2},
}


def model_of(kind, size, device):
    if kind == "llama":
        config = LlamaConfig(**COMMON, **SIZES[size], intermediate_size=4 * SIZES[size]["hidden_size"])
        model = LlamaForCausalLM
    else:
        config = Qwen3MoeConfig(
            **COMMON, **SIZES[size], intermediate_size=2048, moe_intermediate_size=768,
            num_experts=32, num_experts_per_tok=4, head_dim=64,
        )  # fmt: skip
        model = Qwen3MoeForCausalLM
    torch.manual_seed(0)
    torch.set_default_dtype(torch.bfloat16)
    with torch.device(device):
        return model(config).eval()


def run(model, batch, tokens, device):
    torch.manual_seed(1)
    prompt = torch.randint(0, 32000, (batch, PROMPT), device=device)
    return model.generate(
        prompt, attention_mask=torch.ones_like(prompt), do_sample=False, pad_token_id=0,
        eos_token_id=None, min_new_tokens=tokens, max_new_tokens=tokens,
    )  # fmt: skip


def graph_of(model, batch, device):
    """Captures one step of `batch` tokens in a CUDA graph. Returns what replays it, and its logits.

    It has a memory pool and, as it is captured on a stream of its own, a workspace of cuBLAS of its own.
    """
    ids = torch.zeros(batch, 1, dtype=torch.long, device=device)
    stream = torch.cuda.Stream()
    with torch.no_grad(), torch.cuda.stream(stream):
        for _ in range(3):
            model(ids, use_cache=False)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.no_grad(), torch.cuda.graph(graph, stream=stream):
        logits = model(ids, use_cache=False).logits
    # A graph has addresses of what it reads, and keeps nothing: without these, other tensors get the memory.
    return functools.partial(replay, graph, (model, ids, logits)), logits


def replay(graph, _read_by_it):
    graph.replay()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model", choices=["llama", "moe"])
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--tokens", type=int, default=32)
    parser.add_argument("--size", choices=list(SIZES), default="large")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--graph", action="store_true")
    parser.add_argument("--time", type=int, default=0, help="do it so many times more, and time each")
    parser.add_argument("--profile")
    options = parser.parse_args()
    model = model_of(options.model, options.size, options.device)

    def work():
        if options.graph:
            step, _ = graph_of(model, options.batch, options.device)
            for _ in range(options.tokens):
                step()
        else:
            run(model, options.batch, options.tokens, options.device)
        if options.device == "cuda":
            torch.cuda.synchronize()

    if options.profile is None:
        work()
        print("decoded", options.tokens, "tokens")
        times = []
        for _ in range(options.time):
            start = time.perf_counter()
            with torch.cuda.nvtx.range("again") if options.device == "cuda" else contextlib.nullcontext():
                work()
            times.append(time.perf_counter() - start)
        if times:
            print(f"again: median {statistics.median(times):.4f} s, least {min(times):.4f} s of {len(times)}")
        return
    with profiled(options.profile):
        work()


@contextlib.contextmanager
def profiled(path):
    """Writes the kernels and the products that torch.profiler sees."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
        yield
    kernels, calls = {}, {}
    for event in profiler.events():
        if "CUDA" in str(event.device_type):
            count, us = kernels.get(event.name, (0, 0.0))
            kernels[event.name] = (count + 1, us + event.time_range.elapsed_us())
        elif event.name.startswith("aten::"):
            calls[event.name] = calls.get(event.name, 0) + 1
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"kernels": kernels, "calls": calls}, file)


if __name__ == "__main__":
    main()
