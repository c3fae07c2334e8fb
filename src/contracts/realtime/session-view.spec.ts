import { describe, expect, it } from '@jest/globals';
import { DomainError } from '../../core/errors/domain-error.js';
import { errorEvent, inDialect } from './realtime-event.js';
import { defaultSession, readOlderSession, readSession } from './session-config.js';
import { sessionView } from './session-view.js';

const FACTS = { id: 'sess_1', expiresAt: 1_700_000_000, idleTimeoutSeconds: 300 };
const CONFIG = {
  ...defaultSession('m'),
  format: { encoding: 'g711_alaw', sampleRate: 8000 } as const,
  language: 'en',
  turnDetection: null,
};

describe('a session as it is shown', () => {
  it('can be sent back as an update that changes nothing, in either dialect', () => {
    const ga = sessionView(CONFIG, FACTS, 'ga');
    expect(
      readSession({ type: ga.type, audio: ga.audio, include: ga.include }, defaultSession('other')),
    ).toEqual(CONFIG);
    const {
      id: _id,
      object: _object,
      expires_at: _end,
      idle_timeout_seconds: _idle,
      ...older
    } = sessionView(CONFIG, FACTS, 'older');
    expect(readOlderSession(older, defaultSession('other'))).toEqual(CONFIG);
  });

  it('has its end and its idle timeout, and how to resume it only where that is given', () => {
    expect(sessionView(CONFIG, FACTS, 'ga')).toMatchObject({
      expires_at: 1_700_000_000,
      idle_timeout_seconds: 300,
    });
    expect(sessionView(CONFIG, FACTS, 'ga')).not.toHaveProperty('resume');
  });
});

describe('server events', () => {
  it.each([
    ['conversation.item.added', 'conversation.item.created'],
    ['conversation.item.done', undefined],
    ['response.output_audio.delta', 'response.audio.delta'],
    ['input_audio_buffer.committed', 'input_audio_buffer.committed'],
  ])('%s is %s in the older dialect, and itself in GA', (type, older) => {
    expect(inDialect({ type }, 'older')?.type).toBe(older);
    expect(inDialect({ type }, 'ga')).toEqual({ type });
  });

  it('of errors name field and event, and when to try again where that helps', () => {
    const wrong = errorEvent(new DomainError('invalid_value', 'No.', { param: 'x' }), 'mine');
    expect(wrong.error).toEqual({
      type: 'invalid_request_error',
      code: 'invalid_value',
      message: 'No.',
      param: 'x',
      event_id: 'mine',
    });
    const full = errorEvent(new DomainError('queue_full', 'Full.', { retryAfterMs: 1234.5 }));
    expect(full.error).toMatchObject({ param: null, event_id: null, retry_after_ms: 1235 });
  });
});
