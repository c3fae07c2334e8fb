/** By Debian's names, where Homebrew's differ. Null: Homebrew has nothing that an engine loads. */
const HOMEBREW: Readonly<Record<string, string | null>> = {
  libpocketsphinx3: null,
  'pocketsphinx-en-us': null,
  libflite1: null,
  'espeak-ng-data': 'espeak-ng',
  'ninja-build': 'ninja',
  'g++': 'gcc',
};

/** Venv and pip are in Homebrew's Python. */
function homebrewName(name: string): string | null {
  if (name.startsWith('python3')) return 'python';
  const other = HOMEBREW[name];
  return other === undefined ? name : other;
}

/** What a container is started with where a library exists for Linux only. */
const CONTAINER = 'docker compose -f docker/compose.yaml up --build';

/**
 * The command that brings what is missing, for "cannot load" messages.
 * @param packages as Debian names them
 * @returns apt-get's, Homebrew's on macOS, or the container's where Homebrew lacks one
 */
export function installCommand(
  packages: readonly string[],
  platform: NodeJS.Platform = process.platform,
): string {
  if (platform !== 'darwin')
    return `apt-get install -y --no-install-recommends ${packages.join(' ')}`;
  const names = [...new Set(packages.map(homebrewName))];
  return names.includes(null) ? CONTAINER : `brew install ${names.join(' ')}`;
}
