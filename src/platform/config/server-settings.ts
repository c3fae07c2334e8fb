import { bytes, count, DAY_MS, flag, GIB, MIB, ms, type SettingDefinition, text } from './setting-definition.js';

/** How the gateway listens, and who may call it. */
export const SERVER_SETTINGS = {
  'server.host': text('127.0.0.1', 'Address the gateway listens on.'),
  'server.port': count(8000, 0, 65_535, 'Port the gateway listens on; 0 takes any free one.'),
  'server.upload_limit_bytes': bytes(
    25 * MIB,
    1,
    GIB,
    'Largest upload. Every other limit (spool, both gRPC sides) follows from it.',
  ),
  'server.json_limit_bytes': bytes(
    8 * MIB,
    1024,
    GIB,
    'Largest JSON body, of any route. It also has at most 256 levels, 100,000 nodes and 1,000,000 entries.',
  ),
  'server.body_timeout_ms': ms(
    30_000,
    100,
    DAY_MS,
    'A request body that brings less than server.body_min_rate over this long is ended with 408.',
  ),
  'server.body_min_rate': bytes(
    512,
    0,
    GIB,
    'Least rate of a request body, per second; 0 = it may only not be silent.',
  ),
  'server.shutdown_grace_ms': ms(10_000, 0, 600_000, 'How long a drain waits for requests that workers already have.'),
  'server.docs': flag(true, 'Serve Swagger UI at /docs.'),
  'server.cors_origins': text(
    '',
    'Web pages that may call from a browser: origins with commas, tauri://localhost too, or *.',
  ),
  'server.allowed_hosts': text(
    '',
    'Without API keys: values of Host that are served besides this machine, comma-separated, without port; * = any.',
  ),
  'auth.keys_file': text(
    '',
    'API keys: id, tenant, scopes, hash. Empty: none on loopback; beyond it keys.yaml in data.dir, made at the first start.',
  ),
  'auth.allow_anonymous': flag(
    false,
    'Listen beyond loopback without keys: access is controlled elsewhere, for example by a proxy.',
  ),
  'auth.public_metrics': flag(false, 'Serve /metrics without a key; else it asks for the scope admin.'),
  'auth.token_secret_file': text(
    '',
    'Secret of short-lived tokens, the same for all replicas; empty: one per process.',
  ),
  'auth.failures_per_minute': count(
    100,
    0,
    1_000_000,
    'Wrong keys from one address until it is told 429 instead of 401; 0: without end. Right keys are let in anyway.',
  ),
  'metrics.tenants': text(
    'off',
    'Who has metrics of their own: off, top-N (who sends most), or names of tenants with commas; others are `other`.',
  ),
} as const satisfies Record<string, SettingDefinition>;
