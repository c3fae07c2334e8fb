/** The exact command that brings missing Debian packages; part of every "cannot load" message. */
export function aptInstallCommand(...packages: readonly string[]): string {
  return `apt-get install -y --no-install-recommends ${packages.join(' ')}`;
}
