import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand, type RunCommand } from '../../src/cli/shared/run-command.js';

/**
 * Shell scripts in place of the commands of this machine: those named here exist,
 * and no other.
 */
export function fakeCommands(
  folder: string,
  scripts: Readonly<Record<string, string>>,
): RunCommand {
  const bin = join(folder, 'bin');
  mkdirSync(bin, { recursive: true });
  for (const [name, text] of Object.entries(scripts))
    writeFileSync(join(bin, name), `#!/bin/sh\nPATH=/usr/bin:/bin\n${text}\n`, {
      mode: 0o755,
    });
  return (file, args, options = {}) =>
    runCommand(file, args, { ...options, env: { ...options.env, PATH: bin } });
}

/**
 * Answers as a Python of that version: probes, `venv` (a copy of itself), `pip` (the
 * script `pip`), imports.
 */
export const fakePython = ({ version = '3, 11', venv = true, pip = ':' } = {}): string => `
case "$1 $2" in
  "-m venv") mkdir -p "$3/bin" && cp "$0" "$3/bin/python";;
  "-m pip") ${pip};;
  *) if [ -n "$3" ]; then echo '{"python": "3.11.7", "ctranslate2": "4.8.5"}'
     else echo '{"version": [${version}], "venv": ${venv}}'; fi;;
esac`;
