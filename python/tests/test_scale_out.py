"""Ray and Dask: many processes compute the bytes of one. Spark is tested by hand, with `benches/spark.py`. The blocks of
docs/scale-out.md run as they are."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys

import pytest

from conftest import ROOT
from fiedler.arrow import Encoder
from test_arrow import added, molecules

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


@pytest.fixture(scope="module")
def ray(guide):
    ray = pytest.importorskip("ray")
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    # Workers run where Ray was started, and the guide names files of its folder.
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(guide)
        ray.init(num_cpus=6, include_dashboard=False, object_store_memory=200 << 20, log_to_driver=False)
    yield ray
    ray.shutdown()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("size", "rows"), [(1, 200), (37, 4000), (4096, 24_000)])
def test_actors_of_ray_compute_the_bytes_of_one_process(ray, size, rows):
    import ray.data

    import fiedler.ray

    class Told(fiedler.ray.Encode):
        def __call__(self, table):
            made = super().__call__(table)
            return made.append_column("pid", pa.array([os.getpid()] * made.num_rows))

    # All actors are there before the first batch, or the first of them might take every one.
    ray.data.DataContext.get_current().wait_for_min_actors_s = 60
    table = molecules(rows)
    made = ray.data.from_arrow(table).repartition(40).map_batches(
        Told,
        fn_constructor_kwargs={"k": 4, "cache": False},
        batch_format="pyarrow",
        batch_size=size,
        compute=ray.data.ActorPoolStrategy(size=4),
        num_cpus=1,
    )
    made = pa.concat_tables([ray.get(part) for part in made.to_arrow_refs()]).sort_by("id")
    assert len(set(made["pid"].to_pylist())) == 4
    assert added(made.drop(["pid"])).equals(added(Encoder(k=4)(table)))


@pytest.mark.filterwarnings("ignore")
def test_an_actor_that_is_killed_is_replaced(ray):
    import fiedler.ray

    @ray.remote(num_cpus=1, max_restarts=2, max_task_retries=2)
    class Actor(fiedler.ray.Encode):
        def pid(self):
            return os.getpid()

    table = molecules(400)
    actor = Actor.remote(k=4, cache=False)
    first = ray.get(actor.pid.remote())
    parts = [actor.__call__.remote(table.slice(i, 20)) for i in range(0, 400, 20)]
    ray.get(parts[3])
    ray.kill(actor, no_restart=False)
    made = pa.concat_tables(ray.get(parts))
    assert ray.get(actor.pid.remote()) != first
    assert added(made).equals(added(Encoder(k=4)(table)))


@pytest.mark.filterwarnings("ignore")
def test_the_program_of_a_tutorial_encodes_files(ray, tmp_path):
    program = runpy.run_path(str(ROOT / "examples" / "ten_million.py"))
    found = {name: found for name, _, found in program["rows"](tmp_path, graphs=2500, processes=2, part=1000)}
    counts, size = found["read what became of each"]
    assert counts == {"converged": 2500} and size > 0, found
    assert found["encode the last file again"] is True
    made = pq.read_table(tmp_path / "encoded", columns=["id", "num_nodes", "eigenvectors"]).sort_by("id").to_pydict()
    assert made["id"] == list(range(2500))
    assert [len(vectors) for vectors in made["eigenvectors"]] == made["num_nodes"]


def test_the_context_is_what_ray_assigned(ray):
    import fiedler.ray

    @ray.remote(num_cpus=2, memory=300 << 20)
    def seen():
        return fiedler.ray.context().show()

    assert ray.get(seen.remote()) == {"adapter": None, "threads": 2, "memory_budget": 300 << 20}


@pytest.mark.filterwarnings("ignore")
def test_partitions_of_dask_compute_the_bytes_of_one_process():
    dask = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    distributed = pytest.importorskip("distributed")
    table, encoder = molecules(300), Encoder(k=4)
    frame = dask.from_pandas(table.to_pandas(types_mapper=pandas.ArrowDtype), npartitions=7)
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster):
            made = frame.map_partitions(encoder, meta=encoder(frame._meta)).compute()
    assert made["id"].tolist() == list(range(300))
    want = encoder(table)
    assert pa.table(made)["eigenvectors"].to_pylist() == want["eigenvectors"].to_pylist()
    assert pa.table(made)["eigenvalues"].to_pylist() == want["eigenvalues"].to_pylist()
    assert made["status"].tolist() == ["converged"] * 300


BLOCKS = re.findall(r"```(python|sh)\n(.*?)```", (ROOT / "docs" / "scale-out.md").read_text(), re.DOTALL)
FOREIGN = ("ray", "polars", "dask", "pyspark")


def run(kind, block, folder, **variables):
    """Runs a block in the folder, where `fiedler` and `python3` are those of these tests."""
    call = [sys.executable, "-c", block] if kind == "python" else ["sh", "-e", "-c", block]
    path = os.pathsep.join([str(folder / "bin"), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, **variables}
    done = subprocess.run(call, cwd=folder, env=environment, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def guide(tmp_path_factory):
    """A folder with the table of the guide."""
    folder = tmp_path_factory.mktemp("guide")
    (folder / "bin").mkdir()
    for name, call in (("fiedler", "-m fiedler"), ("python3", "")):
        script = folder / "bin" / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" {call} "$@"\n')
        script.chmod(0o755)
    run(*BLOCKS[0], folder)
    return folder


@pytest.mark.parametrize("block", range(1, len(BLOCKS)), ids=lambda block: BLOCKS[block][1].split("\n")[0][:40])
def test_the_guide_runs(block, guide, request):
    kind, text = BLOCKS[block]
    variables = {"SLURM_ARRAY_TASK_ID": "2"}
    for module in FOREIGN:
        if re.search(rf"^(import|from) {module}\b", text, re.MULTILINE):
            pytest.importorskip(module)
            if module == "ray":
                variables["RAY_ADDRESS"] = request.getfixturevalue("ray").get_runtime_context().gcs_address
    run(kind, text, guide, **variables)
