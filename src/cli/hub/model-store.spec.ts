import { describe, expect, it } from '@jest/globals';
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
