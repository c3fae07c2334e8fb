export type EndpointMethod = 'GET' | 'POST' | 'DELETE';

export interface Endpoint {
  readonly method: EndpointMethod;
  /** Path parameters in braces, as OpenAPI writes them. */
  readonly path: string;
  readonly summary: string;
  /** The heading it has in Swagger UI. */
  readonly area:
    'audio' | 'text' | 'realtime' | 'files' | 'batches' | 'models' | 'requests' | 'admin' | 'health' | 'console';
}

/** Every route of the gateway. A spec proves this table, Nest's routes and the OpenAPI paths equal. */
export const ENDPOINTS = [
  { method: 'POST', path: '/v1/audio/transcriptions', summary: 'Audio to text', area: 'audio' },
  { method: 'POST', path: '/v1/audio/translations', summary: 'Audio to English text', area: 'audio' },
  { method: 'POST', path: '/v1/audio/speech', summary: 'Text to audio', area: 'audio' },
  { method: 'POST', path: '/v1/chat/completions', summary: 'Messages to a message, streamed or whole', area: 'text' },
  { method: 'POST', path: '/v1/completions', summary: 'Text to its continuation', area: 'text' },
  { method: 'POST', path: '/v1/embeddings', summary: 'Text to vectors', area: 'text' },
  { method: 'POST', path: '/v1/audio/transcriptions/{id}/cancel', summary: 'Cancel a transcription', area: 'requests' },
  { method: 'POST', path: '/v1/audio/translations/{id}/cancel', summary: 'Cancel a translation', area: 'requests' },
  { method: 'POST', path: '/v1/audio/speech/{id}/cancel', summary: 'Cancel a synthesis', area: 'requests' },
  { method: 'POST', path: '/v1/requests/{id}/cancel', summary: 'Cancel any request', area: 'requests' },
  { method: 'GET', path: '/v1/requests/{id}', summary: 'Where a request is and why it waits', area: 'requests' },
  {
    method: 'GET',
    path: '/v1/requests/{id}/content',
    summary: 'The answer of a request that was not waited for',
    area: 'requests',
  },
  {
    method: 'GET',
    path: '/events',
    summary: 'Live feed: Socket.IO with `transports: ["websocket"]`',
    area: 'realtime',
  },
  {
    method: 'POST',
    path: '/v1/realtime/client_secrets',
    summary: 'Short-lived token for a browser',
    area: 'realtime',
  },
  {
    method: 'POST',
    path: '/v1/realtime/transcription_sessions',
    summary: 'The same in the older dialect',
    area: 'realtime',
  },
  { method: 'POST', path: '/v1/files', summary: 'Upload a file', area: 'files' },
  { method: 'GET', path: '/v1/files', summary: 'List files', area: 'files' },
  { method: 'GET', path: '/v1/files/{id}', summary: 'One file', area: 'files' },
  { method: 'GET', path: '/v1/files/{id}/content', summary: 'Bytes of a file, or a range of them', area: 'files' },
  { method: 'DELETE', path: '/v1/files/{id}', summary: 'Delete a file', area: 'files' },
  { method: 'POST', path: '/v1/uploads', summary: 'Begin a file that comes in parts', area: 'files' },
  { method: 'POST', path: '/v1/uploads/{id}/parts', summary: 'Add a part of at most 64 MiB', area: 'files' },
  { method: 'POST', path: '/v1/uploads/{id}/complete', summary: 'Make a file of the parts', area: 'files' },
  { method: 'POST', path: '/v1/uploads/{id}/cancel', summary: 'Forget the parts', area: 'files' },
  { method: 'POST', path: '/v1/batches', summary: 'Run the lines of a file', area: 'batches' },
  { method: 'GET', path: '/v1/batches', summary: 'List batches', area: 'batches' },
  { method: 'GET', path: '/v1/batches/{id}', summary: 'One batch: status, counts, rate, ETA', area: 'batches' },
  { method: 'POST', path: '/v1/batches/{id}/cancel', summary: 'Cancel a batch; what is done is kept', area: 'batches' },
  {
    method: 'POST',
    path: '/v1/batches/{id}/retry-failed',
    summary: 'A new batch of the lines that failed',
    area: 'batches',
  },
  { method: 'DELETE', path: '/v1/batches/{id}', summary: 'Delete a finished batch; its files stay', area: 'batches' },
  { method: 'GET', path: '/v1/models', summary: 'Models and their aliases', area: 'models' },
  { method: 'GET', path: '/v1/models/{id}', summary: 'One model, by id or alias', area: 'models' },
  {
    method: 'GET',
    path: '/admin/v1/status',
    summary: 'What this gateway does now, and what limits it',
    area: 'admin',
  },
  {
    method: 'GET',
    path: '/admin/v1/alerts',
    summary: 'Alerts of the Prometheus in `console.prometheus_url`',
    area: 'admin',
  },
  {
    method: 'GET',
    path: '/admin/v1/doctor',
    summary: 'What `switchyard doctor` finds on the machine of this gateway',
    area: 'admin',
  },
  { method: 'GET', path: '/admin/v1/settings', summary: 'Effective settings and where each came from', area: 'admin' },
  {
    method: 'GET',
    path: '/admin/v1/logs',
    summary: 'Last lines of the log of this gateway, or all from now on',
    area: 'admin',
  },
  {
    method: 'GET',
    path: '/admin/v1/workers/{id}/log',
    summary: 'Last lines that a worker wrote, and what happened to its process',
    area: 'admin',
  },
  { method: 'GET', path: '/admin/v1/history', summary: 'The last hour in steps of 10 s', area: 'admin' },
  {
    method: 'GET',
    path: '/admin/v1/queue',
    summary: 'Depth by model and priority, bounds, oldest wait',
    area: 'admin',
  },
  {
    method: 'GET',
    path: '/admin/v1/models',
    summary: 'Models: loaded or not, their workers, when last used',
    area: 'admin',
  },
  {
    method: 'GET',
    path: '/admin/v1/catalogue',
    summary: 'Models of the catalogue that have files to download',
    area: 'admin',
  },
  {
    method: 'GET',
    path: '/admin/v1/catalogue/additions',
    summary: 'Models that are being added, and how the last ones ended',
    area: 'admin',
  },
  {
    method: 'POST',
    path: '/admin/v1/catalogue/{name}/add',
    summary: 'Download a model of the catalogue and serve it',
    area: 'admin',
  },
  {
    method: 'POST',
    path: '/admin/v1/catalogue/{name}/cancel',
    summary: 'Stop the download of a model; what has arrived is kept',
    area: 'admin',
  },
  { method: 'POST', path: '/admin/v1/models/reload', summary: 'Serve the models file as it is now', area: 'admin' },
  { method: 'POST', path: '/admin/v1/models/{id}/load', summary: 'Start the workers of a model', area: 'admin' },
  { method: 'POST', path: '/admin/v1/models/{id}/unload', summary: 'Stop the workers of a model', area: 'admin' },
  { method: 'GET', path: '/admin/v1/requests', summary: 'List requests', area: 'admin' },
  { method: 'GET', path: '/admin/v1/requests/{id}', summary: 'One request, and why it waits', area: 'admin' },
  { method: 'POST', path: '/admin/v1/requests/cancel', summary: 'Cancel many requests', area: 'admin' },
  { method: 'POST', path: '/admin/v1/requests/{id}/cancel', summary: 'Cancel one request', area: 'admin' },
  {
    method: 'GET',
    path: '/admin/v1/workers',
    summary: 'Workers: state, slots, restarts, how the last one ended',
    area: 'admin',
  },
  {
    method: 'POST',
    path: '/admin/v1/workers/{id}/drain',
    summary: 'Send a worker nothing more until it is resumed',
    area: 'admin',
  },
  {
    method: 'POST',
    path: '/admin/v1/workers/{id}/resume',
    summary: 'Send a drained worker requests again',
    area: 'admin',
  },
  {
    method: 'POST',
    path: '/admin/v1/workers/{id}/restart',
    summary: 'Drain a worker, replace its process, and resume it',
    area: 'admin',
  },
  { method: 'GET', path: '/admin/v1/keys', summary: 'API keys, without their secrets', area: 'admin' },
  { method: 'POST', path: '/admin/v1/keys', summary: 'Create an API key', area: 'admin' },
  {
    method: 'POST',
    path: '/admin/v1/keys/{id}/rotate',
    summary: 'Replace the secret of an API key',
    area: 'admin',
  },
  { method: 'DELETE', path: '/admin/v1/keys/{id}', summary: 'Revoke an API key', area: 'admin' },
  {
    method: 'GET',
    path: '/admin/v1/tenants',
    summary: 'Tenants: their keys, limits and usage of today',
    area: 'admin',
  },
  { method: 'GET', path: '/admin/v1/usage', summary: 'Usage by day, tenant, key and model', area: 'admin' },
  { method: 'GET', path: '/admin/v1/audit', summary: 'Who changed what, newest first', area: 'admin' },
  { method: 'GET', path: '/admin/v1/sessions', summary: 'Live sessions of this gateway', area: 'admin' },
  { method: 'POST', path: '/admin/v1/sessions/{id}/end', summary: 'End a live session', area: 'admin' },
  {
    method: 'GET',
    path: '/admin/v1/dependencies',
    summary: 'Redis, database and blob store as last probed, and why one is down',
    area: 'admin',
  },
  { method: 'GET', path: '/console', summary: 'The console: what the server is doing, in a browser', area: 'console' },
  { method: 'GET', path: '/console/{view}', summary: 'A view of the console', area: 'console' },
  { method: 'GET', path: '/console/{view}/{id}', summary: 'One request or batch in the console', area: 'console' },
  { method: 'GET', path: '/console/assets/{file}', summary: 'Scripts and styles of the console', area: 'console' },
  { method: 'GET', path: '/console/session', summary: 'Who is signed in at the console', area: 'console' },
  { method: 'POST', path: '/console/session', summary: 'Sign in with a key; sets a cookie', area: 'console' },
  { method: 'DELETE', path: '/console/session', summary: 'Sign out', area: 'console' },
  { method: 'GET', path: '/', summary: 'Where API and documentation are', area: 'health' },
  { method: 'GET', path: '/health', summary: 'Summary for people: models, workers, draining', area: 'health' },
  { method: 'GET', path: '/health/live', summary: '200 while the process serves', area: 'health' },
  { method: 'GET', path: '/health/ready', summary: '200 while requests can be served, else 503', area: 'health' },
  { method: 'GET', path: '/healthz', summary: 'Alias of /health/live', area: 'health' },
  { method: 'GET', path: '/readyz', summary: 'Alias of /health/ready', area: 'health' },
  { method: 'GET', path: '/metrics', summary: 'Prometheus metrics', area: 'health' },
] as const satisfies readonly Endpoint[];

const PATTERNS = ENDPOINTS.map(({ method, path }) => ({
  method,
  pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}/?$`),
}));

/** Methods that `path` (without query) takes; empty when there is no such route. */
export function allowedMethods(path: string): readonly string[] {
  const methods = PATTERNS.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method);
  return methods.flatMap(method => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
}

const WORK = /^\/v1\/(audio\/(transcriptions|translations|speech)|chat\/completions|completions|embeddings)\/?$/;

/** Routes whose requests make workers work: they are what limits count and what can be answered later. */
export const isWork = (path: string): boolean => WORK.test(path);
