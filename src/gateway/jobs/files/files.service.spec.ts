import { describe, expect, it } from '@jest/globals';
import { byteRange, containsTag } from './files.service.js';

describe('byteRange over 100 bytes', () => {
  it.each([
    ['bytes=0-0', { from: 0, to: 0 }],
    ['bytes=90-200', { from: 90, to: 99 }],
    ['bytes=99-', { from: 99, to: 99 }],
    ['bytes=-1', { from: 99, to: 99 }],
    ['bytes=-1000', { from: 0, to: 99 }],
    ['Bytes= 1-2 ', { from: 1, to: 2 }],
    ['bytes=100-', 'unsatisfiable'],
    ['bytes=100-200', 'unsatisfiable'],
    ['bytes=-0', 'unsatisfiable'],
    ['bytes=2-1', undefined],
    ['bytes=-', undefined],
    ['bytes=0-1,3-4', undefined],
    ['bytes=0x1-2', undefined],
    ['items=0-1', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('%s is %j', (header, range) => {
    expect(byteRange(header, 100)).toEqual(range);
  });

  it('no range of an empty file can be satisfied', () => {
    expect([byteRange('bytes=0-', 0), byteRange('bytes=-5', 0)]).toEqual([
      'unsatisfiable',
      'unsatisfiable',
    ]);
  });
});

describe('containsTag', () => {
  it.each([
    ['"a"', true],
    ['W/"a"', true],
    ['"b", "a"', true],
    ['*', true],
    ['"b"', false],
    ['a', false],
    [undefined, false],
  ])('%s names "a": %s', (header, named) => {
    expect(containsTag(header, '"a"')).toBe(named);
  });
});
