import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { temporaryFolder } from '../../../../test/support/temporary-folder.js';
import { editModels, ModelsDocument } from './models-document.js';

const entry = (id: string) =>
  `  - { id: ${id}, kind: stt, engine: synthetic, capabilities: [transcribe] }\n`;
const MODEL = { id: 'new', kind: 'stt', engine: 'synthetic', capabilities: ['transcribe'] };

describe('editModels', () => {
  let folder: string;
  let path: string;
  beforeEach(() => {
    folder = temporaryFolder();
    path = join(folder, 'models.yaml');
    writeFileSync(path, `# head\nmodels:\n${entry('one')}`);
  });

  const file = () => ({ path, askEngine: () => [] });
  const text = () => readFileSync(path, 'utf8');

  it('keeps what was saved by hand while it worked', async () => {
    let saves = 0;
    await editModels(file(), models => {
      if (saves++ === 0) writeFileSync(path, `# head\nmodels:\n${entry('one')}${entry('hand')}`);
      models.put(MODEL, 'added');
    });
    expect(text()).toMatch(/# head[^]*id: one[^]*id: hand[^]*# added[^]*id: new/);
    expect([saves, readdirSync(folder)]).toEqual([2, ['models.yaml']]);
  });

  it('gives up when the file changes each time, and leaves what the hand wrote', async () => {
    let saves = 0;
    const edit = editModels(file(), models => {
      writeFileSync(path, `models:\n${entry(`hand${saves++}`)}`);
      models.put(MODEL, 'added');
    });
    await expect(edit).rejects.toThrow('changed by another program; nothing was written');
    expect([text(), readdirSync(folder)]).toEqual([`models:\n${entry('hand4')}`, ['models.yaml']]);
  });

  it('writes nothing into a file with errors, nor what would be one', async () => {
    const wrong = editModels(file(), models =>
      models.put({ ...MODEL, kind: 'sst' } as never, 'added'),
    );
    await expect(wrong).rejects.toThrow(/models\[1\]\.kind = "sst"/);
    writeFileSync(path, 'models: [');
    await expect(editModels(file(), models => models.put(MODEL, 'added'))).rejects.toThrow(
      'models.yaml:1',
    );
    expect(text()).toBe('models: [');
  });
});

it('writes the first entry over several lines, below `models: []` as init wrote it', () => {
  const models = ModelsDocument.parse('# Models\nmodels: []\n', 'models.yaml', () => []);
  models.put({ ...MODEL, id: 'a' }, 'added');
  const lines = [
    '# Models',
    'models:',
    '  # added',
    '  - id: a',
    '    kind: stt',
    '    engine: synthetic',
  ];
  expect(models.toString()).toBe([...lines, '    capabilities: [ transcribe ]', ''].join('\n'));
});
