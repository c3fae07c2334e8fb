import {
  bytes,
  count,
  DAY_MS,
  flag,
  GIB,
  MIB,
  ms,
  type SettingDefinition,
} from './setting-definition.js';

/** Stored responses (`/v1/responses`). */
export const RESPONSE_SETTINGS = {
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
  'responses.keep_events_ms': ms(
    DAY_MS,
    1000,
    3650 * DAY_MS,
    'How long the events of a background response can be streamed again after its end.',
  ),
  'responses.tenant_quota_bytes': bytes(
    0,
    0,
    1024 * 1024 * GIB,
    'Maximum total size of the inputs and outputs of the stored responses of one tenant, as JSON; 0 = unlimited.',
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
  'responses.flush_ms': ms(
    50,
    0,
    10_000,
    'How long events of background responses are collected for one transaction.',
  ),
  'responses.flush_bytes': bytes(
    65_536,
    1024,
    64 * MIB,
    'Size of the collected events of one response at which they are written immediately.',
  ),
  'responses.background_ms': ms(
    DAY_MS,
    1000,
    30 * DAY_MS,
    'How long a background response waits for a worker before it fails.',
  ),
} as const satisfies Record<string, SettingDefinition>;
