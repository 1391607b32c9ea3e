"""The paper's model and its ablations, each trained by itself, and the model as a judge (5)."""

from collections.abc import Mapping

from readers.trained import Trained

TRAIN = "hotpot_train_v1.1.json"
DISTRACTOR, FULL_WIKI = "hotpot_dev_distractor_v1.json", "hotpot_dev_fullwiki_v1.json"
MAIN, ABLATIONS = "HotpotQA, Tables 4 and 6", "HotpotQA, Table 7"
BY_TYPE = {"by": "type"}

# MODULE:CLASS of what judges difficulty, by name.
READERS: Mapping[str, str] = {"neural": "readers.hotpotqa.difficulty_reader:NeuralReader"}


def _main(about: str, dev_file: str, paper: Mapping[str, float], *, learns_as: str = "") -> Trained:
    return Trained(
        about,
        "readers.hotpotqa.baseline",
        recipe="baseline",
        learns_as=learns_as,
        train_files=(TRAIN,),
        dev_file=dev_file,
        source=MAIN,
        paper=paper,
        scoring=BY_TYPE,
    )


def _ablation(about: str, em: float, f1: float, **settings: object) -> Trained:
    return Trained(
        about,
        "readers.hotpotqa.baseline",
        settings=settings,
        recipe="baseline",
        train_files=(TRAIN,),
        dev_file=DISTRACTOR,
        source=ABLATIONS,
        paper={"em": em, "f1": f1},
    )


TRAINED: Mapping[str, Trained] = {
    "baseline": _main(
        "the model of 5.1, with supporting facts learned jointly",
        DISTRACTOR,
        {
            "em": 0.4444,
            "f1": 0.5828,
            "sp_em": 0.2195,
            "sp_f1": 0.6666,
            "joint_em": 0.1156,
            "joint_f1": 0.4086,
            "bridge: em": 0.4341,
            "bridge: f1": 0.5909,
            "comparison: em": 0.4855,
            "comparison: f1": 0.5505,
        },
    ),
    "baseline-full-wiki": _main(
        "the same weights, asked about the ten paragraphs that retrieval found (5.2)",
        FULL_WIKI,
        {
            "em": 0.2468,
            "f1": 0.3436,
            "sp_em": 0.0528,
            "sp_f1": 0.4098,
            "joint_em": 0.0254,
            "joint_f1": 0.1773,
            "bridge: em": 0.1976,
            "bridge: f1": 0.3042,
            "comparison: em": 0.4387,
            "comparison: f1": 0.5070,
        },
        learns_as="baseline",
    ),
    "baseline-no-facts": _ablation(
        "the model without supervision by supporting facts", 0.4279, 0.5619, facts=False
    ),
    "baseline-no-self-attention": _ablation(
        "without that and without self-attention",
        0.4159,
        0.5519,
        facts=False,
        self_attention=False,
    ),
    "baseline-no-characters": _ablation(
        "without facts and without the character model",
        0.4166,
        0.5525,
        facts=False,
        characters=False,
    ),
    "baseline-no-easy": _ablation(
        "without facts and without train-easy", 0.4161, 0.5512, facts=False, without=("easy",)
    ),
    "baseline-no-easy-no-medium": _ablation(
        "without facts, train-easy and train-medium",
        0.3107,
        0.4361,
        facts=False,
        without=("easy", "medium"),
    ),
    "baseline-gold-only": _ablation(
        "the model given the two gold paragraphs alone", 0.4838, 0.6358, paragraphs="gold"
    ),
    "baseline-supporting-facts-only": _ablation(
        "the model given the supporting facts alone", 0.5195, 0.6698, paragraphs="facts"
    ),
    "baseline-as-published": Trained(
        "the model with every quirk of the authors' code, each named in its recipe",
        "readers.hotpotqa.baseline",
        settings={"as_published": True},
        recipe="baseline",
    ),
    "encoder": Trained(
        "ours, for some hundred questions: a pretrained encoder beside the light reader",
        "readers.hotpotqa.pretrained",
        learns_as="encoder-gold-only",
        recipe="encoder",
    ),
    "encoder-gold-only": Trained(
        "the same given the two gold paragraphs alone",
        "readers.hotpotqa.pretrained",
        settings={"paragraphs": "gold"},
        recipe="encoder",
    ),
}
