import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { installCommand } from '@switchyard/engine-api/install-command.js';
import { parse } from 'yaml';
import { programFolders, repair } from '../../scripts/setup/engine-packages.mjs';
import { firstModelSteps } from '../../src/cli/operate/init.js';

const FFMPEG = { name: 'ffmpeg', brew: 'ffmpeg' };
const ESPEAK = { name: 'espeak-ng-data', brew: 'espeak-ng' };
const JQ = { name: 'jq' };

describe('macOS and Windows', () => {
  it('repairs name the package manager of the system, and the same names in scripts and programs', () => {
    expect(repair([FFMPEG, ESPEAK], 'darwin')).toContain('brew install ffmpeg espeak-ng');
    expect(repair([FFMPEG, ESPEAK], 'darwin')).not.toContain('apt-get');
    expect(installCommand(['ffmpeg', 'espeak-ng-data'], 'darwin')).toBe(
      'brew install ffmpeg espeak-ng',
    );
    expect(repair([FFMPEG, JQ], 'darwin')).not.toContain('jq');
    expect(repair([FFMPEG, JQ], 'linux')).toContain('apt-get install -y --no-install-recommends');
  });

  it('PATH is split at the separator of the system', () => {
    expect(programFolders('C:\\Tools;C:\\Program Files\\ffmpeg\\bin', ';')).toEqual([
      'C:\\Tools',
      'C:\\Program Files\\ffmpeg\\bin',
    ]);
    expect(programFolders('/usr/bin:/opt/homebrew/bin', ':')).toEqual([
      '/usr/bin',
      '/opt/homebrew/bin',
    ]);
  });

  it.each(['darwin', 'win32'] as const)(
    'first models on %s need neither Python nor a package of Debian',
    platform => {
      const steps = firstModelSteps(platform, () => false).join('\n');
      expect(steps).not.toContain('models starter');
      const names = [...steps.matchAll(/models add (\S+)/g)].map(([, name]) => name);
      expect(names.length).toBe(3);
      const { catalogue } = parse(readFileSync('config/catalogue.yaml', 'utf8')) as {
        catalogue: { name: string; entry: { engine: string } }[];
      };
      const engines = catalogue
        .filter(({ name }) => names.includes(name))
        .map(({ entry }) => entry.engine);
      expect(engines.sort()).toEqual(['llama-cpp', 'sherpa-onnx', 'sherpa-onnx']);
      for (const engine of engines) expect(steps).toContain(`engines install ${engine}`);
    },
  );

  it('first models on Linux are the starter set or one by npm alone', () => {
    const steps = firstModelSteps('linux', () => true);
    expect(steps[0]).toContain('models starter');
    expect(steps.join('\n')).not.toContain('engines install');
  });
});
