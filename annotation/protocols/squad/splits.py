"""The fold of each article, fixed when its paragraphs are chosen: no article is in two splits."""

from annotation.protocols.folds import plan_by_group

RULE = (
    "The split of an article was fixed when its paragraphs were chosen: no article is in two, and "
    "articles of which paragraphs are nearly the same are in one."
)
plan = plan_by_group
