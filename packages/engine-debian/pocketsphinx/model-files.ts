import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { installCommand } from '@switchyard/engine-api/install-command.js';

/**
 * Where the three parts of a PocketSphinx model lie. Throws with what to install when a
 * part is missing.
 */
export function findModelFiles(modelDir: string) {
  const files = {
    acousticModel: join(modelDir, 'en-us'),
    languageModel: join(modelDir, 'en-us.lm.bin'),
    dictionary: join(modelDir, 'cmudict-en-us.dict'),
  };
  const missing = Object.values(files).filter(path => !existsSync(path));
  if (missing.length > 0) {
    throw new Error(
      `PocketSphinx model files are missing: ${missing.join(', ')}. Install them with ` +
        `\`${installCommand(['pocketsphinx-en-us'])}\`, or point options.modelDir at a folder that has them.`,
    );
  }
  return files;
}
