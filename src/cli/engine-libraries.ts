import { aptInstallCommand } from '../worker/engines/install-hint.js';
import { openNativeLibrary } from '../worker/engines/threads/native-library.js';

interface EngineLibrary {
  /** @returns what was loaded. @throws Error with what is missing */
  readonly load: () => string;
  readonly fix: string;
}

const library = (name: string, ...packages: string[]): EngineLibrary => ({
  load: () => {
    openNativeLibrary(name, packages);
    return name;
  },
  fix: aptInstallCommand(...packages),
});

/** Engines that need a library of the system, by their name in models.yaml. */
export const EMBEDDED_LIBRARIES: Readonly<Record<string, EngineLibrary>> = {
  pocketsphinx: library('libpocketsphinx.so.3', 'libpocketsphinx3', 'pocketsphinx-en-us'),
  flite: library('libflite.so.1', 'libflite1'),
};
