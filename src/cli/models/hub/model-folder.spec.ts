import { describe, expect, it } from '@jest/globals';
import { isIncluded } from './file-listing.js';
import { safeFilePath } from './model-store.js';

describe('safeFilePath', () => {
  it.each(['config.json', 'onnx/encoder model.onnx', '.gitattributes', 'a..b', 'ünï/x'])(
    'takes %s',
    name => {
      expect(safeFilePath(name)).toBe(name);
    },
  );

  it.each([
    '',
    '/x',
    'x/',
    'a//b',
    '..',
    '../x',
    'a/../x',
    './x',
    'a\\b',
    'C:x',
    'a\u0000',
    'a\nb',
    'x.partial',
    'x.partial/y',
    '.switchyard-pull.lock',
    'x'.repeat(1025),
  ])('refuses %j', name => {
    expect(() => safeFilePath(name)).toThrow('may not be written');
  });
});

describe('included', () => {
  it.each([
    ['onnx/encoder.onnx', ['*.onnx'], true],
    ['onnx/encoder.onnx', ['onnx/*'], true],
    ['onnx/int8/encoder.onnx', ['onnx/*'], false],
    ['onnx/int8/encoder.onnx', ['onnx/**'], true],
    ['config.json', ['*.onnx', '*.json'], true],
    ['weights.bin', ['*.onnx'], false],
    ['anything', [], true],
  ])('%s by %j is %s', (path, patterns, expected) => {
    expect(isIncluded(path, patterns)).toBe(expected);
  });
});
