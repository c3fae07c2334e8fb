import { BUCKETS, counter, gauge, histogram, type MetricDefinition } from './metric-definition.js';

/** Labels that several have. */
const BY_CLASS = ['priority', 'model'] as const;
const BY_WORKER = ['worker', 'model'] as const;
const BY_OPERATION = ['gen_ai_operation_name', 'gen_ai_request_model'] as const;

/**
 * Every metric the gateway exports, besides the process metrics of prom-client
 * (`process_…`, `nodejs_…`).
 *
 * Names are fixed (D-10). Label values: `priority` realtime|batch; `model` a canonical id
 * of `config/models.yaml`, never what a client typed; `status`
 * completed|cancelled|failed; `stage` queued|in_flight; `worker` a worker id.
 */
export const METRICS = {
  scheduler_queue_depth: gauge('Requests waiting in the queue now.', 'priority', 'model'),
  scheduler_queue_wait_seconds: histogram(
    BUCKETS.waitS,
    'From enqueue until a worker slot was leased.',
    ...BY_CLASS,
  ),
  scheduler_grpc_duration_seconds: histogram(BUCKETS.workS, 'The call to the worker.', ...BY_CLASS),
  scheduler_cancel_latency_seconds: histogram(
    BUCKETS.signalS,
    'From the cancel until it took effect: removed from the queue, or acknowledged by the worker.',
    'stage',
  ),
  scheduler_batch_size: histogram(
    BUCKETS.size,
    'Requests per engine call, one value per call, as the worker reports it.',
    'model',
  ),
  scheduler_requests_total: counter('Settled requests.', 'status', 'priority', 'model'),
  scheduler_aging_promotions_total: counter(
    'BATCH requests that aged while they waited, each counted once.',
    'model',
  ),

  tts_ttfb_seconds: histogram(
    BUCKETS.waitS,
    'From the request until the first audio byte.',
    'model',
  ),
  tts_synthesis_duration_seconds: histogram(
    BUCKETS.workS,
    'From the request until the last audio byte.',
    'model',
  ),
  tts_requests_total: counter('Settled speech requests.', 'status', 'model'),
  tts_active_sessions: gauge('Speech requests that are queued or being synthesised now.', 'model'),

  llm_ttft_seconds: histogram(
    BUCKETS.waitS,
    'From the request until the first chunk of text, or as the worker reports it.',
    'model',
  ),
  gen_ai_server_time_to_first_token_seconds: histogram(
    BUCKETS.genAiFirstS,
    "As llm_ttft_seconds, by OpenTelemetry's name.",
    ...BY_OPERATION,
  ),
  gen_ai_server_request_duration_seconds: histogram(
    BUCKETS.genAiS,
    'From acceptance to the end; error_type: why it ended without an answer.',
    ...BY_OPERATION,
    'error_type',
  ),
  gen_ai_client_token_usage: histogram(
    BUCKETS.genAiTokens,
    'Tokens of one request, by gen_ai_token_type: input, output.',
    ...BY_OPERATION,
    'gen_ai_token_type',
  ),
  llm_inter_token_seconds: histogram(
    BUCKETS.waitS,
    'Between two chunks of a stream whose reader keeps up.',
    'model',
  ),
  llm_tokens_total: counter(
    'Tokens that engines report, by type: prompt, completion, cached.',
    'type',
    'model',
  ),
  llm_active_requests: gauge(
    'Text and embedding requests that are queued or computed now.',
    'model',
  ),

  llm_sequences_running: gauge(
    'Sequences in the running set of a worker that batches by steps.',
    ...BY_WORKER,
  ),
  llm_sequences_waiting: gauge(
    'Sequences that wait in such a worker for a row, memory or tokens.',
    ...BY_WORKER,
  ),
  llm_kv_blocks: gauge('Blocks of KV memory of such a worker.', ...BY_WORKER),
  llm_kv_blocks_free: gauge('Blocks of them that no sequence holds.', ...BY_WORKER),
  llm_step_tokens: gauge(
    'Maximum tokens of a step at present while a sequence decodes.',
    ...BY_WORKER,
  ),
  llm_steps_total: counter('Steps with work.', ...BY_WORKER),
  llm_decode_calls_total: counter(
    'Native decode calls: one per step unless steps are repaired.',
    ...BY_WORKER,
  ),
  llm_preemptions_total: counter(
    'Times that a sequence lost its memory to another, or for being paused.',
    ...BY_WORKER,
  ),
  llm_prefix_tokens_total: counter(
    'Tokens of prompts that were computed before, by result: hit, stranded (computed again all the same).',
    'result',
    ...BY_WORKER,
  ),
  llm_backend_losses_total: counter(
    'Times that the process that computes died or hung; its requests continue in the next.',
    ...BY_WORKER,
  ),

  stt_active_sessions: gauge('Live sessions that hold a streaming slot now.', 'model'),
  stt_ttfb_seconds: histogram(
    BUCKETS.waitS,
    'From the first audio of an utterance until its first text.',
    'model',
  ),
  stt_final_delay_seconds: histogram(
    BUCKETS.waitS,
    'From the end of speech, or the commit, until the final text.',
    'model',
  ),
  stt_vad_events_total: counter(
    'Voice activity in live sessions: speech_started, speech_stopped.',
    'event',
    'model',
  ),
  stt_worker_recoveries_total: counter(
    'Workers that died under a live session, by outcome: recovered, failed.',
    'outcome',
    'model',
  ),

  switchyard_requests_accepted_total: counter(
    'Requests taken into the queue; always equals waiting + running + settled.',
    ...BY_CLASS,
  ),
  switchyard_requests_rejected_total: counter(
    'Requests rejected before they were queued, by error code.',
    'code',
    'model',
  ),
  switchyard_tenant_requests_total: counter(
    'Requests by tenant, as `metrics.tenants` names them: settled, or rejected before they were queued.',
    'tenant',
    'status',
  ),
  switchyard_tenant_queue_wait_seconds: histogram(
    BUCKETS.waitS,
    'From enqueue until a worker slot was leased, by tenant.',
    'tenant',
  ),
  switchyard_tenant_device_seconds_total: counter(
    'Device time of completed requests by tenant: of each engine call, their own part.',
    'tenant',
  ),
  switchyard_tenant_queue_depth: gauge(
    'Requests of this gateway that wait now, by tenant.',
    'tenant',
  ),
  switchyard_limit_refusals_total: counter(
    'Requests refused by a limit of their caller, by its name; intake: by server.max_receiving.',
    'limit',
  ),
  switchyard_http_errors_total: counter(
    'HTTP answers with a status from 400, every refusal included; area: admin (routes below /admin), api.',
    'area',
    'status',
  ),
  switchyard_limit_store_failures_total: counter(
    'Calls to the shared limits that Redis did not answer.',
  ),
  switchyard_background_responses: gauge(
    'Background responses of all gateways that have not ended: queued (no gateway has begun them), in_progress.',
    'status',
  ),
  switchyard_background_response_runs_total: counter(
    'Runs of background responses that this gateway began, by kind: first, resumed (after another run was lost).',
    'kind',
  ),
  switchyard_responses_expired_total: counter(
    'Stored responses that this gateway removed because they had expired.',
  ),
  switchyard_dependency_up: gauge(
    '1 while a dependency answers, else 0: redis, database, blobs. Probed in the background, never by a scrape.',
    'dependency',
  ),
  switchyard_dependency_probe_age_seconds: gauge(
    'Time since the last probe of a dependency ended.',
    'dependency',
  ),
  switchyard_requests_running: gauge('Requests that a worker has now.', 'priority', 'model'),
  switchyard_requests_retried_total: counter(
    'Requests sent again because their worker was lost or refused them.',
    'model',
  ),
  switchyard_deadlines_total: counter(
    'Requests with a deadline, by outcome: met, late, missed (never started), refused (not queued).',
    'outcome',
    'model',
  ),
  switchyard_speech_stutter_total: counter(
    'Speech whose audio came later than it was played, by 20 ms or more, so that its listener heard a pause.',
    'model',
  ),
  switchyard_replicas_wanted: gauge(
    'Least number of replicas with which what waits keeps its deadlines, or queue.target_wait_ms, and the load is ' +
      'carried; absent while no worker has answered. Gateways with an embedded queue add up.',
    'model',
  ),
  switchyard_queue_bytes: gauge('Bytes of the uploads waiting in the queue now.', 'model'),

  switchyard_worker_up: gauge(
    '1 while the worker takes work (ready or busy), else 0; absent while its model is unloaded until the next request.',
    ...BY_WORKER,
  ),
  switchyard_worker_slots: gauge('Requests the worker accepts at the same time.', ...BY_WORKER),
  switchyard_worker_slots_in_use: gauge(
    'Slots leased now; REALTIME may exceed them by a group.',
    ...BY_WORKER,
  ),
  switchyard_device_memory_bytes: gauge('Memory of a device that its models share.', 'device'),
  switchyard_device_memory_used_bytes: gauge(
    'Of that, what loaded, loading and leaving models need.',
    'device',
  ),
  switchyard_model_loads_total: counter(
    'Loads of models that share a device, by what waited: pin, realtime, aged, waiting or prewarm.',
    'model',
    'reason',
  ),
  switchyard_model_load_seconds: histogram(
    BUCKETS.workS,
    'From the start of the processes of a model that shares a device until it took requests.',
    'model',
  ),
  switchyard_worker_restarts_total: counter(
    'Starts of a supervised worker after its first.',
    ...BY_WORKER,
  ),
  switchyard_worker_prep_seconds: histogram(
    BUCKETS.workS,
    'Decoding and resampling in the worker, per request.',
    'model',
  ),
  switchyard_worker_ready_wait_seconds: histogram(
    BUCKETS.workS,
    'Prepared and waiting for the device, per request.',
    'model',
  ),
  switchyard_worker_device_seconds: histogram(
    BUCKETS.workS,
    'The engine call a request was part of.',
    'model',
  ),
  jobs_processed_total: counter(
    'Batches that left a processor, by result (success, failed, expired, cancelled, re_enqueued) and reason.',
    'result',
    'reason',
  ),
  job_processing_duration_seconds: histogram(
    BUCKETS.jobS,
    'From the claim of a batch to its end.',
    'size_bucket',
  ),
  job_queue_wait_duration_seconds: histogram(
    BUCKETS.jobS,
    'From the creation of a batch to its first claim.',
  ),
  total_workers: gauge('Batches that the processor works on at the same time, at most.'),
  active_workers: gauge('Batches that the processor works on now.'),
  processor_inflight_requests: gauge('Lines in flight now.'),
  processor_max_inflight_concurrency: gauge('Lines in flight at most.'),
  model_inflight_requests: gauge('Lines in flight now, by model.', 'model'),
  plan_build_duration_seconds: histogram(
    BUCKETS.workS,
    'Reading and checking an input file.',
    'size_bucket',
  ),
  model_request_execution_duration_seconds: histogram(
    BUCKETS.workS,
    'One attempt at a line.',
    'model',
  ),
  request_errors_by_model_total: counter(
    'Lines that ended in an error file after an attempt.',
    'model',
  ),
  file_storage_operations_total: counter(
    'Blobs stored, retrieved and deleted: success, retry (failed and tried again), exhausted.',
    'operation',
    'component',
    'status',
  ),
  batch_request_prompt_tokens_total: counter(
    'Prompt tokens reported in answers to lines.',
    'model',
  ),
  batch_request_generation_tokens_total: counter(
    'Generated tokens reported in answers to lines.',
    'model',
  ),
  batch_job_e2e_latency_seconds: histogram(
    BUCKETS.jobS,
    'From the creation of a batch to its end.',
    'status',
  ),
  batch_cancellation_total: counter(
    'Cancelled batches by where the cancel met them: queued, in_progress, finalizing.',
    'phase',
  ),
  batch_startup_recovery_total: counter(
    'Work folders found at the start of a processor: kept to be continued, or cleaned_up.',
    'status',
    'action',
  ),
  data_folder_free_bytes: gauge('Free bytes for Switchyard on the file system of data.dir.'),
  batch_jobs: gauge('Batches in the table, by status.', 'status'),
  batch_queue_age_seconds: gauge('Age of the oldest batch that no processor holds; 0: none waits.'),
  batch_deadline_risk_jobs: gauge(
    'Batches in work that will miss their deadline at their present rate.',
  ),
  batch_line_retries_total: counter(
    'Attempts at lines that were followed by another, by what came: a status, lost, refused.',
    'model',
    'reason',
  ),
  batch_checkpoint_lag_seconds: gauge(
    'Age of the oldest answer that is not yet durable; 0: all are.',
  ),
  batch_webhooks_total: counter('Attempts at webhooks: sent, retry, given_up.', 'outcome'),
} as const satisfies Record<string, MetricDefinition>;

export type MetricName = keyof typeof METRICS;
