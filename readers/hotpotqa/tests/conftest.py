"""Tests of networks use one core: waiting for a second one that is busy takes many times longer."""

import torch

torch.set_num_threads(1)
