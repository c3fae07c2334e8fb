import { expect, it } from '@jest/globals';
import { type UnknownRow } from 'kysely';
import { cellOf, RecordRows } from './record-rows.js';

class Rows extends RecordRows {
  read = (row: UnknownRow) => this.mapRow(row);
}

it.each([
  [true, 1],
  [false, 0],
  [{ a: [1] }, '{"a":[1]}'],
  [['x'], '["x"]'],
  [null, null],
  [undefined, undefined],
  ['text', 'text'],
  [7, 7],
])('the field %j is stored as %j', (value, cell) => expect(cellOf(value)).toEqual(cell));

it('a row is a record: JSON and flags are read, what is NULL is absent', () => {
  const row = {
    ...{ created_at_ms: 1, cancelling: 1, reached_at_ms: '{"failed":5}', bytes: 0 },
    ...{ batch_id: null, filename: '{"a":1}' },
  };
  expect(new Rows().read(row)).toEqual({
    ...{ createdAtMs: 1, cancelling: true, reachedAtMs: { failed: 5 }, bytes: 0 },
    filename: '{"a":1}',
  });
  expect(new Rows().read({ cancelling: 0 })).toEqual({ cancelling: false });
});
