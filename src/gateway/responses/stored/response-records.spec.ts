import { describe, expect, it } from '@jest/globals';
import { settingsFrom } from '../../../platform/config/settings.js';
import { type ResponseRecordStore } from '../../../platform/database/response-store.js';
import { ResponseRecords } from './response-records.js';

const LENGTH = 2;
const BYTES = 1024;
const number = (at: number) => String(at).repeat(48);
const item = (at: number) => ({ id: `msg_${number(at)}0000`, text: 'é' });

/** Responses 1 to 9, each as large as said, in a tenant that stores so many bytes. */
function records({ each = BYTES / LENGTH, tenant = BYTES, head = {} } = {}) {
  const find = ({ id }: { readonly id: string }) => {
    const response = JSON.stringify({ output: [item(Number(id.at(-1)))] });
    const input = '[]'.padEnd(each - Buffer.byteLength(response));
    return Promise.resolve({ input, response });
  };
  const store = {
    find,
    bytesOf: () => Promise.resolve(tenant),
    head: () => Promise.resolve({ status: 'completed', chainLength: 1, chainBytes: 1, ...head }),
    chain: async ({ id }: { readonly id: string }) => [await find({ id })],
  };
  const settings = settingsFrom({
    'responses.conversation_length': LENGTH,
    'responses.conversation_bytes': BYTES,
    'responses.tenant_quota_bytes': BYTES,
  });
  return new ResponseRecords(store as unknown as ResponseRecordStore, settings);
}

describe('bounds of stored responses', () => {
  it.each([
    ['responses', {}, LENGTH + 1],
    ['bytes', { each: BYTES / LENGTH + 1 }, LENGTH],
  ])(
    'item references may name as many %s as a conversation has, and no more',
    async (_, sizes, count) => {
      const items = (most: number) => Array.from({ length: most }, (__, at) => item(at + 1));
      const ids = (most: number) => new Set(items(most).map(({ id }) => id));
      expect(await records().items('t', ids(LENGTH))).toEqual(items(LENGTH));
      await expect(records(sizes).items('t', ids(count))).rejects.toMatchObject({
        code: 'invalid_value',
        param: 'input',
      });
    },
  );

  it.each([
    ['responses', { chainLength: LENGTH }],
    ['bytes', { chainBytes: BYTES }],
  ])('a conversation is continued below its maximum of %s', async (what, full) => {
    const id = `resp_${number(1)}`;
    const [[name, most]] = Object.entries(full) as [[string, number]];
    const head = { chainLength: 1, [name]: most - 1 };
    expect(await records({ head }).conversation('t', id)).toEqual([item(1)]);
    const refused = records({ head: full }).conversation('t', id);
    await expect(refused).rejects.toThrow(new RegExp(`maximum (of|is) ${most}|${what}`));
  });

  it('something is stored while the tenant is below its quota', async () => {
    await records({ tenant: BYTES - 1 }).demandRoom('t');
    await expect(records().demandRoom('t')).rejects.toMatchObject({
      code: 'storage_quota_exceeded',
    });
  });
});

describe('input items', () => {
  const query = { limit: 2, order: 'asc' as const };
  const listed = [1, 2, 3].map(item);
  const store = { find: () => Promise.resolve({ input: JSON.stringify(listed) }) };
  const page = (fields: object) =>
    new ResponseRecords(store as unknown as ResponseRecordStore, settingsFrom({})).inputItems(
      't',
      'resp_1',
      { ...query, ...fields },
    );

  it.each([
    [{}, [1, 2], true],
    [{ limit: 3 }, [1, 2, 3], false],
    [{ order: 'desc' }, [3, 2], true],
    [{ after: item(1).id }, [2, 3], false],
    [{ after: item(3).id }, [], false],
  ])('are listed by %j', async (fields, places, hasMore) => {
    expect(await page(fields)).toEqual({ data: places.map(item), hasMore });
  });

  it('after none of the list are refused', async () => {
    await expect(page({ after: 'msg_0' })).rejects.toMatchObject({ param: 'after' });
  });
});
