import 'reflect-metadata';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { type TextBackend } from '@switchyard/engine-api/text-backend.port.js';
import { ENDPOINTS } from '../../../src/contracts/endpoints.js';
import { type FieldRule, PASSED_ON } from '../../../src/contracts/openai/field-types.js';
import { IgnoredFields } from '../../../src/contracts/openai/ignored-fields.js';
import { openEnvelope, readClientEvent } from '../../../src/contracts/realtime/realtime-event.js';
import {
  defaultSession,
  readOlderSession,
  readSession,
} from '../../../src/contracts/realtime/session-config.js';
import {
  EVENT_FIELDS,
  OLDER_SESSION_FIELDS,
  REALTIME_QUERY,
  SESSION_FIELDS,
} from '../../../src/contracts/realtime/session-fields.js';
import { REQUEST_DTOS, REQUEST_FIELDS } from '../../../src/gateway/http/openapi/request-fields.js';
import { ModelCatalog } from '../../../src/gateway/models/model-catalog.js';
import { ModelList } from '../../../src/platform/config/config.module.js';
import { type ModelSpec } from '../../../src/platform/config/model-spec.js';
import { type GenerateItem } from '../../../src/worker/engines/text-generator.js';
import { ContinuousGenerator } from '../../../src/worker/generation/continuous-generator.js';
import { parseGenerationParams } from '../../../src/worker/generation/generation-params.js';
import { syntheticModel } from '../../support/synthetic-model.js';
import { NOT_PARSED, PARSED } from './parsed-routes.js';

type Route = keyof typeof REQUEST_FIELDS;
type Body = Readonly<Record<string, unknown>>;

type Dto = new () => object;
type DescribedRoute = Exclude<keyof typeof REQUEST_DTOS, 'GET /v1/audio/voices'>;

/** The voices have one parameter, which their controller describes. */
const DESCRIBED = Object.keys(REQUEST_DTOS).filter(
  route => route !== 'GET /v1/audio/voices',
) as DescribedRoute[];

const propertiesOf = (dto: Dto) => {
  const names = Reflect.getMetadata(
    'swagger/apiModelPropertiesArray',
    dto.prototype as object,
  ) as readonly string[];
  return names.map(name => name.slice(1));
};
const rulesOf = (route: Route): (readonly [string, FieldRule])[] =>
  Object.entries(REQUEST_FIELDS[route]);
/** Read without a class that declares them. */
const beyondDto = ({ byEngine, capability, treatment }: FieldRule, declared: boolean) =>
  byEngine === true ||
  treatment === 'refused' ||
  ((capability === PASSED_ON || treatment === 'ignored') && !declared);
/** Of a field in an object. */
const isInner = (name: string) => name.includes('.');
const refusal = (param: string) =>
  expect.objectContaining({ code: 'unsupported_parameter', param });

describe('the table of fields', () => {
  it.each(DESCRIBED)('has every field that %s declares, and no other', route => {
    const properties = new Set(REQUEST_DTOS[route].flatMap(propertiesOf));
    const described = rulesOf(route).filter(
      ([name, rule]) => !isInner(name) && !beyondDto(rule, properties.has(name)),
    );
    expect(described.map(([name]) => name).sort()).toEqual([...properties].sort());
  });

  it('is walked for every route, or says why not', () => {
    const routes = Object.keys(REQUEST_FIELDS).filter(route => route.startsWith('POST'));
    expect([...Object.keys(PARSED), ...Object.keys(NOT_PARSED)].sort()).toEqual(routes.sort());
  });

  it('has every public route that takes a body', () => {
    const bodyless = /\/(cancel|retry-failed)$|^\/v1\/realtime\//;
    const posts = ENDPOINTS.filter(
      ({ method, path }) => method === 'POST' && !/^\/(admin|console)\//.test(path),
    );
    const expected = posts
      .filter(({ path }) => !bodyless.test(path))
      .map(({ method, path }) => `${method} ${path}`);
    const described = Object.keys(REQUEST_FIELDS).filter(route => route.startsWith('POST'));
    expect(described.sort()).toEqual(expected.sort());
  });
});

const bare = (
  id: string,
  kind: ModelSpec['kind'],
  capabilities: readonly string[],
  engine: ModelSpec['engine'] = 'synthetic',
) => syntheticModel({}, { id, kind, capabilities, engine, replicas: 0 });

/** What an engine refuses of a field, where an object is right. */
const WRONG: Readonly<Record<string, unknown>> = {
  guided_json: 5,
  json_schema: 5,
  chat_template_kwargs: 5,
  structured_outputs: { choice: 5 },
};

/** Fields that act with one format only. */
const BESIDES: Readonly<Record<string, Body>> = {
  stream_options: { stream: true },
  thinking: { thinking: { type: 'enabled' } },
  text: { text: { format: { type: 'text' } } },
  response_format: { response_format: { type: 'text' } },
  timestamp_granularities: { response_format: 'verbose_json' },
  word_timestamps: { output: 'json' },
};

/** A field, or one in an object that may need another beside it. */
const inObjects = (field: string, value: unknown, beside: Body = {}): Body => {
  const [name = '', inner] = field.split('.');
  return inner === undefined
    ? { ...beside, [name]: value }
    : { ...beside, [name]: { ...(beside[name] as Body), [inner]: value } };
};

/** Its fields are those of the address, which may have any others. */
const OF_ADDRESS = 'POST /asr';

describe.each(Object.entries(PARSED))('%s', (route, { kind, needs, base, samples, parse }) => {
  const rules = rulesOf(route as Route);
  const every = rules.flatMap(([, { capability = '' }]) => capability);
  const catalog = new ModelCatalog(
    new ModelList([
      bare('unable', kind, needs),
      bare('able', kind, [...needs, ...every], 'openai-http'),
    ]),
  );
  const send = (model: string, field: string, strict = false) =>
    parse(
      {
        model,
        ...base,
        ...BESIDES[field],
        ...inObjects(field, samples[field], BESIDES[field.split('.')[0]!]),
      },
      catalog,
      {
        strict,
      },
    ).ignored;
  const ofTreatment = (wanted: string) =>
    rules.filter(([, { treatment }]) => treatment === wanted).map(([name]) => name);

  it('has a sample of every field that a model may not honour', () => {
    const judged = ['advice', 'meaning', 'ignored', 'refused'].flatMap(ofTreatment);
    expect(Object.keys(samples).sort()).toEqual(judged.sort());
  });

  const advice = ofTreatment('advice');
  (advice.length > 0 ? it.each(advice) : () => undefined)(
    'reports %s where it has no effect, and refuses it if strict',
    field => {
      expect(send('unable', field)).toEqual([field]);
      expect(() => send('unable', field, true)).toThrow(refusal(field));
      expect(send('able', field, true)).toEqual([]);
    },
  );

  it('reports what never has an effect, and refuses it if strict', () => {
    for (const field of ofTreatment('ignored')) {
      expect(send('able', field)).toEqual([field]);
      expect(() => send('able', field, true)).toThrow(refusal(field));
    }
  });

  it('refuses what cannot be honoured by any model', () => {
    for (const field of ofTreatment('refused'))
      expect(() => send('able', field)).toThrow(refusal(field));
  });

  it('refuses what this model cannot honour', async () => {
    for (const field of ofTreatment('meaning')) await demandRefused(field);
  });

  async function demandRefused(field: string) {
    if (REQUEST_FIELDS[route as Route][field]!.capability === PASSED_ON) {
      const asked = Promise.resolve().then(() =>
        byLocalEngine(route, { ...base, [field]: samples[field] }),
      );
      await expect(asked).rejects.toThrow(refusal(field));
    } else {
      expect(() => send('unable', field)).toThrow(refusal(field));
    }
    expect(send('able', field)).toEqual([]);
  }

  it('reports and refuses nothing where nothing was asked for', () => {
    expect(parse({ model: 'unable', ...base }, catalog, { strict: true }).ignored).toEqual([]);
  });

  it('reports what nothing knows, at the top and in objects, and refuses it if strict', () => {
    if (route === OF_ADDRESS) return;
    const containers = new Set(
      rules.flatMap(([name]) => (isInner(name) ? name.split('.', 1) : [])),
    );
    const unknown = ['zebra', ...[...containers].map(name => `${name}.zebra`)];
    for (const field of unknown) {
      const beside = BESIDES[field.split('.')[0]!] ?? {};
      const asked = { model: 'unable', ...base, ...inObjects(field, 'x', beside) };
      expect(parse(asked, catalog, { strict: false }).ignored).toContain(field);
      expect(() => parse(asked, catalog, { strict: true })).toThrow(refusal(field));
    }
  });

  const engines = rules
    .filter(([name, { byEngine }]) => byEngine === true && !isInner(name))
    .map(([name]) => name);
  it('leaves to the engine only what it reads', () => {
    for (const field of engines)
      expect(() =>
        byLocalEngine(route, { ...base, [field]: WRONG[field] ?? { wrong: 1 } }),
      ).toThrow(
        expect.objectContaining({
          param: expect.stringMatching(new RegExp(`^${field}`)),
        }),
      );
  });
});

function byLocalEngine(route: string, body: Body): unknown {
  const form = route.includes('chat') ? 'chat' : 'completion';
  const info = { grammar: true, contextTokens: 64 } as Parameters<typeof parseGenerationParams>[1];
  const item = {
    form,
    body: Buffer.from(JSON.stringify({ model: 'm', ...body })),
  } as const;
  if (route !== 'POST /tokenize') return parseGenerationParams(item, info);
  const backend = { info } as TextBackend;
  return new ContinuousGenerator({ backend, engine: 'local' })
    .generate({ ...item, form: 'tokenize' } as GenerateItem)
    .next();
}

const CURRENT = defaultSession('whisper-1');

describe('sessions', () => {
  it('are read field by field as their table says', () => {
    for (const path of Object.keys(SESSION_FIELDS)) {
      const read = (field: string) => () =>
        readSession({ type: 'realtime', ...nested(path, field) }, CURRENT);
      demandKnown(Object.keys(SESSION_FIELDS[path as keyof typeof SESSION_FIELDS]), read);
    }
  });

  it('of the older dialect are read as theirs says', () => {
    for (const [path, rules] of Object.entries(OLDER_SESSION_FIELDS)) {
      const read = (field: string) => () => readOlderSession(nested(path, field), CURRENT);
      demandKnown(Object.keys(rules), read);
    }
  });
});

/** All of `fields`, and no other. */
function demandKnown(fields: readonly string[], read: (field: string) => () => unknown) {
  const unknown = expect.objectContaining({ code: 'unknown_parameter' });
  for (const field of fields) expect(read(field)).not.toThrow(unknown);
  expect(read('other')).toThrow(unknown);
}

/** `session.audio.input` and a field become `{audio: {input: {field}}}`. */
const nested = (path: string, field: string): Body =>
  path
    .split('.')
    .slice(1)
    .reduceRight<Body>((value, name) => ({ [name]: value }), { [field]: ['sample'] });

const effectless = (groups: object, treatment: string): [path: string, field: string][] =>
  Object.entries(groups).flatMap(([path, rules]) =>
    Object.entries(rules as Record<string, FieldRule>)
      .filter(([, rule]) => rule.treatment === treatment)
      .map(([field]): [string, string] => [path, field]),
  );

describe.each([
  [
    'GA',
    SESSION_FIELDS,
    (value: Body, ignored: IgnoredFields) =>
      readSession({ type: 'realtime', ...value }, CURRENT, ignored),
  ],
  [
    'older',
    OLDER_SESSION_FIELDS,
    (value: Body, ignored: IgnoredFields) => readOlderSession(value, CURRENT, ignored),
  ],
] as const)('sessions, %s', (_dialect, groups, read) => {
  it.each(effectless(groups, 'ignored'))('report %s.%s, and refuse it if strict', (path, field) => {
    const ignored = new IgnoredFields();
    read(nested(path, field), ignored);
    expect(ignored.paths).toEqual([`${path}.${field}`]);
    expect(() => read(nested(path, field), new IgnoredFields(true))).toThrow(
      refusal(`${path}.${field}`),
    );
  });

  it.each(effectless(groups, 'refused'))('refuse %s.%s', (path, field) => {
    expect(() => read(nested(path, field), new IgnoredFields())).toThrow(
      refusal(`${path}.${field}`),
    );
  });
});

const message = { type: 'message', content: [{ type: 'input_text', text: 'hi' }] };
const NEEDED: Readonly<Record<string, Body>> = {
  'input_audio_buffer.append': { audio: '' },
  'conversation.item.create': { item: message },
};

describe('events', () => {
  it('are read field by field as their table says', () => {
    for (const [name, rules] of Object.entries(EVENT_FIELDS)) {
      const [type, inside] = name.split(': ');
      const read = (field: string) => () => {
        const value = { ...NEEDED[name], [field]: ['sample'] };
        const fields = inside === undefined ? value : { [inside]: value };
        readClientEvent({ type, eventId: undefined, fields });
      };
      demandKnown(Object.keys(rules), read);
    }
  });

  const responses = {
    'response.create: response': EVENT_FIELDS['response.create: response'],
  };
  const send = (field: string, ignored: IgnoredFields): unknown =>
    readClientEvent(
      openEnvelope(JSON.stringify({ type: 'response.create', response: { [field]: ['sample'] } })),
      ignored,
    );

  it.each(effectless(responses, 'ignored'))(
    'report %s.%s, and refuse it if strict',
    (_path, field) => {
      const ignored = new IgnoredFields();
      send(field, ignored);
      expect(ignored.paths).toEqual([`response.${field}`]);
      expect(() => send(field, new IgnoredFields(true))).toThrow(refusal(`response.${field}`));
    },
  );

  it.each(effectless(responses, 'refused'))('refuse %s.%s', (_path, field) => {
    expect(() => send(field, new IgnoredFields())).toThrow(refusal(`response.${field}`));
  });
});

it('the query of a live session has the names that its handshake reads', () => {
  const source = readFileSync('src/gateway/realtime/realtime.gateway.ts', 'utf8');
  const read = [...source.matchAll(/(?:query|queryOf\(request\))\.(?:get|has)\('(\w+)'\)/g)].map(
    ([, name]) => name,
  );
  expect([...new Set(read)].sort()).toEqual(Object.keys(REALTIME_QUERY).sort());
});
