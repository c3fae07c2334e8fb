import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type ResponseEvent,
  type ResponseObject,
} from '../../../src/contracts/openai/responses.js';
import { ResponseWriter } from '../../../src/gateway/responses/writer/response-writer.js';
import { ResponseRecordStore } from '../../../src/platform/database/response-store.js';
import { abandonResponse } from '../../support/abandoned-response.js';
import { countFrom, numbersOf, ResponseClient, taken } from '../../support/response-client.js';
import { GatewayRig } from '../api/gateway-rig.js';
import { llamaLlm } from '../generation/generation-rig.js';

const TENANT = 'default';
const properties = { celsius: { type: 'boolean' }, place: { enum: ['here', 'there'] } };
const parameters = {
  type: 'object',
  properties,
  required: ['celsius', 'place'],
  additionalProperties: false,
};
const tools = [{ type: 'function', name: 'weather', parameters }];
const schema = {
  type: 'object',
  properties: { all: { type: 'array', items: parameters, minItems: 3, maxItems: 3 } },
};
const format = {
  type: 'json_schema',
  name: 'x',
  schema: { ...schema, required: ['all'], additionalProperties: false },
};

let rig: GatewayRig;
let client: ResponseClient;
beforeAll(async () => {
  const models = [await llamaLlm(['chat', 'tools', 'logprobs'], {}, { seed: 3 })];
  rig = await GatewayRig.start({
    models,
    launch: 'hosted',
    settings: { 'requests.lease_ms': 1000 },
  });
  client = new ResponseClient(rig.url);
  await rig.allReady();
}, 150_000);
afterAll(() => rig.close());

/**
 * Ids and instants are another response's; a call that was made again has
 * another `call_id`, too.
 */
const comparable = ({ status, output, usage, incomplete_details }: ResponseObject) => ({
  ...{ status, incomplete_details, tokens: [usage?.input_tokens, usage?.output_tokens] },
  output: output.map(item => ({ ...item, id: '', call_id: '' })),
});

async function storedEvents(id: string): Promise<readonly string[]> {
  const records = rig.app.get(ResponseRecordStore, { strict: false });
  return (await records.events({ tenant: TENANT, id }, -1, 10_000)).flatMap(({ events }) => events);
}

describe('a background response of llama.cpp whose gateway died', () => {
  it.each<[string, object]>([
    ['in a text', { max_output_tokens: 60 }],
    ['in JSON by a schema', { text: { format } }],
    [
      'in or between calls of functions',
      { tools, tool_choice: 'required', max_output_tokens: 400 },
    ],
  ])(
    '%s is continued from its tokens to what it would have been',
    async (_, fields) => {
      const body = {
        model: 'llama',
        input: 'question 2',
        temperature: 0,
        background: true,
        ...fields,
      };
      const { id } = await client.created(body.input, body);
      const told = await taken(client.follow(id));
      const whole = await client.found(id);
      const events = await storedEvents(id);
      expect(told.some(event => 'token_ids' in event)).toBe(false);
      const cuts = events.flatMap((json, at) => (json.includes('"token_ids"') ? [at + 1] : []));
      expect(cuts.length).toBeGreaterThan(1);
      for (const cut of new Set([cuts[0]!, cuts[cuts.length >> 1]!, cuts.at(-1)!])) {
        const number = randomBytes(24).toString('hex');
        const renamed = events
          .slice(0, cut)
          .map(json => json.replaceAll(id.slice('resp_'.length), number));
        const { response } = ResponseWriter.resumed(
          renamed.map(json => JSON.parse(json) as ResponseEvent),
        );
        const left = {
          tenant: TENANT,
          id: `resp_${number}`,
          body,
          response,
          events: renamed,
          attempts: 1,
        };
        await abandonResponse(rig.app, left);
        const all = await taken(client.follow(left.id));
        expect(numbersOf(all)).toEqual(countFrom(0, told.length));
        expect(comparable(await client.found(left.id))).toEqual(comparable(whole));
      }
    },
    60_000,
  );
});
