import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ERROR_REGISTRY } from '../../../src/contracts/errors/error-registry.js';
import { type ErrorCode } from '../../../src/core/errors/domain-error.js';
import { syntheticLlm } from '../generation/generation-rig.js';
import { GatewayRig, builtLaunch } from './gateway-rig.js';

interface Described {
  readonly content?: Readonly<
    Record<
      string,
      {
        readonly schema?: { readonly $ref?: string; readonly required?: readonly string[] };
        readonly examples?: Readonly<Record<string, { readonly value: object }>>;
      }
    >
  >;
}
type Paths = Readonly<
  Record<string, Readonly<Record<string, { readonly responses: Record<string, Described> }>>>
>;

let rig: GatewayRig;
let paths: Paths;
beforeAll(async () => {
  rig = await GatewayRig.start({
    models: [syntheticLlm({}, { id: 'org/name' })],
    launch: builtLaunch,
  });
  ({ paths } = (await rig.json('/docs-json')) as { paths: Paths });
}, 60_000);
afterAll(() => rig.close());

const errorsOf = (path: string, method = 'post') =>
  Object.entries(paths[path]![method]!.responses).filter(([status]) => Number(status) >= 400);

describe('errors in the OpenAPI document', () => {
  it.each([
    ['/api/chat', ['error']],
    ['/api/show', ['error']],
    ['/v1/messages', ['type', 'error', 'request_id']],
    ['/v1/messages/count_tokens', ['type', 'error', 'request_id']],
  ])('of %s have its envelope, in the schema and in each example', (path, names) => {
    const errors = errorsOf(path);
    expect(errors.length).toBeGreaterThan(4);
    for (const [, { content }] of errors) {
      const { schema, examples } = content!['application/json']!;
      expect(schema!.required).toEqual(names);
      for (const { value } of Object.values(examples ?? {}))
        expect(Object.keys(value)).toEqual(names);
    }
  });

  it('of other routes have that of OpenAI', () => {
    for (const [, { content }] of errorsOf('/v1/chat/completions'))
      expect(content!['application/json']!.schema!.$ref).toMatch(/ErrorEnvelope$/);
  });

  it.each(['/v1/realtime/client_secrets', '/v1/realtime/transcription_sessions'])(
    'of %s include the model that does not exist',
    path => {
      const code: ErrorCode = 'model_not_found';
      expect(errorsOf(path).map(([status]) => Number(status))).toContain(
        ERROR_REGISTRY[code].status,
      );
    },
  );
});

describe('small things of others', () => {
  it('finds a model whose name has a slash', async () => {
    expect(await rig.json('/v1/models/org/name')).toMatchObject({ id: 'org/name' });
    expect(await rig.json('/v1/models/org/name/?x=1')).toMatchObject({ id: 'org/name' });
  });

  it('names the path that was meant', async () => {
    expect(await rig.json('/v1//models')).toMatchObject({
      error: { message: expect.stringContaining('Did you mean /v1/models?') },
    });
  });

  it('lives on at SIGHUP without a keys file', () => {
    expect(process.listenerCount('SIGHUP')).toBeGreaterThan(0);
  });
});
