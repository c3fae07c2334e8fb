import { describe, expect, it } from '@jest/globals';
import { METRICS } from '../../src/platform/metrics/registry.js';

/** Names, types and labels that dashboards rely on. */
const FIXED = [
  ['jobs_processed_total', 'counter', ['result', 'reason']],
  ['job_processing_duration_seconds', 'histogram', ['size_bucket']],
  ['job_queue_wait_duration_seconds', 'histogram', []],
  ['total_workers', 'gauge', []],
  ['active_workers', 'gauge', []],
  ['processor_inflight_requests', 'gauge', []],
  ['processor_max_inflight_concurrency', 'gauge', []],
  ['model_inflight_requests', 'gauge', ['model']],
  ['plan_build_duration_seconds', 'histogram', ['size_bucket']],
  ['model_request_execution_duration_seconds', 'histogram', ['model']],
  ['request_errors_by_model_total', 'counter', ['model']],
  ['file_storage_operations_total', 'counter', ['operation', 'component', 'status']],
  ['batch_request_prompt_tokens_total', 'counter', ['model']],
  ['batch_request_generation_tokens_total', 'counter', ['model']],
  ['batch_job_e2e_latency_seconds', 'histogram', ['status']],
  ['batch_cancellation_total', 'counter', ['phase']],
  ['batch_startup_recovery_total', 'counter', ['status', 'action']],
] as const;

const BESIDE = [
  'batch_queue_age_seconds',
  'batch_deadline_risk_jobs',
  'batch_line_retries_total',
  'batch_checkpoint_lag_seconds',
] as const;

describe('the metrics of the batch processor', () => {
  it.each(FIXED)('%s is a %s with its labels', (name, type, labels) => {
    expect(METRICS[name]).toMatchObject({ type, labels });
  });

  it.each(BESIDE)('%s is there', name => {
    expect(METRICS[name].help).not.toBe('');
  });

  it.each([
    'job_processing_duration_seconds',
    'job_queue_wait_duration_seconds',
    'batch_job_e2e_latency_seconds',
  ] as const)('%s has buckets for 24 h and for the longest window, 7 d', name => {
    expect(METRICS[name].buckets).toEqual(expect.arrayContaining([86_400, 604_800]));
  });
});
