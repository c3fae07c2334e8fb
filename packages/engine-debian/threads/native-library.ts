import { createRequire } from 'node:module';
import { errorMessage } from '@switchyard/engine-api/error-message.js';
import { installCommand } from '@switchyard/engine-api/install-command.js';
import type Koffi from 'koffi';
import { type LibraryHandle } from 'koffi';

/**
 * Handles are kept for the life of the thread. koffi closes a library when its handle is
 * collected, and with it goes memory that native code still points at: a voice, a
 * lexicon, the text of a function.
 */
const kept: LibraryHandle[] = [];

/**
 * Opens a shared library by its soname; a failure names the Debian packages
 * that bring it.
 */
export function openNativeLibrary(
  soname: string,
  debianPackages: readonly string[],
): LibraryHandle {
  try {
    // The command line asks only when it examines this machine.
    const koffi = createRequire(import.meta.url)('koffi') as typeof Koffi;
    const library = koffi.load(soname);
    kept.push(library);
    return library;
  } catch (cause) {
    const reason = errorMessage(cause);
    throw new Error(
      `Cannot load ${soname} (${reason}). Install it with \`${installCommand(debianPackages)}\`.`,
      {
        cause,
      },
    );
  }
}
