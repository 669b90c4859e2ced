//! A function of DataFusion: `select laplacian_eigenvalues(src, dst) from graphs`.
//!
//! DataFusion and fiedler may have different major versions of Arrow. So batches pass between them as IPC streams,
//! which all versions read.

use async_trait::async_trait;
use datafusion::arrow::array::{ArrayRef, ListArray, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Field, Int64Type};
use datafusion::arrow::ipc::{reader::StreamReader, writer::StreamWriter};
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::common::{DataFusionError, Result};
use datafusion::logical_expr::async_udf::{AsyncScalarUDF, AsyncScalarUDFImpl};
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion::prelude::SessionContext;
use fiedler::arrow::{Encoder, Kind, Shard, TableReader, TableWriter};
use fiedler::{Context, SpectralEncoder};
use std::hash::{Hash, Hasher};
use std::io::Cursor;
use std::sync::Arc;

/// The k smallest eigenvalues of the Laplacian of the graph whose edges are listed by their sources and targets.
#[derive(Debug)]
struct LaplacianEigenvalues {
    context: Context,
    encoder: Encoder,
    k: usize,
    signature: Signature,
}

impl LaplacianEigenvalues {
    fn new(k: usize) -> Self {
        let signature = Signature::any(2, Volatility::Immutable);
        Self { context: Context::cpu(), encoder: Encoder::new(SpectralEncoder::new(k)), k, signature }
    }

    fn encode(&self, ends: [ArrayRef; 2]) -> Result<ArrayRef> {
        let failed = |error: fiedler::Error| DataFusionError::External(Box::new(error));
        let [sources, targets] = ends;
        let table = RecordBatch::try_from_iter([("src", sources), ("dst", targets)])?;
        let mut bytes = Vec::new();
        let mut writer = StreamWriter::try_new(&mut bytes, &table.schema())?;
        writer.write(&table)?;
        writer.finish()?;
        drop(writer);

        let name = "a batch of DataFusion".as_ref();
        let mut read = TableReader::stream(name, Cursor::new(bytes), Shard::WHOLE).map_err(failed)?;
        let batch = read.next().expect("the batch that was written").map_err(failed)?;
        let encoded = self.encoder.encode_batch(&self.context, &batch).map_err(failed)?;
        let mut bytes = Vec::new();
        TableWriter::to(name, Kind::Stream, &mut bytes, &encoded.schema(), |writer| writer.write(&encoded)).map_err(failed)?;

        let batch = StreamReader::try_new(Cursor::new(bytes), None)?.next().expect("the batch that was written")?;
        Ok(batch.column_by_name("eigenvalues").expect("a column of every encoding").clone())
    }
}

impl PartialEq for LaplacianEigenvalues {
    fn eq(&self, other: &Self) -> bool {
        self.k == other.k
    }
}

impl Eq for LaplacianEigenvalues {}

impl Hash for LaplacianEigenvalues {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.k.hash(state);
    }
}

impl ScalarUDFImpl for LaplacianEigenvalues {
    fn name(&self) -> &str {
        "laplacian_eigenvalues"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::List(Arc::new(Field::new_list_field(DataType::Float32, true))))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [sources, targets] = &args.args[..] else { unreachable!("the signature has two arguments") };
        let ends = [sources.to_array(args.number_rows)?, targets.to_array(args.number_rows)?];
        Ok(ColumnarValue::Array(self.encode(ends)?))
    }
}

#[async_trait]
impl AsyncScalarUDFImpl for LaplacianEigenvalues {
    fn ideal_batch_size(&self) -> Option<usize> {
        Some(4096)
    }

    async fn invoke_async_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        self.invoke_with_args(args)
    }
}

#[tokio::main]
async fn main() -> Result<()> {
    let session = SessionContext::new();
    session.register_udf(AsyncScalarUDF::new(Arc::new(LaplacianEigenvalues::new(3))).into_scalar_udf());
    // A path, a triangle with a tail, and a ring of four.
    let lists = |rows: [&[i64]; 3]| -> ArrayRef {
        Arc::new(ListArray::from_iter_primitive::<Int64Type, _, _>(rows.map(|row| Some(row.iter().copied().map(Some)))))
    };
    let table = RecordBatch::try_from_iter([
        ("src", lists([&[0, 1], &[0, 1, 2, 2], &[0, 1, 2, 3]])),
        ("dst", lists([&[1, 2], &[1, 2, 0, 3], &[1, 2, 3, 0]])),
    ])?;
    session.register_batch("graphs", table)?;
    let made = session.sql("select src, dst, laplacian_eigenvalues(src, dst) as eigenvalues from graphs").await?;
    println!("{}", pretty_format_batches(&made.collect().await?)?);
    Ok(())
}
