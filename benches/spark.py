"""Spark computes the bytes of one process: `mapInArrow` of random trees on two workers, beside one `Encoder`.

    pip install ./python pyarrow pyspark   # Java 17
    python benches/spark.py
"""

import random

import pyarrow as pa
from pyspark.sql import SparkSession

from fiedler.arrow import Encoder, spark_schema


def main() -> None:
    random.seed(0)
    sizes = [random.randint(1, 40) for _ in range(5000)]
    table = pa.table(
        {
            "id": list(range(len(sizes))),
            "src": [list(range(1, n)) for n in sizes],
            "dst": [[random.randrange(v) for v in range(1, n)] for n in sizes],
            "num_nodes": sizes,
        }
    )
    encoder = Encoder(k=8, cache=False)
    spark = SparkSession.builder.master("local[2]").config("spark.sql.execution.arrow.maxRecordsPerBatch", 333).getOrCreate()
    frame = spark.createDataFrame(table).repartition(7)
    made = frame.mapInArrow(lambda batches: map(encoder, batches), spark_schema(frame.schema, encoder))
    rows, want = made.orderBy("id").toArrow(), encoder(table)
    for name in want.column_names:
        assert rows[name].to_pylist() == want[name].to_pylist(), name
    print(f"{rows.num_rows} rows of {frame.rdd.getNumPartitions()} partitions: equal in every column")


if __name__ == "__main__":
    main()
