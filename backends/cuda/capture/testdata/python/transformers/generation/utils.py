"""As much of `generate()` as the recorder's module needs."""

import torch

W = torch.Tensor((64, 128), torch.bfloat16)


class GenerationMixin:
    def generate(self, tokens):
        self._prefill()
        self._update_model_kwargs_for_generation()
        for _ in range(tokens - 1):
            torch.mm(torch.Tensor((2, 64), torch.bfloat16), W)
            self._update_model_kwargs_for_generation()

    def _prefill(self):
        torch.mm(torch.Tensor((20, 64), torch.bfloat16), W)

    def _update_model_kwargs_for_generation(self):
        pass
