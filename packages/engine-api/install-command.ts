/** Homebrew's names of packages by Debian's, where they differ. */
const HOMEBREW: Readonly<Record<string, string>> = {
  'espeak-ng-data': 'espeak-ng',
  'ninja-build': 'ninja',
  'g++': 'gcc',
};

/** Homebrew's name of a Debian package. Its Python includes venv and pip. */
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
