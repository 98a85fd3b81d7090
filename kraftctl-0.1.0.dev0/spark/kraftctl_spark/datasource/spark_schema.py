"""Exported columns in Spark's types: each type, and the schema that `format("kraft")` declares."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import types as spark
from pyspark.sql.types import DataType, StructField, StructType

from kraftctl_spark.rows.schema import COMMON_FIELDS, arrow_schema


def spark_schema() -> StructType:
    """Returns `arrow_schema` in Spark's types."""
    comments = {name: comment for name, _, comment in COMMON_FIELDS}
    return StructType(
        [
            StructField(field.name, spark_type(field.type), True, _comment(comments.get(field.name)))
            for field in arrow_schema()
        ]
    )


def _comment(text: str | None) -> dict[str, str] | None:
    return None if text is None else {"comment": text}


def spark_type(kind: pa.DataType) -> DataType:
    """Returns Spark's type for an Arrow type of the exported columns."""
    if pa.types.is_struct(kind):
        return spark.StructType([spark.StructField(field.name, spark_type(field.type)) for field in kind])
    if pa.types.is_list(kind):
        return spark.ArrayType(spark_type(kind.value_type))
    simple: dict[pa.DataType, DataType] = {
        pa.bool_(): spark.BooleanType(),
        pa.int32(): spark.IntegerType(),
        pa.int64(): spark.LongType(),
        pa.float64(): spark.DoubleType(),
        pa.string(): spark.StringType(),
        pa.binary(): spark.BinaryType(),
        pa.timestamp("us", tz="UTC"): spark.TimestampType(),
    }
    return simple[kind]
