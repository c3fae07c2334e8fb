import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { temporaryFolder } from '../../../test/support/temporary-folder.js';
import { settingsFrom } from '../../platform/config/settings.js';
import { MeasuredMemory } from './measured-memory.js';

const GIB = 2 ** 30;

describe('MeasuredMemory', () => {
  it('remembers what models were found to need, after a restart too', () => {
    const settings = settingsFrom({ 'data.dir': join(temporaryFolder(), 'data') });
    new MeasuredMemory(settings).measured('m', GIB);
    const memory = new MeasuredMemory(settings);
    expect([memory.of('m'), memory.of('other')]).toEqual([GIB, undefined]);
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
