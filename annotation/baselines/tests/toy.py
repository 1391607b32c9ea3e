"""A protocol as small as can be, with a baseline that learns to add: for tests of the command."""

import json
import random
from pathlib import Path

FILES = {
    "protocol.toml": '[protocol]\nname = "sums"\nversion = 1\ntitle = "Sums"\norder = 9\n',
    "__init__.py": '"""Sums."""\n',
    "scoring.py": '''"""How many sums are right, to the nearest whole number."""
import json

from annotation.metrics.result import ScoreError


def check_gold(gold):
    if any("sum" not in each for each in json.loads(gold.read_text())):
        raise ScoreError(f"{gold}: it has no answers.")


def score(predictions, gold, options):
    given, wanted = json.loads(predictions.read_text()), json.loads(gold.read_text())
    right = [given[each["id"]] == each["sum"] for each in wanted]
    share = sum(right) / len(right)
    return {
        "official": {"right": share},
        "groups": {"all": {"right": share}},
        "columns": ["", "right"],
        "rows": [["all", f"{100 * share:.1f}"]],
        "notes": [],
    }
''',
    "baselines/__init__.py": '''"""The baselines of sums."""
from readers.trained import Trained

NAMED = dict(train_files=("train.json",), dev_file="dev.json", source="Sums, Table 1")
TRAINED = {
    "adder": Trained("a small network (1)", ".adder", paper={"right": 0.9}, **NAMED),
    "wide-adder": Trained(
        "a wider one (2)", ".adder", {"width": 16}, "adder", paper={"all: right": 0.95}, **NAMED
    ),
    "halver": Trained(
        "the small one, half of what it answers (3)", ".adder", {"half": True}, "adder", "adder",
        **NAMED,
    ),
    "ranked-adder": Trained(
        "one that learns from what few releases have", ".adder", recipe="adder",
        train_files=("ranking.json",), dev_file="dev.json", source="Sums, Table 1",
    ),
    "unread": Trained("one without a recipe", ".adder"),
}
''',
    "baselines/adder.py": '''"""Learns to add in two stages, each killed where it is said."""
import json
import os
import signal

from readers.tests.adding import Adder
from readers.trained import ReaderError


class Mortal(Adder):
    def __init__(self, stage, width):
        super().__init__(width)
        self.stage = stage

    def at_step(self, step, n_steps):
        if os.environ.get("KILL_AT") == f"{self.stage}:{step}":
            os.kill(os.getpid(), signal.SIGKILL)


def read(path):
    rows = json.loads(path.read_text())
    return [(row["a"], row["b"], row.get("sum", 0)) for row in rows], [row["id"] for row in rows]


def train(run):
    items = [item for path in run.train for item in read(path)[0]]
    dev, ids = read(run.dev)
    width = run.settings.get("width", run.recipe.integer("width"))
    stages = {}
    for stage in ("first", "second"):
        stages[stage] = Mortal(stage, width)
        run.fit(stages[stage], items, dev, stage)
    answers = run.answers(stages["second"], dev)
    run.note(width=width)
    if run.settings.get("half"):
        answers = [answer / 2 for answer in answers]
    told = {key: round(answer) for key, answer in zip(ids, answers, strict=True)}
    run.predictions.write_text(json.dumps(told))
''',
    "recipes/adder.toml": """[paper]
epochs = 4            # source: Sums 1
batch = 4             # source: Sums 1
optimizer = "adam"    # source: Sums 1
learning_rate = 0.02  # source: Sums 1
width = 8             # source: Sums 1

[paper.second]
epochs = 5            # source: Sums 2
checkpoint_steps = 2  # ours: so that little is lost

[small]
epochs = 1            # ours: a moment
""",
}


def make_protocol(parent: Path) -> Path:
    """Write the protocol `sums` into a folder of protocols; return its own."""
    folder = parent / "sums"
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return folder


def write_sums(path: Path, number: int, seed: int, *, answered: bool = True) -> Path:
    """Write so many questions to a file."""
    rng = random.Random(seed)
    rows = []
    for at in range(number):
        first, second = rng.randint(0, 9), rng.randint(0, 9)
        answer = {"sum": first + second} if answered else {}
        rows.append({"id": f"{path.stem}-{at:08}", "a": first, "b": second, **answer})
    path.write_text(json.dumps(rows))
    return path
