import { describe, expect, it } from '@jest/globals';
import { type KvBatch, KvBatches, type RowTensor } from './kv-batches.js';

/** One head, one number per place: row r holds r·10, r·10 + 1, ... */
const tensor = (rows: readonly number[], places: number): RowTensor => ({
  type: 'float32',
  dims: [rows.length, 1, places, 1],
  data: Float32Array.from(rows.flatMap(row => Array.from({ length: places }, (_, k) => row * 10 + k))),
});
const cache = (rows: readonly number[], places: number) =>
  new Map([
    ['past.0.decoder.key', tensor(rows, places)],
    ['past.0.encoder.key', tensor(rows, 2)],
  ]);
const shown = ({ slots, tensors }: KvBatch<string>) => ({
  slots,
  decoder: [...(tensors.get('past.0.decoder.key')!.data as Float32Array)],
  encoder: [...(tensors.get('past.0.encoder.key')!.data as Float32Array)],
});

describe('KvBatches', () => {
  it('hands a batch on as it is while nobody joins or leaves', () => {
    const batches = new KvBatches<string>();
    const whole = cache([1, 2], 3);
    batches.add(['a', 'b'], whole, [3, 3]);
    expect(batches.batchOf(['a', 'b']).tensors).toBe(whole);
  });

  it('cuts the padding off rows with shorter prompts, each length in a batch of its own', () => {
    const batches = new KvBatches<string>();
    batches.add(['a', 'b', 'c'], cache([1, 2, 3], 3), [3, 2, 3]);
    expect(shown(batches.batchOf(['b']))).toEqual({ slots: ['b'], decoder: [20, 21], encoder: [20, 21] });
    expect(shown(batches.batchOf(['a', 'c']))).toMatchObject({ slots: ['a', 'c'], decoder: [10, 11, 12, 30, 31, 32] });
  });

  it('keeps the slot of one that left until half of the batch is gone', () => {
    const batches = new KvBatches<string>();
    batches.add(['a', 'b', 'c', 'd'], cache([1, 2, 3, 4], 1), [1, 1, 1, 1]);
    batches.forget('b');
    expect(batches.batchOf(['a', 'c', 'd']).slots).toEqual(['a', undefined, 'c', 'd']);
    batches.forget('d');
    expect(shown(batches.batchOf(['a', 'c']))).toMatchObject({ slots: ['a', 'c'], decoder: [10, 30] });
  });

  it('merges rows of two batches that have become equally long', () => {
    const batches = new KvBatches<string>();
    batches.add(['a'], cache([1], 2), [2]);
    batches.add(['b'], cache([2], 1), [1]);
    const behind = batches.batchOf(['b']);
    batches.advance(behind, new Map([['past.0.decoder.key', tensor([5], 2)]]));
    expect(shown(batches.batchOf(['a', 'b']))).toEqual({
      slots: ['a', 'b'],
      decoder: [10, 11, 50, 51],
      encoder: [10, 11, 20, 21],
    });
  });
});
