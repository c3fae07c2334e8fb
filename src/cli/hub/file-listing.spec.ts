import { describe, expect, it } from '@jest/globals';
import { isIncluded } from './file-listing.js';

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
