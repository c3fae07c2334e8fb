/** By Debian's names, where Homebrew's differ. */
const HOMEBREW: Readonly<Record<string, string>> = {
  'espeak-ng-data': 'espeak-ng',
  'ninja-build': 'ninja',
  'g++': 'gcc',
};

/** Venv and pip are in Homebrew's Python. */
const homebrewName = (name: string): string =>
  name.startsWith('python3') ? 'python' : (HOMEBREW[name] ?? name);

/**
 * The command that brings what is missing, for "cannot load" messages.
 * @param packages as Debian names them
 * @returns apt-get's, or Homebrew's on macOS
 */
export function installCommand(
  packages: readonly string[],
  platform: NodeJS.Platform = process.platform,
): string {
  if (platform !== 'darwin')
    return `apt-get install -y --no-install-recommends ${packages.join(' ')}`;
  return `brew install ${[...new Set(packages.map(homebrewName))].join(' ')}`;
}
