import { describe, expect, it } from '@jest/globals';
import { parseSource, sourceText, suggestedName } from './model-source.js';

describe('parseSource', () => {
  it.each([
    ['hf:acme/tiny', 'hf:acme/tiny@main', 'tiny'],
    ['hf:acme/tiny@v1.2', 'hf:acme/tiny@v1.2', 'tiny'],
    ['hf:acme/tiny@refs/pr/7', 'hf:acme/tiny@refs/pr/7', 'tiny'],
    ['hf:gpt2', 'hf:gpt2@main', 'gpt2'],
    ['package:tiny-voice@1.0.0', 'package:tiny-voice@1.0.0', 'tiny-voice'],
    ['https://files.example/asr/vad.onnx', 'https://files.example/asr/vad.onnx', 'vad'],
    [
      'https://files.example/asr/switchyard-model.json',
      'https://files.example/asr/switchyard-model.json',
      'asr',
    ],
    ['http://127.0.0.1:8080/vad.onnx?x=1', 'http://127.0.0.1:8080/vad.onnx?x=1', 'vad'],
    ['https://files.example/a%2F..%2Fvad.onnx', 'https://files.example/a%2F..%2Fvad.onnx', 'vad'],
  ])('takes %s, and names its folder', (text, canonical, name) => {
    const source = parseSource(text);
    expect(sourceText(source)).toBe(canonical);
    expect(parseSource(canonical)).toEqual(source);
    expect(suggestedName(source)).toBe(name);
  });

  it.each([
    ['acme/tiny', 'no source of model files'],
    ['hf:', 'no repository'],
    ['hf:a/b/c', 'no repository'],
    ['hf:../b', 'no repository'],
    ['hf:acme/tiny@', 'no repository'],
    ['hf:acme/tiny@a@b', 'no repository'],
    ['hf:acme/tiny@../main', 'no repository'],
    ['http://files.example/vad.onnx', 'not safe'],
    ['file:///etc/passwd', 'not safe'],
    ['https://me:secret@files.example/vad.onnx', 'password'],
  ])('refuses %s and quotes no password', (text, why) => {
    expect(() => parseSource(text)).toThrow(why);
    expect(() => parseSource(text)).not.toThrow('secret');
  });
});
