import { describe, expect, it } from '@jest/globals';
import { defaultSession } from '../../../contracts/realtime/session-config.js';
import { RequestPriority } from '../../../core/request/request-priority.js';
import { ModelList } from '../../../platform/config/config.module.js';
import { type ModelSpec } from '../../../platform/config/model-spec.js';
import { settingsFrom } from '../../../platform/config/settings.js';
import { type InferenceService } from '../../inference/inference.service.js';
import { ModelCatalog } from '../../models/model-catalog.js';
import { WrittenForm } from '../../written-form/written-form.js';
import { SessionServices } from './session-services.js';

const stt = (id: string, languages: readonly string[], itn?: boolean) =>
  ({
    id,
    kind: 'stt',
    aliases: [`${id}-1`],
    capabilities: [],
    languages,
    itn,
  }) as unknown as ModelSpec;
const VOICE = {
  id: 'voice',
  kind: 'tts',
  aliases: ['tts-1'],
  capabilities: ['speed'],
  languages: [],
  voices: { alloy: 'a' },
} as unknown as ModelSpec;

function services() {
  const started: unknown[][] = [];
  const models = [stt('plain', ['en']), stt('one', ['en'], true), stt('many', [], true), VOICE];
  const made = new SessionServices(
    new ModelCatalog(new ModelList(models)),
    {
      start: (...given: unknown[]) => {
        started.push(given);
        return {};
      },
    } as unknown as InferenceService,
    undefined as never,
    settingsFrom({}),
    new WrittenForm([{ language: 'en', normalize: text => text.replace('five', '5') }]),
    undefined as never,
  );
  return { services: made, started };
}

describe('what live sessions use', () => {
  it.each([
    ['one-1', '', '5'],
    ['one', 'de', 'five'],
    ['many', '', 'five'],
    ['many', 'en', '5'],
    ['plain', 'en', 'five'],
  ])(
    'writes numbers where the model does and the language is known: %s %s',
    (model, language, text) => {
      const config = { ...defaultSession(model), language };
      expect(services().services.written('five', config)).toBe(text);
    },
  );

  it('knows a model by its alias', () => {
    expect(services().services.modelOf(defaultSession('one-1'))).toBe('one');
  });

  it('speaks as a request at REALTIME priority', () => {
    const { services: made, started } = services();
    const request = { id: 'r', text: 'hello', voice: 'alloy', speed: 1.2, metadata: null };
    made.speak(request, 't', { key: 'k' });
    expect(started[0]).toMatchObject([
      { id: 'r', tenant: 't', terms: { key: 'k' }, priority: RequestPriority.REALTIME },
      { model: 'voice', payload: { text: 'hello', speed: 1.2 } },
      {},
    ]);
  });
});
