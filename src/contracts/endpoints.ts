interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Path parameters in braces, as OpenAPI writes them. */
  readonly path: string;
  readonly summary: string;
  /** Heading in Swagger UI. */
  readonly area: string;
}

/** Summary of every route, by area. */
const ROUTES: Readonly<
  Record<string, Readonly<Record<`${Endpoint['method']} /${string}`, string>>>
> = {
  audio: {
    'POST /v1/audio/transcriptions': 'Audio to text',
    'POST /v1/audio/translations': 'Audio to English text',
    'POST /v1/audio/speech': 'Text to audio',
    'GET /v1/audio/voices': 'Voices of the speech models',
    'POST /asr': 'Audio to text, as whisper-asr-webservice',
    'POST /detect-language': 'Language of audio, likewise',
  },
  text: {
    'POST /v1/chat/completions': 'Messages to a message, streamed or whole',
    'POST /v1/messages': 'Messages to a message in blocks, streamed or whole',
    'POST /v1/messages/count_tokens': 'Tokens that the input of a message comes to',
    'POST /v1/responses': 'Items to items, streamed or whole',
    'POST /v1/responses/input_tokens': 'Tokens that the input of a response comes to',
    'POST /v1/responses/compact': 'A conversation to one that is shorter',
    'GET /v1/responses/{id}': 'A stored response, or the events of one that runs in the background',
    'GET /v1/responses/{id}/input_items': 'Items of the input of a stored response',
    'POST /v1/responses/{id}/cancel': 'Cancel a background response',
    'DELETE /v1/responses/{id}': 'Delete a stored response',
    'POST /v1/completions': 'Text to its continuation',
    'POST /v1/embeddings': 'Text to vectors',
    'POST /v1/rerank': 'How relevant documents are to a query',
    'POST /tokenize': 'Text to tokens of a model',
    'POST /detokenize': 'Tokens of a model to text',
  },
  ollama: {
    'POST /api/chat': 'Messages to a message, streamed or whole, as Ollama',
    'POST /api/generate': 'A prompt to its answer, likewise',
    'POST /api/embed': 'Text to vectors, likewise',
    'GET /api/tags': 'Models and their aliases, likewise',
    'GET /api/ps': 'Models that are loaded, likewise',
    'POST /api/show': 'What a model can do, likewise',
    'GET /api/version': 'Version of this gateway, likewise',
    'POST /api/pull': 'Refused, with the command that adds a model',
    'POST /api/push': 'Refused',
  },
  requests: {
    'POST /v1/audio/transcriptions/{id}/cancel': 'Cancel a transcription',
    'POST /v1/audio/translations/{id}/cancel': 'Cancel a translation',
    'POST /v1/audio/speech/{id}/cancel': 'Cancel a synthesis',
    'POST /v1/requests/{id}/cancel': 'Cancel any request',
    'GET /v1/requests/{id}': 'Where a request is and why it waits',
    'GET /v1/requests/{id}/explain':
      'What is ahead of a request, when it starts, what would change that',
    'GET /v1/requests/{id}/content': 'The answer of a request that was not waited for',
  },
  realtime: {
    'GET /events': 'Live feed: Socket.IO with `transports: ["websocket"]`',
    'POST /v1/realtime/client_secrets': 'Short-lived token for a browser',
    'POST /v1/realtime/transcription_sessions': 'The same in the older dialect',
  },
  files: {
    'POST /v1/files': 'Upload a file',
    'GET /v1/files': 'List files',
    'GET /v1/files/{id}': 'One file',
    'GET /v1/files/{id}/content': 'Bytes of a file, or a range of them',
    'DELETE /v1/files/{id}': 'Delete a file',
    'POST /v1/uploads': 'Begin a file that comes in parts',
    'POST /v1/uploads/{id}/parts': 'Add a part of at most 64 MiB',
    'POST /v1/uploads/{id}/complete': 'Make a file of the parts',
    'POST /v1/uploads/{id}/cancel': 'Forget the parts',
  },
  batches: {
    'POST /v1/batches': 'Run the lines of a file',
    'GET /v1/batches': 'List batches',
    'GET /v1/batches/{id}': 'One batch: status, counts, rate, ETA',
    'POST /v1/batches/{id}/cancel': 'Cancel a batch; what is done is kept',
    'POST /v1/batches/{id}/retry-failed': 'A new batch of the lines that failed',
    'DELETE /v1/batches/{id}': 'Delete a finished batch; its files stay',
  },
  models: {
    'GET /v1/models': 'Models and their aliases',
    'GET /v1/models/{id}': 'One model, by id or alias',
  },
  admin: {
    'GET /admin/v1/status': 'What this gateway does now, and what limits it',
    'GET /admin/v1/alerts': 'Alerts of the Prometheus in `console.prometheus_url`',
    'GET /admin/v1/doctor': 'What `switchyard doctor` finds on the machine of this gateway',
    'GET /admin/v1/settings': 'Effective settings and where each came from',
    'GET /admin/v1/logs': 'Last lines of the log of this gateway, or all from now on',
    'GET /admin/v1/workers/{id}/log':
      'Last lines that a worker wrote, and what happened to its process',
    'GET /admin/v1/history': 'The last hour in steps of 10 s',
    'GET /admin/v1/queue': 'Depth by model and priority, bounds, oldest wait',
    'GET /admin/v1/devices': 'Devices that models share: what is on them, and what waits for what',
    'GET /admin/v1/models': 'Models: loaded or not, their workers, when last used',
    'GET /admin/v1/catalogue': 'Models of the catalogue that have files to download',
    'GET /admin/v1/catalogue/additions': 'Models that are being added, and how the last ones ended',
    'POST /admin/v1/catalogue/{name}/add': 'Download a model of the catalogue and serve it',
    'POST /admin/v1/catalogue/{name}/progress':
      'Show how far another program is that fetches a model',
    'POST /admin/v1/catalogue/{name}/cancel':
      'Stop the download of a model; what has arrived is kept',
    'POST /admin/v1/models/reload': 'Serve the models file as it is now',
    'POST /admin/v1/models/{id}/load': 'Start the workers of a model',
    'POST /admin/v1/models/{id}/unload': 'Stop the workers of a model',
    'GET /admin/v1/requests': 'List requests',
    'GET /admin/v1/requests/{id}': 'One request, and why it waits',
    'GET /admin/v1/requests/{id}/explain': 'The same for a request of any tenant',
    'POST /admin/v1/requests/cancel': 'Cancel many requests',
    'POST /admin/v1/requests/{id}/cancel': 'Cancel one request',
    'POST /admin/v1/requests/{id}/priority': 'Give a waiting request another priority',
    'GET /admin/v1/workers': 'Workers: state, slots, restarts, how the last one ended',
    'POST /admin/v1/workers/{id}/drain': 'Send a worker nothing more until it is resumed',
    'POST /admin/v1/workers/{id}/resume': 'Send a drained worker requests again',
    'POST /admin/v1/workers/{id}/restart': 'Drain a worker, replace its process, and resume it',
    'GET /admin/v1/keys': 'API keys, without their secrets',
    'POST /admin/v1/keys': 'Create an API key',
    'PATCH /admin/v1/keys/{id}': 'Change name, scopes, models, limits or expiry of an API key',
    'POST /admin/v1/keys/{id}/rotate': 'Replace the secret of an API key',
    'DELETE /admin/v1/keys/{id}': 'Revoke an API key',
    'GET /admin/v1/tenants': 'Tenants: their keys, limits and usage of today',
    'GET /admin/v1/usage': 'Usage by day, tenant, key and model',
    'GET /admin/v1/audit': 'Who changed what, newest first',
    'GET /admin/v1/sessions': 'Live sessions of this gateway',
    'POST /admin/v1/sessions/{id}/end': 'End a live session',
    'GET /admin/v1/dependencies':
      'Redis, database and blob store as last probed, and why one is down',
  },
  console: {
    'GET /console': 'The console: what the server is doing, in a browser',
    'GET /console/{view}': 'A view of the console',
    'GET /console/{view}/{id}': 'One request or batch in the console',
    'GET /console/assets/{file}': 'Scripts and styles of the console',
    'GET /console/session': 'Who is signed in at the console',
    'POST /console/session': 'Sign in with a key; sets a cookie',
    'DELETE /console/session': 'Sign out',
  },
  health: {
    'GET /': 'Where API and documentation are',
    'GET /health': 'Summary for people: models, workers, draining',
    'GET /health/live': '200 while the process serves',
    'GET /health/ready': '200 while requests can be served, else 503',
    'GET /healthz': 'Alias of /health/live',
    'GET /readyz': 'Alias of /health/ready',
    'GET /metrics': 'Prometheus metrics',
  },
};

/**
 * Every route of the gateway. A spec proves this table, Nest's routes and the
 * OpenAPI paths equal.
 */
export const ENDPOINTS: readonly Endpoint[] = Object.entries(ROUTES).flatMap(([area, routes]) =>
  Object.entries(routes).map(([route, summary]) => {
    const [method, path = ''] = route.split(' ');
    return { method: method as Endpoint['method'], path, summary, area };
  }),
);

const PATTERNS = ENDPOINTS.map(({ method, path }) => ({
  methods: method === 'GET' ? ['GET', 'HEAD'] : [method],
  pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}/?$`),
}));

/** Methods that `path` (without query) takes; empty when there is no such route. */
export function allowedMethods(path: string): readonly string[] {
  return PATTERNS.filter(({ pattern }) => pattern.test(path)).flatMap(({ methods }) => methods);
}

const TEXT_WORK =
  'chat/completions|messages(/count_tokens)?|responses(/(input_tokens|compact))?|completions|embeddings|rerank';
const WORK = new RegExp(
  `^/(v1/(audio/(transcriptions|translations|speech)|${TEXT_WORK})|api/(chat|generate|embed))/?$`,
);

/** Routes whose requests can be answered later, and answered again to a repeated key. */
export const isWork = (path: string): boolean => WORK.test(path);
