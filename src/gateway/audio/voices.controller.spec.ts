import { describe, expect, it } from '@jest/globals';
import { ownerOf } from '../../../test/support/live-session.js';
import { ModelList } from '../../platform/config/config.module.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { VoicesController } from './voices.controller.js';

const modelOf = (id: string, kind: string, voices: object) =>
  ({ id, kind, aliases: [`${id}-1`], capabilities: [], voices }) as unknown as ModelSpec;
const controller = new VoicesController(
  new ModelCatalog(
    new ModelList([
      modelOf('a', 'tts', { alloy: 'x', nova: 'y' }),
      modelOf('b', 'tts', { joe: 'z' }),
      modelOf('ears', 'stt', { none: 'z' }),
    ]),
  ),
);
const listed = (model?: unknown, models?: readonly string[]) =>
  controller
    .list(ownerOf('t', models && { terms: { key: 'k', models } }), model)
    .voices.map(voice => `${voice.model} ${voice.id} ${voice.name}`);

describe('the list of voices', () => {
  it.each([
    [undefined, undefined, ['a alloy alloy', 'a nova nova', 'b joe joe']],
    ['b-1', undefined, ['b joe joe']],
    [undefined, ['b'], ['b joe joe']],
    ['b', ['b'], ['b joe joe']],
  ])('has those of the models that a key may use: %s %j', (model, models, voices) => {
    expect(listed(model, models)).toEqual(voices);
  });

  it.each([
    ['a', ['b'], 'model_not_found'],
    ['ears', undefined, 'model_kind_mismatch'],
    [['a', 'b'], undefined, 'invalid_value'],
  ])('is refused for another model: %j %j', (model, models, code) => {
    expect(() => listed(model, models)).toThrow(expect.objectContaining({ code }));
  });
});
