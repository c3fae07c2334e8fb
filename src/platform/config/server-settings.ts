import { bytes, choice, count, DAY_MS, flag, GIB, MIB, ms, text } from './setting-definition.js';

/** How the gateway listens, who may call it, how much, and what it stores of requests. */
export const SERVER_SETTINGS = {
  'server.host': text('127.0.0.1', 'Address the gateway listens on.'),
  'server.port': count(
    8000,
    0,
    65_535,
    'Port the gateway listens on; 0 takes any free one. Alias: PORT.',
  ),
  'server.upload_limit_bytes': bytes(
    25 * MIB,
    1,
    GIB,
    'Maximum upload size. The limits of the spool and of gRPC follow from it.',
  ),
  'server.json_limit_bytes': bytes(
    8 * MIB,
    1024,
    GIB,
    'Maximum size of a JSON body on any route. It may have 256 levels, 100,000 nodes and 1,000,000 entries.',
  ),
  'server.body_timeout_ms': ms(
    30_000,
    100,
    DAY_MS,
    'A request body slower than 512 bytes per second for this long ends with 408.',
  ),
  'server.body_limit_ms': ms(
    600_000,
    100,
    DAY_MS,
    'A request body that takes longer than this ends with 408, whatever its rate.',
  ),
  'server.max_receiving': count(
    500,
    1,
    1_000_000,
    'Maximum inference requests that are received and not queued yet; further ones get 429.',
  ),
  'server.shutdown_grace_ms': ms(
    10_000,
    0,
    600_000,
    'How long shutdown waits for requests that run on workers.',
  ),
  'server.docs': flag(true, 'Serve Swagger UI at /docs.'),
  'server.cors_origins': text(
    '',
    'Web pages that may call from a browser: comma-separated origins, such as https://app.example or ' +
      'tauri://localhost, or *.',
  ),
  'server.trusted_proxies': text(
    '',
    'Proxies in front, comma-separated addresses and networks: their X-Forwarded-For and X-Forwarded-Proto are believed.',
  ),
  'server.allowed_hosts': text(
    '',
    'Without API keys: comma-separated Host values accepted besides this machine, without port; * = any.',
  ),
  'auth.keys_file': text(
    '',
    'File of API keys. Empty: no keys on loopback; beyond it a first key, in the database or keys.yaml of data.dir.',
  ),
  'auth.key': text(
    '',
    'One key that may do everything, of the tenant default, in place of a keys file; best set by its variable.',
  ),
  'auth.required': flag(
    false,
    'Require an API key on loopback too, as the first key of the database does.',
  ),
  'auth.allow_anonymous': flag(
    false,
    'Listen beyond loopback without keys: access is controlled elsewhere, for example by a proxy.',
  ),
  'auth.public_metrics': flag(
    false,
    'Serve /metrics without a key; otherwise it requires the scope admin.',
  ),
  'auth.token_secret_file': text(
    '',
    'File with the secret of short-lived tokens, the same for all replicas; empty: random per process.',
  ),
  'auth.previous_token_secret_file': text(
    '',
    'File with the former secret, whose tokens are accepted too while it is replaced.',
  ),
  'auth.failures_per_minute': count(
    100,
    0,
    1_000_000,
    'Wrong keys per minute from one address before it gets 429 instead of 401; 0 = unlimited. Valid ' +
      'keys are never throttled.',
  ),
  'auth.forwarded_users_from': text(
    '',
    'Key ids, addresses and networks, comma-separated: each user that they name in X-OpenWebUI-User-Id is a tenant.',
  ),
  'auth.oidc_issuer': text(
    '',
    'OpenID Connect issuer whose JWTs are accepted as keys: its URL, exactly as their claim `iss` has it. Empty: none.',
  ),
  'auth.oidc_audience': text(
    '',
    'Audiences (`aud`) of accepted JWTs, comma-separated; required with an issuer.',
  ),
  'auth.oidc_jwks_url': text('', "URL of the issuer's keys; empty: from its discovery document."),
  'auth.oidc_algorithms': text(
    'RS256,PS256,ES256,EdDSA',
    'Accepted signature algorithms, comma-separated; asymmetric ones only.',
  ),
  'auth.oidc_tenant_claim': text(
    '',
    'Claim with the tenant, a dotted path such as org.id; empty: tenant default.',
  ),
  'auth.oidc_scopes_claim': text(
    'scope',
    'Claim with the scopes: a list, or a text with spaces; may be a dotted path.',
  ),
  'auth.oidc_scope_prefix': text(
    '',
    'What precedes inference, admin and events in that claim, such as switchyard: or nothing.',
  ),
  'console.prometheus_url': text(
    '',
    'Prometheus whose alerts the console shows, such as http://prometheus:9090.',
  ),
  'console.trace_url': text(
    '',
    'Where the console links a request to its trace or logs; {request_id} becomes its id.',
  ),
  'console.manual_url': text(
    '',
    'Where this manual is published; the console links to its runbook.',
  ),
  'metrics.tenants': text(
    'off',
    'Tenants with their own metrics: off, top-N (the busiest), or comma-separated names; all others ' +
      'count as `other`.',
  ),
  'usage.keep_days': count(400, 1, 3650, 'Days for which usage is kept.'),
  'audit.keep_days': count(90, 1, 3650, 'Days for which the audit log is kept.'),
  'limits.requests_per_minute': count(
    0,
    0,
    1e9,
    'Requests of one tenant per minute; 0 = unlimited.',
  ),
  'limits.tokens_per_minute': count(
    0,
    0,
    1e9,
    'Tokens of one tenant per minute, prompts and answers; 0 = unlimited.',
  ),
  'limits.audio_seconds_per_minute': count(
    0,
    0,
    1e9,
    'Seconds of audio of one tenant per minute, input and output; 0 = unlimited.',
  ),
  'limits.concurrent_requests': count(
    0,
    0,
    1e9,
    'Concurrent requests and live sessions of one tenant; 0 = unlimited.',
  ),
  'limits.requests_per_day': count(0, 0, 1e9, 'Requests of one tenant per UTC day; 0 = unlimited.'),
  'requests.idempotency': choice(
    ['auto', 'key', 'request_id', 'off'],
    'auto',
    'key: a retry with the same Idempotency-Key gets the stored answer; request_id: also by ' +
      'X-Request-Id; auto: request_id with a database.url, else key.',
  ),
  'requests.keep_ms': ms(
    DAY_MS,
    1000,
    30 * DAY_MS,
    'How long answers are stored for retries and for respond-async.',
  ),
  'requests.join_ms': ms(
    60_000,
    0,
    DAY_MS,
    'How long a retry waits for the first attempt before it gets 409.',
  ),
  'requests.lease_ms': ms(
    15_000,
    500,
    DAY_MS,
    'When a gateway is silent for this long, its async requests move to another gateway.',
  ),
  'responses.store': flag(
    true,
    'Store responses unless a request says `store: false`; false: none is stored, continued or run in the background.',
  ),
  'responses.keep_ms': ms(
    30 * DAY_MS,
    1000,
    3650 * DAY_MS,
    'How long responses are stored after their creation.',
  ),
  'responses.tenant_quota_bytes': bytes(
    0,
    0,
    1024 * 1024 * GIB,
    'Maximum total size of the stored responses of one tenant, inputs and outputs as JSON; 0 = unlimited.',
  ),
  'responses.conversation_length': count(
    1000,
    1,
    100_000,
    'Maximum responses in one conversation.',
  ),
  'responses.conversation_bytes': bytes(
    16 * MIB,
    1024,
    GIB,
    'Maximum size of the inputs and outputs of one conversation, as JSON.',
  ),
  'responses.background_ms': ms(
    DAY_MS,
    1000,
    30 * DAY_MS,
    'How long a background response waits for a worker.',
  ),
  'data.dir': text(
    './data',
    'Folder for spooled uploads, files, batches and their database; created if missing.',
  ),
  'spool.memory_bytes': bytes(
    262_144,
    0,
    64 * MIB,
    'Uploads up to this size stay in memory, larger ones in data.dir.',
  ),
  'fetch.timeout_ms': ms(
    30_000,
    1,
    DAY_MS,
    'Time limit for a worker to download a `file_url`, redirects included.',
  ),
  'fetch.allow_hosts': text(
    '',
    'Private addresses that `file_url` may name: comma-separated host, host:port or network/prefix.',
  ),
};
