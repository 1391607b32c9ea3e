"""The model of the HotpotQA paper and its ablations, and a pretrained encoder beside it."""
