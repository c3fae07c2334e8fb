import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { temporaryFolder } from '../../../test/support/temporary-folder.js';
import { settingsFrom } from '../../platform/config/settings.js';
import { MeasuredMemory } from './measured-memory.js';

const GIB = 2 ** 30;

describe('memory that models were found to use', () => {
  it('is the most of all loads, also of those before a restart: a fresh process uses less', () => {
    const settings = settingsFrom({ 'data.dir': temporaryFolder() });
    const memory = new MeasuredMemory(settings);
    expect(memory.of('a')).toBeUndefined();
    for (const bytes of [300, 340, 310]) memory.measured('a', bytes);
    memory.measured('b', 7);
    expect([memory.of('a'), memory.of('b')]).toEqual([340, 7]);
    const later = new MeasuredMemory(settings);
    later.measured('a', 320);
    expect([later.of('a'), later.of('b')]).toEqual([340, 7]);
  });

  it.each([
    ['', undefined],
    ['null', undefined],
    ['{"m":', undefined],
    ['{"m":"2 GiB","k":-1}', undefined],
    [`{"k":{},"m":${GIB}}`, GIB],
  ])('takes of %j only what is a number of bytes', (text, bytes) => {
    const dir = temporaryFolder();
    writeFileSync(join(dir, 'model-memory.json'), text);
    const memory = new MeasuredMemory(settingsFrom({ 'data.dir': dir }));
    expect([memory.of('m'), memory.of('k')]).toEqual([bytes, undefined]);
  });
});
