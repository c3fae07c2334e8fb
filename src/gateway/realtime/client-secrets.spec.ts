import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type FastifyReply } from 'fastify';
import { ownerOf } from '../../../test/support/live-session.js';
import { ShortLivedTokens } from '../../platform/auth/short-lived-tokens.js';
import { ModelList } from '../../platform/config/config.module.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { settingsFrom } from '../../platform/config/settings.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { ClientSecretsController } from './client-secrets.controller.js';
import { ClientSecrets } from './client-secrets.js';

const NOW_S = 1_700_000_000;
const OWNER = ownerOf('t', { keyId: 'k' });
const stt = (id: string, languages: readonly string[]) =>
  ({
    id,
    kind: 'stt',
    aliases: [`${id}-1`],
    capabilities: ['prompt'],
    languages,
  }) as unknown as ModelSpec;

beforeEach(() => void jest.useFakeTimers({ now: NOW_S * 1000 }));
afterEach(() => void jest.useRealTimers());

function secrets({ strict = false } = {}) {
  const tokens = new ShortLivedTokens(Buffer.alloc(32));
  const catalog = new ModelCatalog(new ModelList([stt('whisper', []), stt('other', ['en'])]));
  const made = new ClientSecrets(tokens, catalog, settingsFrom({ 'compat.strict': strict }));
  const headers: unknown[] = [];
  const reply = {
    header: (...header: string[]) => headers.push(header),
  } as unknown as FastifyReply;
  return { secrets: made, tokens, controller: new ClientSecretsController(made), reply, headers };
}
const SESSION = {
  type: 'transcription',
  model: 'other-1',
  audio: { input: { noise_reduction: {} } },
};

describe('a client secret', () => {
  it('is a token for live sessions of its key, valid for ten minutes', () => {
    const { secrets: made, tokens } = secrets();
    const { value, expiresAt, config, ignored } = made.create(undefined, OWNER);
    expect([expiresAt, config.model, ignored]).toEqual([NOW_S + 600, 'whisper-1', []]);
    expect(tokens.verify(value)).toMatchObject({
      tenant: 't',
      keyId: 'k',
      scopes: new Set(['realtime']),
    });
    expect(made.sessionOf(value)).toEqual(config);
    expect(made.sessionOf('sk-key')).toBeUndefined();
  });

  it('has the settings and the time that were asked for', () => {
    const { secrets: made } = secrets();
    const newer = made.create({ expires_after: { seconds: 60 }, session: SESSION }, OWNER);
    expect(newer).toMatchObject({
      expiresAt: NOW_S + 60,
      config: { model: 'other-1' },
      ignored: ['session.audio.input.noise_reduction'],
    });
    const older = {
      client_secret: { expires_at: { seconds: 90 } },
      input_audio_transcription: { model: 'other-1', language: 'en' },
    };
    expect(made.createOlder(older, OWNER)).toMatchObject({
      expiresAt: NOW_S + 90,
      config: { model: 'other-1', language: 'en' },
      ignored: [],
    });
    expect(made.createOlder(undefined, OWNER).expiresAt).toBe(NOW_S + 600);
  });

  it.each([
    [
      { session: { type: 'transcription', model: 'none' } },
      'session.audio.input.transcription.model',
    ],
    [{ expires_after: { seconds: 1 } }, 'expires_after.seconds'],
    [{ session: SESSION }, 'session.audio.input.noise_reduction'],
  ])('is refused where it asks for what is not there: %j', (body, param) => {
    expect(() => secrets({ strict: true }).secrets.create(body, OWNER)).toThrow(
      expect.objectContaining({ param }),
    );
  });

  it('holds 3 KiB of settings at most', () => {
    const { secrets: made } = secrets();
    const bodyOf = (length: number) => {
      const transcription = { prompt: 'a'.repeat(length) };
      return { session: { type: 'transcription', audio: { input: { transcription } } } };
    };
    const rest = JSON.stringify(made.create(bodyOf(0), OWNER).config).length;
    made.create(bodyOf(3072 - rest), OWNER);
    expect(() => made.create(bodyOf(3073 - rest), OWNER)).toThrow('must fit into 3072 bytes');
  });

  it('is answered with its session, in the dialect of its route', () => {
    const { controller, reply, headers } = secrets();
    const newer = controller.create(OWNER, { session: SESSION }, reply);
    expect(newer).toMatchObject({
      expires_at: NOW_S + 600,
      session: { id: expect.stringMatching(/^sess_[0-9a-f]{24}$/), type: 'transcription' },
    });
    expect(newer.value).toMatch(/^ek_/);
    expect(headers).toEqual([['x-switchyard-ignored', 'session.audio.input.noise_reduction']]);
    const older = controller.createOlder(OWNER, undefined, reply);
    expect(older).toMatchObject({
      input_audio_format: 'pcm16',
      expires_at: NOW_S + 600,
      client_secret: { value: expect.stringMatching(/^ek_/), expires_at: NOW_S + 600 },
    });
    expect(headers).toHaveLength(1);
  });
});
