import { bytes, choice, count, DAY_MS, flag, GIB, MIB, ms, text } from './setting-definition.js';

/** Files, batches, their database and their blob store. */
export const BATCH_SETTINGS = {
  'database.url': text(
    '',
    'Database of files and batches: postgres://…; empty: SQLite in data.dir. Alias: DATABASE_URL.',
  ),
  'blobs.driver': choice(
    ['fs', 's3'],
    'fs',
    'Where files are stored: fs is data.dir, s3 is an S3-compatible bucket.',
  ),
  'blobs.s3_bucket': text(
    '',
    'Bucket name; credentials come from AWS_ACCESS_KEY_ID and the other standard AWS variables.',
  ),
  'blobs.s3_prefix': text('', 'Prefix of every key in the bucket, such as switchyard/.'),
  'blobs.s3_region': text('us-east-1', 'Region of the bucket.'),
  'blobs.s3_endpoint': text('', 'URL of an S3-compatible server; empty: Amazon.'),
  'blobs.s3_path_style': flag(
    false,
    'Use host/bucket/key instead of bucket.host/key; most self-hosted servers need it.',
  ),
  'files.max_bytes': bytes(
    512 * MIB,
    1,
    64 * GIB,
    'Maximum size of a file in one request; for batches batch.max_file_bytes.',
  ),
  'files.max_upload_bytes': bytes(
    8 * GIB,
    1,
    1024 * GIB,
    'Maximum size of a file uploaded in parts (/v1/uploads).',
  ),
  'files.batch_expiry_ms': ms(
    30 * DAY_MS,
    0,
    3650 * DAY_MS,
    'How long files of batches are stored by default; 0 = unlimited.',
  ),
  'files.tenant_quota_bytes': bytes(
    0,
    0,
    1024 * 1024 * GIB,
    'Maximum total size of the files of one tenant, parts of uploads included; 0 = unlimited.',
  ),
  'files.gc_interval_ms': ms(
    60_000,
    10,
    DAY_MS,
    'How often expired files and uploads, and unreferenced data, are removed.',
  ),
  'batch.embedded': flag(
    true,
    'Start a batch processor with the gateway; false: run node dist/main.batch.js separately.',
  ),
  'batch.webhook_allow_hosts': text(
    '',
    'Private addresses that webhooks may name: comma-separated host, host:port or network/prefix.',
  ),
  'batch.jobs': count(4, 1, 1000, 'Maximum concurrent batches of one processor.'),
  'batch.concurrency': count(
    100,
    1,
    10_000,
    'Maximum lines in flight in one processor, all batches together.',
  ),
  'batch.concurrency_per_model': count(
    10,
    1,
    10_000,
    'Maximum lines in flight for one model; fewer while its target is busy.',
  ),
  'batch.max_file_bytes': bytes(200 * MIB, 1, 16 * GIB, 'Maximum size of a batch input file.'),
  'batch.max_lines': count(50_000, 1, 1_000_000, 'Maximum number of lines of an input file.'),
  'batch.max_line_bytes': bytes(8 * MIB, 64, GIB, 'Maximum size of a line of an input file.'),
  'batch.validation': choice(
    ['strict', 'lenient'],
    'strict',
    'strict: a bad line fails the batch; lenient: it goes to the error file. `metadata.validation` of ' +
      'a batch overrides it.',
  ),
  'batch.gateway_url': text(
    '',
    'Gateways, comma-separated; reachable ones share the lines. Empty: server.host and server.port.',
  ),
  'batch.targets_file': text(
    '',
    'YAML file of targets other than the gateway: one for all models, or one per model.',
  ),
  'batch.secrets_dir': text(
    '/etc/.secrets',
    'Folder of the keys named by `api_key_name` in the targets file.',
  ),
  'batch.request_timeout_ms': ms(
    600_000,
    1,
    DAY_MS,
    'Time limit of one attempt at a line when the target is the gateway.',
  ),
  'batch.attempts': count(
    4,
    1,
    1000,
    'Maximum attempts at a line that fails; while the gateway is busy or away, lines wait.',
  ),
  'batch.backoff_min_ms': ms(
    1000,
    1,
    DAY_MS,
    'First delay before a line is retried; doubles each time, up to 60 times, unless Retry-After asks for more.',
  ),
  'batch.finalize_timeout_ms': ms(
    DAY_MS,
    1000,
    30 * DAY_MS,
    'A batch whose results cannot be stored for this long fails with those stored so far.',
  ),
  'batch.grace_ms': ms(
    10_000,
    0,
    DAY_MS,
    'How long lines in flight may continue after cancel, expiry or SIGTERM (D-15).',
  ),
  'batch.lease_ms': ms(
    15_000,
    500,
    DAY_MS,
    'A processor silent for this long loses its batches; the heartbeat interval is a third of this.',
  ),
  'batch.poll_ms': ms(
    1000,
    10,
    DAY_MS,
    'How often a processor looks for batches and webhooks; batches at every fifth time while its gateway has none.',
  ),
  'batch.checkpoint_ms': ms(
    5000,
    10,
    DAY_MS,
    'How often results are copied to the blob store, when that is S3.',
  ),
  'batch.webhook_secret_file': text(
    '',
    'File with the secret that signs webhooks, plain or as whsec_…; empty: webhooks are disabled.',
  ),
  'batch.metrics_port': count(
    0,
    0,
    65_535,
    'Port for /metrics of a separately run processor; 0 = none.',
  ),
  'batch.metrics_host': text(
    '127.0.0.1',
    'Address of that port; 0.0.0.0 for a Prometheus on another machine.',
  ),
};
