import { beforeEach, describe, expect, it } from '@jest/globals';
import { type ResponseItem } from '../../../contracts/openai/response-items.js';
import { MOST_ITEMS } from '../../../contracts/openai/response.dto.js';
import { type ResponseObject } from '../../../contracts/openai/responses.js';
import { settingsFrom } from '../../../platform/config/settings.js';
import { type ModelCatalog } from '../../models/model-catalog.js';
import { Conversations } from './conversations.js';
import { type ResponseRecords } from './response-records.js';

const item = (id: string) => ({ type: 'message', id, content: [] }) as unknown as ResponseItem;
const reference = (id: string) => ({ type: 'item_reference', id });

describe('what a request for a response continues', () => {
  let log: string[];
  let earlier: ResponseItem[];
  let fails: boolean;

  beforeEach(() => void ([log, earlier, fails] = [[], [], false]));

  function conversations(stores = true): Conversations {
    const records = {
      demandRoom: () => Promise.resolve(log.push('room')),
      conversation: (_: string, id: string) => {
        log.push(`conversation ${id}`);
        return Promise.resolve(earlier);
      },
      items: (_: string, ids: ReadonlySet<string>) => {
        log.push(`items ${[...ids].join(' ')}`);
        return Promise.resolve([...ids].filter(id => id.startsWith('kept')).map(item));
      },
      create: (_: string, { response }: { response: object }) => {
        log.push(`create ${JSON.stringify(response)}`);
        return fails ? Promise.reject(new Error('full')) : Promise.resolve();
      },
    };
    return new Conversations(
      {} as ModelCatalog,
      records as unknown as ResponseRecords,
      settingsFrom({ 'responses.store': stores }),
    );
  }
  const of = (fields: object, stores?: boolean) =>
    conversations(stores).of('t', {
      previous_response_id: null,
      instructions: null,
      store: false,
      input: [],
      ...fields,
    });

  it('is what was said before, then its input', async () => {
    earlier = [item('a')];
    const input = [item('b')];
    const continued = await of({ previous_response_id: 'resp_1', input, store: true });
    expect(continued).toEqual({ input, all: [...earlier, ...input] });
    expect(log).toEqual(['room', 'conversation resp_1']);
    log = [];
    expect(await of({ input })).toEqual({ input, all: input });
    expect(log).toEqual([]);
  });

  it('may be its instructions alone, and must be something', async () => {
    expect(await of({ instructions: 'Be kind.' })).toEqual({ input: [], all: [] });
    await expect(of({})).rejects.toMatchObject({
      code: 'missing_required_parameter',
      param: 'input',
    });
  });

  it('has so many items at most', async () => {
    earlier = [item('a')];
    const asked = (count: number) =>
      of({
        previous_response_id: 'r',
        input: Array.from({ length: count }, (_, at) => item(String(at))),
      });
    expect((await asked(MOST_ITEMS - 1)).all).toHaveLength(MOST_ITEMS);
    await expect(asked(MOST_ITEMS)).rejects.toThrow(`at most ${MOST_ITEMS} items`);
  });

  it('may name items of the conversation, and stored ones', async () => {
    earlier = [item('a')];
    const asked = (...ids: string[]) =>
      of({ previous_response_id: 'r', input: [item('n'), ...ids.map(reference)] });
    expect((await asked('a', 'kept')).input).toEqual([item('n'), item('a'), item('kept')]);
    expect(log.slice(1)).toEqual(['items kept']);
    log = [];
    expect((await asked('a')).input).toEqual([item('n'), item('a')]);
    expect(log).toEqual(['conversation r']);
    await expect(asked('a', 'gone')).rejects.toMatchObject({ param: 'input[2].id' });
    await expect(asked('a', 'a')).rejects.toThrow('must reference each item at most once');
  });

  it('names no stored items where none are stored', async () => {
    const input = [reference('kept')];
    await expect(of({ input }, false)).rejects.toMatchObject({ param: 'input[0].id' });
    expect(log).toEqual([]);
  });

  it.each([
    [false, false, {}, 0],
    [true, false, { store: true }, 1],
    [true, true, { store: false }, 1],
  ])('is stored if that is wanted (%p), or says that it is not (%p)', async (...row) => {
    const [store, isFull, fields, created] = row;
    fails = isFull;
    const finish = conversations().finisher('t', { store }, { input: [], all: [] });
    expect(await finish({ id: 'resp_1' } as ResponseObject)).toEqual(fields);
    expect(log).toHaveLength(created);
  });
});
