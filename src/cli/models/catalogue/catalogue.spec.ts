import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { temporaryFolder } from '../../../../test/support/temporary-folder.js';
import { Catalogue } from './catalogue.js';

const DIGEST = '0'.repeat(64);
const catalogueOf = (files: string, member: string) => `catalogue:
  - name: a
    summary: x
    entry: { kind: stt, engine: synthetic, capabilities: [transcribe] }
    sources:
      model:
        from: hf:a/b@${'0'.repeat(40)}
        files: ${files}
        package: [{ name: p, version: 1.0.0, bytes: 1, sha256: '${DIGEST}', members: { m: ${member} } }]
`;

describe('the catalogue', () => {
  let folder: string;
  beforeEach(() => {
    folder = temporaryFolder();
  });

  const load = (text: string) => {
    writeFileSync(join(folder, 'own.yaml'), text);
    return Catalogue.load(join(folder, 'own.yaml'));
  };

  it('that comes with Switchyard is right, and a commit or checksums pin every file', () => {
    const { entries } = Catalogue.load('');
    expect(entries.length).toBeGreaterThanOrEqual(20);
    expect(new Set(entries.map(({ name }) => name)).size).toBe(entries.length);
    expect(entries.filter(({ unverified }) => unverified)).toEqual([]);
  });

  it('says of each speaker with several names that it is one voice', () => {
    const { entries } = Catalogue.load('');
    const isOneVoice = (voices: object) => new Set(Object.values(voices)).size === 1;
    const alike = entries.filter(({ entry: { voices = {} } }) => isOneVoice(voices as object));
    expect(alike.length).toBeGreaterThanOrEqual(3);
    for (const { summary } of alike) expect(summary).toContain('one voice under every name');
  });

  it('takes entries of the user, which replace its own', () => {
    const own = `catalogue:
  - name: vllm
    summary: ours
    entry: { kind: llm, engine: openai-http, capabilities: [chat], options: { baseUrl: 'http://x/v1' } }
`;
    const [ours, before] = [load(own), Catalogue.load('')];
    expect(ours.find('vllm').summary).toBe('ours');
    expect(ours.entries).toHaveLength(before.entries.length);
  });

  it.each([
    ['catalogue: 5', 'must hold `catalogue:`'],
    [
      'catalogue:\n  - summary: x\n    entry: {}',
      /own\.yaml:2:5 {2}catalogue\[0\]\.name: is missing/,
    ],
    ['catalogue:\n  - { name: a, summary: x, entry: {}, licnce: MIT }', 'did you mean licence?'],
    [
      'catalogue:\n  - { name: a, summary: x, entry: { kind: sst, engine: synthetic, capabilities: [] } }',
      'models[0].kind must be one of stt',
    ],
    [
      'catalogue:\n  - name: a\n    summary: x\n    sources: { model: { from: "hf:a/b", files: { x: {} } } }\n' +
        '    entry: { kind: stt, engine: synthetic, capabilities: [transcribe] }',
      'unverified must be true',
    ],
    [catalogueOf('{ a: { bytes: 1 } }', 'a'), 'each needs bytes and sha256'],
    [
      catalogueOf(`{ a: { bytes: 1, sha256: '${DIGEST}' } }`, 'b'),
      'package must hold each of `files` and no other',
    ],
    [
      catalogueOf(`{ a: { bytes: 1, sha256: '${DIGEST}' } }`, 'a').replace('1.0.0', 'latest'),
      'must be sources by name, each { from, files, package }',
    ],
  ])('refuses %j with the place', (text, message) => {
    expect(() => load(text)).toThrow(message);
  });
});
