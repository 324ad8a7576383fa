"""Area "checkpoint": runs resume from changed files."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.fuzz.archives import change_archive
from tests.fuzz.case import Case
from tests.fuzz.models import MODELS, make_model

RUNS = ("forest", "landmarks", "sampled", "exact", "gaussian", "adaptive", "knn", "distances")


@cache
def original(name: str) -> bytes:
    """Return the checkpoint of a run that was stopped after four steps."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "run.isosne"
        model = make_model(name).set_params(callback=lambda state: state.iteration >= 4)
        model.fit(MODELS[name][1], checkpoint=path, every=2)
        return path.read_bytes()


def run(case: Case) -> None:
    """Change a checkpoint, and resume the run from it."""
    name = case.pick(*RUNS)
    case.note(f"run: {name}")
    content = change_archive(case, original(name))
    path = case.path("run.isosne")
    path.write_bytes(content)
    model, X = make_model(name), MODELS[name][1]
    try:
        model.fit(X, checkpoint=path, every=2)
    except Exception:
        if not hasattr(model, "embedding_"):
            case.promise(path.read_bytes() == content, "the file was changed by a refused run")
        raise
    n_points = len(model.landmark_indices_) if "landmarks" in name else X.shape[0]
    case.promise_finite(model.embedding_, (n_points, model.n_components), "embedding_")
