import { describe, expect, it } from '@jest/globals';
import { syntheticModel } from '../../../test/support/synthetic-model.js';
import {
  anything,
  type FieldRule,
  honoured,
  PASSED_ON,
} from '../../contracts/openai/field-types.js';
import { Field, PassesOn } from '../../contracts/openai/field.decorators.js';
import { ModelList } from '../../platform/config/config.module.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import {
  cannotHonour,
  demandAbilities,
  demandLanguage,
  knownCandidate,
  requestParser,
} from './model-abilities.js';
import { ModelCatalog } from './model-catalog.js';

const rule = (
  treatment: FieldRule['treatment'],
  capability?: string,
  value?: string,
): FieldRule => ({
  treatment,
  why: 'so it is',
  ...(capability !== undefined && { capability }),
  ...(value !== undefined && { value }),
});

@PassesOn({
  grammar: rule('meaning', PASSED_ON),
  sampler: rule('advice', PASSED_ON),
})
class AskDto {
  @Field(anything({}), { rule: honoured() })
  model = '';

  @Field(anything({}), { rule: rule('meaning', 'speakers') })
  speakers: unknown = 1;

  @Field(anything({}), { rule: rule('meaning', 'sse', 'sse') })
  format: unknown;

  @Field(anything({}), { rule: rule('advice', 'hints') })
  hint: unknown = '';

  @Field(anything({}), { rule: rule('honoured', 'nothing') })
  plain: unknown;

  @Field(anything({}), { rule: rule('meaning') })
  always: unknown;
}

const model = (fields: Partial<ModelSpec> = {}): ModelSpec =>
  syntheticModel({}, { id: 'one', kind: 'llm', capabilities: [], ...fields });
const able = model({ id: 'able', capabilities: ['speakers', 'sse', 'hints'] });
const upstream = model({ id: 'upstream', engine: 'openai-http' });
const catalog = new ModelCatalog(new ModelList([model(), able, upstream]));

const dtoOf = (fields: object): AskDto => Object.assign(new AskDto(), fields);

const demanded = (
  fields: object,
  { spec = model(), strict = false, asked }: Asking = {},
): readonly string[] | string => {
  try {
    const body = fields as Readonly<Record<string, unknown>>;
    const wanted = { dto: dtoOf(fields), body, ...(asked && { asked }) };
    return demandAbilities(spec, wanted, catalog, { strict });
  } catch (error) {
    return (error as Error).message;
  }
};
interface Asking {
  readonly spec?: ModelSpec;
  readonly strict?: boolean;
  readonly asked?: Readonly<Record<string, boolean>>;
}

const cannot = (shown: string): string =>
  `The model \`one\` cannot honour \`${shown}\`; models that can: able.`;

describe('what a request asks of a model', () => {
  it.each<[string, object, readonly string[] | string]>([
    ['its usual value', { speakers: 1 }, []],
    ['an empty list', { speakers: [] }, []],
    ['another value', { speakers: 2 }, cannot('speakers')],
    ['a list', { speakers: ['a'] }, cannot('speakers')],
    ['another than the one value that needs it', { format: 'audio' }, []],
    ['the one value that needs it', { format: 'sse' }, cannot('format=sse')],
    ['a list with that value', { format: ['audio', 'sse'] }, cannot('format')],
    ['a list without it', { format: ['audio'] }, []],
    ['text that holds that value', { format: 'sse and more' }, []],
    ['what only advises', { hint: 'h' }, ['hint']],
    ['what every model honours', { plain: 1, always: 1 }, []],
    ['what only a server behind the gateway could use', { sampler: { top: 1 } }, ['sampler']],
    ['nothing of it', { sampler: {} }, []],
    ['nothing at all of it', { sampler: 0 }, []],
    ['text of it', { sampler: 'x' }, ['sampler']],
    ['what that server would refuse', { grammar: 'g' }, []],
    ['what nothing knows', { unheard: 1 }, ['unheard']],
    ['a priority of another server', { priority: 7 }, ['priority']],
  ])('%s: %j gives %j', (_, fields, result) => {
    expect(demanded(fields)).toEqual(result);
  });

  it('is nothing to a model that can', () => {
    expect(demanded({ speakers: 2, format: 'sse', hint: 'h' }, { spec: able })).toEqual([]);
  });

  it('is passed on to a server that may know it, but for the priority', () => {
    const fields = { sampler: 1, unheard: 1, priority: 7 };
    expect(demanded(fields, { spec: upstream })).toEqual(['priority']);
  });

  it('is refused where nothing may be ignored', () => {
    expect(demanded({ hint: 'h' }, { strict: true })).toBe(cannot('hint'));
    expect(demanded({ unheard: 1 }, { strict: true })).toMatch(/unheard/);
    const dto = dtoOf({ hint: 'h' });
    expect(demandAbilities(model(), { dto }, catalog)).toEqual(['hint']);
  });

  it('may be decided by who reads the request', () => {
    expect(demanded({ speakers: 2 }, { asked: { speakers: false } })).toEqual([]);
    expect(demanded({}, { asked: { speakers: true } })).toBe(cannot('speakers'));
  });

  it('is read of a body that names its model', () => {
    const parse = requestParser(AskDto, 'llm');
    expect(parse({ model: 'able', unheard: 1 }, catalog)).toMatchObject({
      model: able,
      dto: { model: 'able' },
      ignored: ['unheard'],
    });
    expect(() => parse({ model: 'one', hint: 'h' }, catalog, { strict: true })).toThrow(
      cannot('hint'),
    );
  });

  it('names the field where nothing else is shown', () => {
    const field = { capability: 'speakers', param: 'speakers' };
    expect(cannotHonour(model(), field, catalog).message).toBe(cannot('speakers'));
  });
});

describe('languages', () => {
  const german = model({ languages: ['de', 'EN-us'] });

  it.each([
    [german, ''],
    [german, 'DE-at'],
    [german, 'en'],
    [model(), 'tlh'],
  ])('are compared without regions, and a model without a list takes any', (spec, language) => {
    expect(() => demandLanguage(spec, language)).not.toThrow();
  });

  it('name those that a model recognises', () => {
    expect(() => demandLanguage(german, 'fr')).toThrow(
      '`language` must be one that `one` recognises (de, EN-us); got "fr".',
    );
  });

  it.each([
    [['fr', 'de'], 'de'],
    [['de', 'en'], undefined],
  ])('of candidates %j are reduced to %p', (languages, known) => {
    expect(knownCandidate(german, languages)).toBe(known);
  });

  it('of candidates need one that the model recognises', () => {
    expect(() => knownCandidate(german, ['fr', 'it'], 'languages')).toThrow(
      '`languages` must be one that `one` recognises (de, EN-us); got "fr".',
    );
    expect(knownCandidate(german, [])).toBeUndefined();
  });
});
