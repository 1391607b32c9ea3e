"""BiDAF++ and BiDAF++ with k previous turns, as the paper's own code has them (QuAC 5.3).

That code is AllenNLP's DialogQA, from which every choice is that the paper does not tell.
"""
