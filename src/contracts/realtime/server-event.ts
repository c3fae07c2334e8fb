import { type DomainError } from '../../core/errors/domain-error.js';
import { errorDefinition } from '../errors/error-registry.js';
import { type Dialect } from './session-view.js';

/** A server event without its `event_id`, which it gets when it is sent. */
export interface ServerEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** GA names whose older spelling differs. */
const OLDER_NAMES: Readonly<Record<string, string>> = {
  'conversation.item.added': 'conversation.item.created',
  'response.output_audio.delta': 'response.audio.delta',
  'response.output_audio.done': 'response.audio.done',
  'response.output_audio_transcript.delta': 'response.audio_transcript.delta',
  'response.output_audio_transcript.done': 'response.audio_transcript.done',
};

/** The event as `dialect` spells it; undefined when it has no such event. */
export function inDialect(event: ServerEvent, dialect: Dialect): ServerEvent | undefined {
  if (dialect === 'ga') return event;
  if (event.type === 'conversation.item.done') return undefined;
  const type = OLDER_NAMES[event.type];
  return type === undefined ? event : { ...event, type };
}

/** @param eventId the client event at fault, where one is */
export const errorEvent = (error: DomainError, eventId?: string): ServerEvent => ({
  type: 'error',
  error: {
    type: errorDefinition(error).type,
    code: error.code,
    message: error.message,
    param: error.param ?? null,
    event_id: eventId ?? null,
    ...(errorDefinition(error).retry === 'later' && {
      retry_after_ms: Math.round(error.retryAfterMs ?? 1000),
    }),
  },
});

/** An extension: a notice while the session continues. Official clients ignore it. */
export const warningEvent = (code: string, message: string): ServerEvent => ({
  type: 'session.warning',
  warning: { code, message },
});

/** A field that only advises was accepted and has no effect (D-34). */
export const ignoredWarning = (paths: readonly string[]): ServerEvent => ({
  type: 'session.warning',
  warning: {
    code: 'fields_ignored',
    message: `Accepted without effect: ${paths.join(', ')}.`,
    params: paths,
  },
});

/** Speech of the user as an item of the conversation. */
export const userItem = (
  id: string,
  transcript: string | null,
): Record<string, unknown> => ({
  id,
  object: 'realtime.item',
  type: 'message',
  status: 'completed',
  role: 'user',
  content: [{ type: 'input_audio', transcript }],
});

/** Speech of a response as an item of the conversation. */
export const assistantItem = (
  id: string,
  status: string,
  transcript?: string,
): Record<string, unknown> => ({
  id,
  object: 'realtime.item',
  type: 'message',
  status,
  role: 'assistant',
  content: transcript === undefined ? [] : [{ type: 'output_audio', transcript }],
});
