/** Codes that requests commonly end with; any other can be typed. */
const CODES = [
  'engine_failed',
  'inference_timeout',
  'queue_timeout',
  'request_cancelled',
  'worker_lost',
  'no_worker',
  'model_unloaded',
  'shutting_down',
];

export const ErrorCodes = () => (
  <datalist id="error-codes">
    {CODES.map(code => (
      <option key={code} value={code} />
    ))}
  </datalist>
);
