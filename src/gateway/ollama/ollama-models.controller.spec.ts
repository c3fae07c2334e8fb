import { expect, it } from '@jest/globals';
import { ANYBODY } from '../../platform/auth/principal.js';
import { ModelList } from '../../platform/config/config.module.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { type AllWorkers } from '../shared-queue/all-workers.js';
import { OllamaModelsController } from './ollama-models.controller.js';

const model = (id: string, kind: ModelSpec['kind']) =>
  ({ id, kind, engine: 'synthetic', aliases: [], capabilities: [] }) as unknown as ModelSpec;
const [chat, other, ears] = [
  model('chat', 'llm'),
  model('other', 'embedding'),
  model('ears', 'stt'),
];
const controller = new OllamaModelsController(
  new ModelCatalog(new ModelList([chat, other, ears])),
  {
    model: (id: string) => ({ state: id === 'chat' ? 'loaded' : 'unloaded' }),
  } as unknown as AllWorkers,
);

it.each([
  [undefined, ['chat', 'other'], ['chat']],
  [['other', 'ears'], ['other'], []],
])(
  'a key for %j sees the models of texts that it may use, and those that are loaded',
  (models, tags, loaded) => {
    const caller = { ...ANYBODY, ...(models && { terms: { key: 'k', models } }) };
    const names = (list: { models: { name: string }[] }) => list.models.map(({ name }) => name);
    expect(names(controller.tags(caller))).toEqual(tags);
    expect(names(controller.loaded(caller))).toEqual(loaded);
  },
);
