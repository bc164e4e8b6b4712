"""Record batches of format v2: a header (`batch_header`), then records (`log_records`), compressed together or not
(`compression`). `batch_scan` finds the batches; `columns.columns_of` reads whole segments at once."""

from wire.log.batch_header import Batch, Batches
from wire.log.batch_writer import encode_batch, rewrite_batch
from wire.log.columns import Columns, columns_of
from wire.log.compression import Codec
from wire.log.control_records import ControlType, control_type
from wire.log.errors import DamagedLog
from wire.log.log_records import LogRecord, records_of

__all__ = [
    "Batch",
    "Batches",
    "Codec",
    "Columns",
    "ControlType",
    "DamagedLog",
    "LogRecord",
    "columns_of",
    "control_type",
    "encode_batch",
    "records_of",
    "rewrite_batch",
]
